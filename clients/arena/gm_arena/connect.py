"""``gmd connect``: let a bot play: gmd's own, reconchess's, UCI, CodinGame."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from typing import Any

import chess
import click
import trio

from gm_client.blocking import PATIENCE_SECONDS, VERSION, BadReply, Color, ConnectionLost, GmError
from gm_protocol.options import VARIANT_TRAITS
from gm_protocol.state import side_of

from .bot import BotFailed, Bots, BotUnusable
from .bridge import Bridge, BridgeError, Server, ranked
from .command_line import (
    KEY_VARIABLE,
    POSITIVE,
    VARIANTS,
    read_clock,
    read_tls,
    server_options,
    unreachable,
    who_plays,
)
from .report import Lines, log_to_standard_error
from .specs import bots_of
from .stopping import SIGNALS, background


@click.command()
@click.argument("bot")
@server_options("The server to play on.")
@click.option(
    "--player", required=True, metavar="ID|NAME", help="The player to play as: a number, or a registered name."
)
@click.option("--key", help=f"The player's key, or @FILE to read it from a file.  [default: ${KEY_VARIABLE}, if set]")
@click.option(
    "--patience",
    type=POSITIVE,
    default=PATIENCE_SECONDS,
    show_default=True,
    help="Give up after the server has been unreachable for so many seconds.",
)
@click.option("--game", type=int, help="Play this game, then leave.")
@click.option(
    "--opponent",
    metavar="ID|NAME|anyone",
    help="Make a new game against this player, a bot of the server's by its name, or anyone who joins; then leave. "
    "A registered player must be online.",
)
@click.option(
    "--color",
    type=click.Choice(["white", "black"]),
    help="With --opponent: the bot's colour.  [default: white and black in turn]",
)
@click.option("--games", type=click.IntRange(1), help="Leave after so many games.  [default: with --opponent 1]")
@click.option(
    "--concurrency",
    type=click.IntRange(1, 50),
    default=4,
    show_default=True,
    help="The most games to play at the same time.",
)
@click.option("--ranked", is_flag=True, help="Ask the server for ranked games (variant rbc) until Ctrl-C.")
@click.option(
    "--new-version", is_flag=True, help="With --ranked: the bot is a new version, which begins without a rating."
)
@click.option(
    "--variant",
    type=VARIANTS,
    help="Variant of a new game.  [default: the bot's]",
)
@click.option(
    "--clock",
    callback=read_clock,
    metavar="CLOCK",
    help="Clock of a new game, in seconds: 300, 180+2, 1/0.05 (first move/each later move), none.",
)
@click.option("--max-moves", type=int, help="Draw a new game after so many moves of each side (in rbc, turns).")
def connect(bot: str, server: str, **given: Any) -> None:
    """\b
    Example: gmd connect uci:stockfish --player 1

    Let BOT play unchanged: reconchess:FILE.py, reconchess:MODULE, uci:COMMAND, codingame:COMMAND; or an installed bot:
    minimax, random. Options of a bot: uci[movetime=0.1,Hash=64]:stockfish, minimax:depth=2,seed=7.

    It plays every game in which the player has a seat or an invitation, several at once, until Ctrl-C: then it
    finishes the games in progress, and leaves; a second Ctrl-C leaves at once. With --game it plays that game, with
    --opponent new ones.

    Each game has a bot of its own. A bot that fails resigns its game, standard error says why, and the exit status
    is 1.
    """
    _check(given)
    where = _server(server, given)
    log_to_standard_error()
    try:
        bots = bots_of(bot)
        if given["ranked"] and "rbc" not in bots.variants:
            played = ", ".join(sorted(bots.variants))
            raise click.UsageError(f"--ranked: ranked games are rbc, and {bot} plays {played}")
        status = trio.run(_play, where, bots, given)
    except BotUnusable as error:
        raise click.UsageError(str(error)) from None
    except BotFailed as error:
        raise click.ClickException(f"{bot} does not start: {error}\n{error.details}".rstrip()) from None
    except ConnectionLost as error:
        raise click.ClickException(unreachable(error)) from None
    except (BridgeError, GmError, BadReply) as error:
        raise click.ClickException(str(error)) from None
    sys.exit(status)


async def _play(server: Server, bots: Bots, given: dict[str, Any]) -> int:
    """Play the games that the options ask for; return the exit status."""
    lines = Lines(bots)
    bridge = Bridge(server, bots, lines, at_once=given["concurrency"])

    async def plan(bridge: Bridge) -> None:
        async with server.client() as client:
            await client.open()  # so that nothing is shown before a server is reached
        lines.starts(server.host, given["player"])
        if given["game"] is not None:
            await bridge.play_one(given["game"])
        elif given["opponent"] is not None:
            colors = itertools.islice(_colors(given["color"]), given["games"] or 1)
            await bridge.play_new(_opponent(given["opponent"]), colors, _new_game(bots, given))
        elif given["ranked"]:
            async with ranked(server, given["concurrency"], new_version=given["new_version"]):
                await bridge.play_all(given["games"])
        else:
            await bridge.play_all(given["games"])

    async with background() as nursery:
        stopping: list[int] = await nursery.start(_stop_on_signal, bridge, lines, nursery.cancel_scope)
        await bridge.run(plan)
    if len(stopping) == 2:
        return 128 + stopping[-1]
    lines.sums_up()
    return 0 if lines.all_well else 1


async def _stop_on_signal(
    bridge: Bridge, lines: Lines, everything: trio.CancelScope, *, task_status: trio.TaskStatus[list[int]]
) -> None:
    """Drain at the first signal, and cancel everything at the second. The list given holds the signals received."""
    received: list[int] = []
    with trio.open_signal_receiver(*SIGNALS) as signals:
        task_status.started(received)
        async for number in signals:
            received.append(number)
            if len(received) == 2:
                everything.cancel()
                break
            lines.drains(len(bridge.games_in_hand))
            bridge.drain()


def _check(given: dict[str, Any]) -> None:
    if given["game"] is not None and given["opponent"] is not None:
        raise click.UsageError("--game plays an existing game, and --opponent makes a new one: give only one")
    if given["ranked"] and (given["game"] is not None or given["opponent"] is not None):
        raise click.UsageError("--ranked: the server makes these games; give neither --game nor --opponent")
    if given["new_version"] and not given["ranked"]:
        raise click.UsageError("--new-version goes with --ranked")
    if given["game"] is not None and given["games"] is not None:
        raise click.UsageError("--games: cannot be combined with --game")
    for name in ("color", "variant", "clock", "max_moves"):
        if given[name] is not None and given["opponent"] is None:
            raise click.UsageError(f"--{name.replace('_', '-')} applies to a new game: give --opponent as well")


def _server(address: str, given: dict[str, Any]) -> Server:
    hello = {"client": f"gmd-connect/{VERSION}", **who_plays(given["player"], given["key"])}
    return Server(address, tls=read_tls(given["tls"], given["ca"]), patience=given["patience"], hello=hello)


def _opponent(text: str) -> int | str | None:
    if text == "anyone":
        return None
    return int(text) if text.removeprefix("-").isdecimal() else text


def _colors(name: Color | None) -> Iterator[chess.Color]:
    return itertools.cycle(chess.COLORS) if name is None else itertools.repeat(side_of(name))


def _new_game(bots: Bots, given: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of ``new_game`` that the options give."""
    variant = given["variant"] or bots.defaults["variant"]
    fields = {"variant": variant}
    if given["clock"] is not None:
        fields["clock"] = given["clock"] or None
    if given["max_moves"] is not None:
        fields[VARIANT_TRAITS[variant].length] = given["max_moves"]
    return fields
