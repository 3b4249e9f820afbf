"""``gmd referee``: play a match between two bots by the rules of CodinGame."""

from __future__ import annotations

import logging
import secrets
import shlex
import ssl
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import click
import trio

from gm_client.blocking import BadReply, ConnectionLost, GmError
from gm_client.trio_client import Client

from ..address import server_options
from ..bot import BotFailed
from ..codingame import MAX_MOVES
from ..memory import memory_for
from ..process import BotProcess
from ..report import log_to_standard_error
from ..stopping import Stopped, unless_stopped
from ..tls import read_tls
from . import report
from .contestant import Contestant, Limits
from .game import NoVerdict, Rules
from .match import play_match
from .record import BotRecord, MatchRecord
from .start import start_position

#: Exit statuses. In a shell ``&&`` tests whether both bots kept to the rules; the winner is in the record.
PLAYED, FAILED, NO_VERDICT = 0, 1, 3

#: Seeds are Java's ``long``, as on CodinGame.
SEEDS = click.IntRange(-(2**63), 2**63 - 1)
MILLISECONDS = click.FloatRange(0, 3_600_000, min_open=True)


class NotJudged(click.ClickException):
    """There is no verdict, for a reason that no bot is to blame for."""

    exit_code = NO_VERDICT


@dataclass(frozen=True)
class Where:
    """The daemon that plays the games: an existing one, or one inside the referee.

    :ivar server: the address of the existing one, or several.
    :ivar data: the data directory of the one inside.
    """

    server: str | None
    tls: bool | ssl.SSLContext
    data: str
    port: int

    @asynccontextmanager
    async def client(self) -> AsyncIterator[tuple[Client, str]]:
        """Connect; yield the connection and the address at which spectators can watch."""
        if self.server is not None:
            async with Client(self.server, tls=self.tls, client="gmd-referee") as client:
                await client.open()
                yield client, self.server
            return
        from gmd import Config, DataError, open_daemon  # a slow import, not needed with --server

        try:
            config = Config(port=self.port, data=self.data)
            async with open_daemon(config) as daemon, Client(port=daemon.port, client="gmd-referee") as client:
                yield client, f"127.0.0.1:{daemon.port}"
        except DataError as error:
            raise click.UsageError(f"--data: {error}") from None


@click.group()
def referee() -> None:
    """\b
    Example: gmd referee codingame 'python3 new.py' 'python3 old.py'

    Play matches by the rules of other sites.
    """


@referee.command(short_help="Play a match by the rules of CodinGame's chess puzzle.")
@click.argument("bot1")
@click.argument("bot2")
@click.option(
    "--seed",
    type=SEEDS,
    help="Seed of the start position, as on CodinGame; 0 is the classical position.  [default: random]",
)
@click.option("--fen", help="Start both games from this position, whatever the seed.")
@click.option("--crazyhouse", is_flag=True, help="Play crazyhouse: the constant crazyHouse is 1.")
@click.option(
    "--max-moves",
    type=click.IntRange(1, 6000),
    default=MAX_MOVES,
    show_default=True,
    help="Draw a game after so many moves of each player.",
)
@click.option("--turn-ms", type=MILLISECONDS, default=50, show_default=True, help="Milliseconds for each answer.")
@click.option(
    "--first-turn-ms", type=MILLISECONDS, default=1000, show_default=True, help="Milliseconds for the configuration."
)
@click.option(
    "--margin-ms",
    type=click.FloatRange(0, 3_600_000),
    default=0,
    show_default=True,
    help="Milliseconds added to both limits, for a machine that is busy with other work.",
)
@click.option(
    "--max-memory",
    type=click.IntRange(0),
    metavar="MIB",
    help="Memory limit of each process of a bot; 0 for no limit.  [default: half of the machine's, at least 1024]",
)
@click.option(
    "--json-out", type=click.Path(dir_okay=False, path_type=Path), help="Write the record of the match to this file."
)
@click.option("--pgn-out", type=click.Path(dir_okay=False, path_type=Path), help="Write both games to this file.")
@server_options("Play on this daemon.  [default: a daemon inside the command]", default=None)
@click.option(
    "--players",
    type=(int, int),
    default=(1, 2),
    show_default=True,
    help="The bots' player ids on the daemon; open ids.",
)
@click.option(
    "--data", metavar="DIRECTORY", help="Without --server: keep the games in this data directory, as gmd serve does."
)
@click.option("--port", type=click.IntRange(0, 65535), help="Without --server: the port for watching the games.")
def codingame(bot1: str, bot2: str, **given: Any) -> None:
    """\b
    Example: gmd referee codingame 'python3 new.py' 'python3 old.py'

    Play a match between two commands, BOT1 and BOT2, by the rules of CodinGame's chess puzzle.

    After a turn to configure they play two games from one Chess960 position, with colours swapped. A bot that is late,
    ends, or answers with an illegal move loses the match.

    The exit status is 0 if both games were played, whoever won; 1 if a bot lost by failing; 2 if the command line
    was wrong; 3 if the match could not be decided.
    """
    if given["server"] is not None and (given["data"] or given["port"]) is not None:
        raise click.UsageError(
            "--data and --port configure the daemon inside this command, which --server replaces: give only one"
        )
    where = Where(given["server"], read_tls(given["tls"], given["ca"]), given["data"] or ":memory:", given["port"] or 0)
    logging.getLogger("gmd").setLevel(logging.WARNING)
    log_to_standard_error()
    commands = (_command(bot1), _command(bot2))
    seed = secrets.randbelow(2**31 - 1) + 1 if given["seed"] is None else given["seed"]
    try:
        outcome = trio.run(unless_stopped, partial(_play, commands, where, seed, given))
    except Stopped as stopped:
        sys.exit(stopped.status)
    except BotFailed as failure:
        raise click.UsageError(str(failure)) from None
    except (NoVerdict, GmError, ConnectionLost, BadReply, OSError) as error:
        raise NotJudged(str(error)) from None
    _write(outcome, given)
    report.sums_up(outcome)
    sys.exit(PLAYED if outcome.failure is None else FAILED)


