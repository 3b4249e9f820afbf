"""``gmd replay``: step through a recorded game in a terminal, follow a live one, or play one back to a bot."""

from __future__ import annotations

import os
import re
import sys
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import click
from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from gm_client.blocking import (
    PATIENCE_SECONDS,
    VERSION,
    BadReply,
    Client,
    ConnectionLost,
    GmError,
    HelloFields,
    connect,
)

from ..board_drawing import palette_of
from ..bot import BotFailed, BotUnusable
from ..command_line import POSITIVE, read_key, read_tls, server_arguments, server_options, unreachable
from ..report import log_to_standard_error
from .frames import Frame, frame_text, frames_of, header
from .recorded import BadRecord, Recorded, read_file, served_game

#: The variable that may hold the spectator key, to keep it out of the list of running programs.
KEY_VARIABLE = "GM_SPECTATOR_KEY"

#: Keys, as terminals send them, and the frames they step by; the ends of the game are very large steps.
STEPS = {
    **dict.fromkeys(("\x1b[C", "\x1bOC", "\r", "\n", " ", "n", "l"), 1),
    **dict.fromkeys(("\x1b[D", "\x1bOD", "\x7f", "p", "h"), -1),
    **dict.fromkeys(("\x1b[B", "\x1bOB", "\x1b[6~", "j"), 10),
    **dict.fromkeys(("\x1b[A", "\x1bOA", "\x1b[5~", "k"), -10),
    **dict.fromkeys(("\x1b[H", "\x1bOH", "\x1b[1~", "g"), -sys.maxsize),
    **dict.fromkeys(("\x1b[F", "\x1bOF", "\x1b[4~", "G"), sys.maxsize),
}
_KEY = re.compile(r"\x1b\[[0-9;]*[A-Za-z~]|\x1bO[A-Z]|.", re.S)
LEAVE = {"q", "\x1b", "\x03", "\x04"}
HELP = "→ Enter: next   ←: back   ↓ ↑: by ten   Home End   q: leave"


class _NoGame(click.ClickException):
    """There is no game to show."""

    exit_code = 2


@click.command()
@click.argument("game", metavar="[FILE|GAME_ID]", required=False)
@click.option(
    "--game", "wanted", type=int, help="The game to take from a FILE with several: its id, or in PGN its number."
)
@click.option("--follow", is_flag=True, help="Follow the live game GAME_ID, or the newest one, to its end.")
@click.option(
    "--ask", metavar="BOT", help="Give a bot of blind chess what a player was shown, and compare its choices."
)
@click.option(
    "--analyse", is_flag=True, help="Say what each move of blind chess cost, by Stockfish, and why the worst ones did."
)
@click.option(
    "--color",
    type=click.Choice(["white", "black"]),
    help="The player.  [default: with --ask white; with --analyse both]",
)
@server_options("The daemon that has the game GAME_ID.")
@click.option("--socket", "path", metavar="FILE", help="Use the operator's socket instead of the port.")
@click.option(
    "--spectator-key",
    "key",
    help=f"With --follow: the key for watching blind chess live, or @FILE.  [default: ${KEY_VARIABLE}, if set]",
)
@click.option(
    "--patience",
    type=POSITIVE,
    help=f"With --follow: give up after so many seconds without the server.  [default: {PATIENCE_SECONDS:g}]",
)
def replay(game: str | None, wanted: int | None, follow: bool, ask: str | None, analyse: bool, **given: Any) -> None:
    """\b
    Example: gmd replay game.pgn

    Step through a game from a FILE, or through the game GAME_ID of a daemon.

    A FILE is JSON lines or PGN of gmd export, the output of gmd match --json-out, any other PGN of chess, or a
    GameHistory of reconchess. In blind chess every sense and every move is shown three times: as White knows the
    board, as it is, and as Black knows it. Arrow keys step; without a terminal the whole game is listed.

    --follow shows a live game as a board, or without a terminal as a line for each move; Ctrl-C leaves. Blind chess is
    shown live if the server lets spectators see it (gmd serve --spectate live), otherwise when it is over.

    --ask asks BOT, named as for gmd match, in the turns of the player of --color, the last one included. Whatever it
    chooses, it is shown the results of the recorded actions, and it has unlimited time.

    --analyse prints a line for each turn of blind chess: the possible positions before and after the sense, what it
    showed, and the move with its expected result, and what the best one would have had more, on the true board and as
    its player knew it. Then it names the costliest turns, whose players did not know, or knew and erred.

    The exit status is 0 if a whole game was shown, and the bot of --ask chose the same everywhere; 1 if not, or if no
    server was reached; 2 if there is no such game or it cannot be read.
    """
    _check(game, wanted, follow, ask, analyse, given)
    if follow:
        _follow(None if game is None else int(game), given)
        return
    assert game is not None
    try:
        recorded = find(game, wanted, given)
    except BadRecord as error:
        raise _NoGame(str(error)) from None
    if ask is not None:
        from .ask import ask as play_back

        log_to_standard_error()
        try:
            sys.exit(0 if play_back(recorded, ask, given["color"] != "black") else 1)
        except BotUnusable as error:
            raise click.UsageError(f"--ask: {error}") from None
    if analyse:
        _analyse(recorded, given["color"])
        return
    frames = frames_of(recorded)
    if sys.stdout.isatty() and sys.stdin.isatty():
        _step_through(header(recorded), frames)
    else:
        _list(header(recorded), frames)
    if recorded.bad_move:
        raise click.ClickException(f"{recorded.where}: {recorded.bad_move}; the game is shown up to it")


