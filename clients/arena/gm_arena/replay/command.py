"""``gmd replay``: step through a recorded game in a terminal."""

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

from gm_client.blocking import BadReply, ConnectionLost, GmError, connect

from ..address import server_options, unreachable
from ..board_drawing import palette_of
from ..tls import read_tls
from .files import read_file, served_game
from .frames import Frame, frames_of
from .recorded import BadRecord, Recorded
from .show import frame_text, header

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
@click.argument("game", metavar="FILE|GAME_ID")
@click.option(
    "--game", "wanted", type=int, help="The game to take from a FILE with several: its id, or in PGN its number."
)
@server_options("The daemon that has the game GAME_ID.")
@click.option("--socket", "path", metavar="FILE", help="Use the operator's socket instead of the port.")
def replay(game: str, wanted: int | None, **where: Any) -> None:
    """\b
    Example: gmd replay game.pgn

    Step through a game from a FILE, or through the game GAME_ID of a daemon.

    A FILE is JSON lines or PGN of gmd export, the output of gmd match --json-out, any other PGN of chess, or a
    GameHistory of reconchess. In blind chess every sense and every move is shown three times: as White knows the
    board, as it is, and as Black knows it. Arrow keys step; without a terminal the whole game is listed.

    A game of chess with an illegal move is shown up to it. The exit status is 0 if a whole game was shown, 1 if a part
    of it was or no server was reached, and 2 if there is no such game or it cannot be read.
    """
    try:
        recorded = find(game, wanted, where)
    except BadRecord as error:
        raise _NoGame(str(error)) from None
    frames = frames_of(recorded)
    if sys.stdout.isatty() and sys.stdin.isatty():
        _step_through(header(recorded), frames)
    else:
        _list(header(recorded), frames)
    if recorded.bad_move:
        raise click.ClickException(f"{recorded.where}: {recorded.bad_move}; the game is shown up to it")


def find(game: str, wanted: int | None, where: dict[str, Any]) -> Recorded:
    """Return the game that a command names.

    :param where: the options that name the daemon.
    :raises BadRecord: there is no such game, or there are several.
    """
    if not game.isdecimal() or Path(game).exists():
        return read_file(Path(game), wanted)
    tls = read_tls(where["tls"], where["ca"])
    try:
        with connect(where["server"], path=where["path"], tls=tls, client="gmd-replay") as client:
            reply = client.history(int(game))
    except ConnectionLost as error:
        raise click.ClickException(unreachable(error)) from None
    except (GmError, BadReply, OSError) as error:
        raise BadRecord(str(error)) from None
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
