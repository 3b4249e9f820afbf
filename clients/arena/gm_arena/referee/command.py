"""``gmd match --referee codingame``: CodinGame's chess match between two commands, played through a daemon."""

from __future__ import annotations

import logging
import random
import secrets
import shlex
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import Any

import click
import trio

from gm_client.blocking import BadReply, ConnectionLost, GmError
from gm_client.trio_client import Client

from ..bot import BotFailed
from ..codingame import MAX_MOVES
from ..command_line import read_tls
from ..endings import result_words
from ..match.openings import openings_for
from ..match.settings import OPEN_PLAYERS
from ..process import BotProcess, memory_for
from ..report import log_to_standard_error
from ..stopping import Stopped, unless_stopped
from .match import Contestant, Limits, NoVerdict, Rules, milliseconds, play_match, start_position
from .record import BotRecord, GameRecord, MatchRecord

#: Exit statuses. In a shell ``&&`` tests whether both bots kept to the rules; the winner is in the record.
PLAYED, FAILED, NO_VERDICT = 0, 1, 3

#: The options of ``gmd match`` that have a meaning here.
USED = {
    *("referee", "seed", "variant", "openings", "max_moves", "movetime", "margin", "max_memory", "json_out", "pgn_out"),
    *("server", "tls", "ca", "data", "port", "games"),
}


class NotJudged(click.ClickException):
    """There is no verdict, for a reason that no bot is to blame for."""

    exit_code = NO_VERDICT


def judge(bots: Sequence[str], given: Mapping[str, Any], defaults: Mapping[str, Any]) -> int:
    """Play a match between two commands by the rules of CodinGame's chess puzzle; return the exit status.

    It is 0 if both games were played, whoever won; 1 if a bot lost by failing; 3 if the match could not be decided; 128
    and the number of a signal that ended it.

    :param given: the options of ``gmd match``, by name; ``defaults`` are those of a command line without any.
    :raises click.UsageError: the command line is wrong, or a bot cannot be started.
    """
    for name in sorted(given.keys() - USED):
        if given[name] != defaults[name]:
            raise click.UsageError(f"--{name.replace('_', '-')} has no meaning with --referee codingame: leave it out")
    if len(bots) != 2 or given["games"] != defaults["games"]:
        raise click.UsageError("--referee codingame: a match is two games of two bots")
    if given["variant"] not in (None, "chess960", "crazyhouse"):
        raise click.UsageError(f"--variant {given['variant']}: CodinGame's match is chess960 or crazyhouse")
    logging.getLogger("gmd").setLevel(logging.WARNING)
    log_to_standard_error()
    commands = [_command(bot) for bot in bots]
    seed = secrets.randbelow(2**31 - 1) + 1 if given["seed"] is None else given["seed"]
    rules = _rules(seed, given)
    try:
        outcome = trio.run(unless_stopped, partial(_play, commands, rules, seed, given))
    except Stopped as stopped:
        return stopped.status
    except BotFailed as failure:
        raise click.UsageError(str(failure)) from None
    except (NoVerdict, GmError, ConnectionLost, BadReply, OSError) as error:
        raise NotJudged(str(error)) from None
    _write(outcome, given)
    sums_up(outcome)
    return PLAYED if outcome.failure is None else FAILED


def _rules(seed: int, given: Mapping[str, Any]) -> Rules:
    """Return the rules of the match.

    :raises OpeningsUnusable: the file of openings cannot be used.
    """
    start: int | str = start_position(seed)
    crazyhouse = given["variant"] == "crazyhouse"
    if given["openings"] is not None:
        variant = given["variant"] or "chess960"
        opening, *_ = openings_for(variant, given["openings"], plies=None, seed=seed, in_order=True, most=1)
        if opening.fen is None or opening.moves:
            raise click.UsageError(f"--openings: {given['openings']}: CodinGame's match begins with a position, a FEN")
        start = opening.fen
    limits = Limits(given["movetime"] or Limits.turn, Limits.first_turn, given["margin"] / 1000)
    return Rules(start, crazyhouse, given["max_moves"] or MAX_MOVES, limits)


def _command(text: str) -> list[str]:
    """Return the words of a bot's command, which may have the prefix ``codingame:`` as elsewhere."""
    try:
        words = shlex.split(text.removeprefix("codingame:"))
    except ValueError as error:
        raise click.UsageError(f"{text}: {error}") from None
    if not words:
        raise click.UsageError("a bot is a command, such as 'python3 my_bot.py'")
    return words


def _write(record: MatchRecord, given: Mapping[str, Any]) -> None:
    for path, text in ((given["json_out"], record.to_json), (given["pgn_out"], record.to_pgn)):
        if path is not None:
            try:
                path.write_text(text(), "utf-8")
            except OSError as error:
                raise click.ClickException(f"{path} cannot be written: {error.strerror}") from None