def _check(
    game: str | None, wanted: int | None, follow: bool, ask: str | None, analyse: bool, given: dict[str, Any]
) -> None:
    ways = {"--follow": follow, "--ask": ask is not None, "--analyse": analyse}
    if sum(ways.values()) > 1:
        raise click.UsageError(f"give only one of {' and '.join(way for way, is_given in ways.items() if is_given)}")
    if follow and game is not None and not game.isdecimal():
        raise click.UsageError(f"--follow: {game!r} is not the id of a game")
    if wanted is not None and follow and game is None:
        where = f"to follow game {wanted}, write: gmd replay {wanted} --follow"
        raise click.UsageError(f"--game chooses a game of a FILE; {where}")
    if wanted is not None and game is not None and (follow or not _is_file(game)):
        raise click.UsageError(f"--game chooses a game of a FILE, and {game} is a game of the daemon")
    if not follow and game is None:
        raise click.UsageError("give a FILE or a GAME_ID; --follow alone shows the newest live game")
    if given["color"] is not None and ask is None and not analyse:
        raise click.UsageError("--color goes with --ask and --analyse")
    for option, name in (("--spectator-key", "key"), ("--patience", "patience")):
        if given[name] is not None and not follow:
            raise click.UsageError(f"{option} goes with --follow")


def _analyse(recorded: Recorded, color: str | None) -> None:
    from .analyse import NoAnalysis, analyse

    try:
        analyse(recorded, None if color is None else color == "white")
    except (NoAnalysis, BotFailed) as error:
        raise click.ClickException(str(error)) from None


def _follow(game: int | None, given: dict[str, Any]) -> None:
    from .follow import newest, show

    key = read_key(given["key"], KEY_VARIABLE, "--spectator-key")
    hello: HelloFields = {"client": f"gmd-replay/{VERSION}", **({"spectator_key": key} if key else {})}
    where = server_arguments(given["server"], given["tls"], given["ca"], given["path"])
    with suppress(KeyboardInterrupt), _connected(given, hello, given["patience"] or PATIENCE_SECONDS) as client:
        last = show(client, newest(client, where) if game is None else game)
        if last.is_blind:
            click.echo(f"gmd replay {last.state['game_id']}{where} steps through it, with what each player knew.")


@contextmanager
def _connected(given: dict[str, Any], hello: HelloFields, patience: float = PATIENCE_SECONDS) -> Iterator[Client]:
    """Connect to the daemon that the options name, and report its refusals."""
    tls = read_tls(given["tls"], given["ca"])
    try:
        with connect(given["server"], path=given["path"], tls=tls, patience=patience, **hello) as client:
            yield client
    except ConnectionLost as error:
        raise click.ClickException(unreachable(error)) from None
    except (GmError, BadReply, OSError) as error:
        raise _NoGame(str(error)) from None


def _is_file(game: str) -> bool:
    return not game.isdecimal() or Path(game).exists()


def find(game: str, wanted: int | None, where: dict[str, Any]) -> Recorded:
    """Return the game that a command names.

    :param where: the options that name the daemon.
    :raises BadRecord: there is no such game, or there are several.
    """
    if _is_file(game):
        return read_file(Path(game), wanted)
    with _connected(where, {"client": f"gmd-replay/{VERSION}"}) as client:
        reply = client.history(int(game))
    return served_game(reply, f"game {game}")


def _list(above: list[str], frames: list[Frame]) -> None:
    console = Console(highlight=False, soft_wrap=True)
    console.print(Text("\n".join(above)))
    for frame in frames:
        console.print()
        console.print(frame_text(frame, palette_of(console)))


def _step_through(above: list[str], frames: list[Frame]) -> None:
    """Show one frame at a time, stepping by keys."""
    at, (title, *others) = 0, above
    console = Console(highlight=False)
    palette = palette_of(console)
    with (
        suppress(KeyboardInterrupt),
        _keyboard() as keys,
        Live(screen=True, auto_refresh=False, console=console) as live,
    ):
        while True:
            place = Text(f"{at} of {len(frames) - 1}   {HELP}", "dim")
            top = [Text(title, "bold"), *map(Text, others), Text()]
            live.update(Group(*top, frame_text(frames[at], palette), Text(), place), refresh=True)
            key = next(keys, "q")
            if key in LEAVE:
                return
            at = min(max(at + STEPS.get(key, 0), 0), len(frames) - 1)


@contextmanager
def _keyboard() -> Iterator[Iterator[str]]:
    """Yield keys as they are pressed; none is lost while the display is updated."""
    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    tty.setcbreak(terminal, termios.TCSADRAIN)
    try:
        yield _keys(terminal)
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)


def _keys(terminal: int) -> Iterator[str]:
    with suppress(OSError):  # the terminal is gone
        while pressed := os.read(terminal, 1024):  # several at once, if pressed quickly
            yield from _KEY.findall(pressed.decode("utf-8", "replace"))