def _command(text: str) -> list[str]:
    """Return the words of a bot's command, which may have the prefix ``codingame:`` as elsewhere."""
    try:
        words = shlex.split(text.removeprefix("codingame:"))
    except ValueError as error:
        raise click.UsageError(f"{text}: {error}") from None
    if not words:
        raise click.UsageError("a bot is a command, such as 'python3 my_bot.py'")
    return words


def _write(record: MatchRecord, given: dict[str, Any]) -> None:
    for path, text in ((given["json_out"], record.to_json), (given["pgn_out"], record.to_pgn)):
        if path is not None:
            try:
                path.write_text(text(), "utf-8")
            except OSError as error:
                raise click.ClickException(f"{path} cannot be written: {error.strerror}") from None


async def _play(commands: tuple[list[str], list[str]], where: Where, seed: int, given: dict[str, Any]) -> MatchRecord:
    turn, first, margin = (given[name] / 1000 for name in ("turn_ms", "first_turn_ms", "margin_ms"))
    start = start_position(seed) if given["fen"] is None else given["fen"]
    rules = Rules(start, given["crazyhouse"], given["max_moves"], Limits(turn, first, margin))
    async with (
        where.client() as (client, address),
        _processes(commands, memory_for(given["max_memory"], games=1)) as processes,
    ):
        report.starts(seed, start, address)
        first_bot, second_bot = (
            Contestant(number, player, process, BotRecord(shlex.join(command)))
            for number, player, process, command in zip((1, 2), given["players"], processes, commands, strict=True)
        )
        with report.progress(rules.max_moves) as seen:
            return await play_match(client.request, (first_bot, second_bot), rules, seed, seen)


@asynccontextmanager
async def _processes(commands: tuple[list[str], list[str]], max_memory: int | None) -> AsyncIterator[list[BotProcess]]:
    """Run the bots' processes, and kill them at the end, as on CodinGame: few bots notice the end of their input.

    Exceptions of the block are raised as they are.
    """
    processes: list[BotProcess] = []
    failure: Exception | None = None
    async with trio.open_nursery() as nursery:
        try:
            for number, command in enumerate(commands, 1):
                processes.append(await BotProcess.start(command, f"bot {number}", nursery, max_memory=max_memory))
            yield processes
        except Exception as error:
            failure = error
        finally:
            with trio.CancelScope(shield=True):
                for process in processes:
                    await process.kill()
            nursery.cancel_scope.cancel()
    if failure is not None:
        raise failure