async def _play(commands: Sequence[list[str]], rules: Rules, seed: int, given: Mapping[str, Any]) -> MatchRecord:
    first = random.randrange(1, OPEN_PLAYERS) if given["server"] is not None else 1
    async with (
        _connected(given) as (client, address),
        _processes(commands, memory_for(given["max_memory"], games=1)) as processes,
    ):
        click.echo(f"seed {seed}: start position {rules.start}; the games are on {address}")
        one, other = (
            Contestant(number, first + number - 1, process, BotRecord(shlex.join(command)))
            for number, process, command in zip((1, 2), processes, commands, strict=True)
        )
        with progress(rules.max_moves) as seen:
            return await play_match(client.request, (one, other), rules, seed, seen)


@asynccontextmanager
async def _connected(given: Mapping[str, Any]) -> AsyncIterator[tuple[Client, str]]:
    """Connect to the server given, or to a daemon inside the referee; yield the client and the server's address."""
    if given["server"] is not None:
        tls = read_tls(given["tls"], given["ca"])
        async with Client(given["server"], tls=tls, client="gmd-referee") as client:
            await client.open()
            yield client, given["server"]
        return
    from gmd import Config, DataError, open_daemon  # a slow import, not needed with --server

    try:
        config = Config(port=given["port"], data=given["data"] or ":memory:")
        async with open_daemon(config) as daemon, Client(port=daemon.port, client="gmd-referee") as client:
            yield client, f"127.0.0.1:{daemon.port}"
    except DataError as error:
        raise click.UsageError(f"data (--config): {error}") from None


@asynccontextmanager
async def _processes(commands: Sequence[list[str]], max_memory: int | None) -> AsyncIterator[list[BotProcess]]:
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


# --- What is printed ---------------------------------------------------------------------------------------------


def points(half_points: int) -> str:
    """Return a score as people write it."""
    whole, half = divmod(half_points, 2)
    return f"{whole or '' if half else whole}{'½' * half}"


@contextmanager
def progress(max_moves: int) -> Iterator[Callable[[GameRecord], None]]:
    """Show a progress bar of the moves of both games, at most, on standard error, if that is a terminal."""
    if not sys.stderr.isatty():
        yield lambda game: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[move]}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("game 1", total=2 * max_moves, move="")

        def show(game: GameRecord) -> None:
            last = game.turns[-1].san if game.turns else None
            move = f"move {len(game.turns) // 2 + 1} of {max_moves}{f', {last}' if last else ''}"
            bar.update(task, completed=len(game.turns), description=f"game {game.number}", move=move)

        yield show


def sums_up(record: MatchRecord) -> None:
    """Print a line for each game, and the result."""
    for game in record.games:
        click.echo(_game_line(game, record))
    click.echo(_notes(record), nl=False)
    click.echo(_verdict(record))


def _game_line(game: GameRecord, record: MatchRecord) -> str:
    moves = sum(turn.move is not None for turn in game.turns)
    plies = f"{moves} {'ply' if moves == 1 else 'plies'}"
    sides = f"White bot {game.white}, Black bot {game.black}"
    return f"game {game.number} ({game.game_id}): {sides}, {result_words(game.result, game.termination)}, {plies}"


def _notes(record: MatchRecord) -> str:
    """Return notes for the bots' authors, a line each."""
    lines = []
    for number, bot in enumerate(record.bots, 1):
        if bot.unknown_inputs:
            lines.append(f"bot {number} asked for unknown inputs: {', '.join(map(repr, bot.unknown_inputs))}\n")
        if bot.slowest_seconds is not None:
            limit = record.limits["turn"] + record.limits["margin"]
            late = "; the referee itself was late to look" if bot.slowest_seconds > limit else ""
            slowest = f"{bot.slowest_seconds * 1000:.1f} ms of {milliseconds(limit)}"
            lines.append(f"bot {number} needed {slowest} at most{late}\n")
    return "".join(lines)


def _verdict(record: MatchRecord) -> str:
    failure, winner = record.failure, record.winner
    if failure is not None:
        where = f"game {failure.game}, ply {failure.ply}" if failure.game else "its configuration"
        loser = record.bots[failure.bot - 1].command
        return f"bot {winner} has won: bot {failure.bot} ({loser}) has failed in {where}: {failure.text}"
    best, other = (points(score) for score in sorted(record.score, reverse=True))
    if winner is None:
        return f"drawn {best} : {other}"
    return f"bot {winner} ({record.bots[winner - 1].command}) has won: {best} : {other}"
