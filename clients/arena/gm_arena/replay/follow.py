"""A live game in the terminal, from now to its end: ``gmd replay --follow``.

It is followed with ``state`` and ``wait`` as by any spectator, on a client that restores lost connections.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import chess
import click
from chess import Move, SquareSet
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from gm_client.blocking import Client, Color, GameState, PlayerNames, Pockets
from gm_protocol.state import COLOR_NAMES

from ..board_drawing import (
    BESIDE,
    Palette,
    Picture,
    board_lines,
    clock_text,
    moves_table,
    palette_of,
    printable,
    squares_of,
)
from ..endings import ending_words, result_words
from ..sides import player_in
from .frames import Frame, frame_text, frames_of, header
from .recorded import Recorded, served_game

#: Seconds between updates of the clocks in a game in which nobody moves.
LOOK_SECONDS = 1.0

#: The hint below a board on a terminal.
LEAVING = "q: leave"

#: Full moves shown of a long game: as many as there are ranks; and fewer where they go below the board.
MOVES_SHOWN, MOVES_BELOW = 8, 3

COLORS: tuple[Color, Color] = ("white", "black")

HIDDEN = (
    "The moves of this game of blind chess are hidden until it is over; then they are shown here. "
    "A server that runs with --spectate live shows them to spectators who give its --spectator-key, "
    "or, if only this machine can reach the server, to everybody."
)

#: Indices of what ``termios.tcgetattr`` returns.
_LOCAL, _CHARACTERS = 3, 6
_NUMBER = re.compile(r"^\d+\.+")


def newest(client: Client, where: str) -> int:
    """Return the id of the newest live game.

    :param where: the options that name the server, for the error.
    """
    games = client.games(status="live", limit=1)["games"]
    if not games:
        raise click.ClickException(f"the server has no live game; gmd replay GAME{where} shows a finished one")
    game_id: int = games[0]["game_id"]
    return game_id


def show(client: Client, game_id: int) -> Look:
    """Show the game until it is over; return its last state."""
    console = Console(highlight=False, soft_wrap=True)
    return (_draw if console.is_terminal else _list)(client, game_id, console)


def _draw(client: Client, game_id: int, console: Console) -> Look:
    """Show the game in place until it is over; return its last state."""
    palette = palette_of(console)
    console = Console(highlight=False)
    with q_leaves() as by_key, Live(console=console, auto_refresh=False, vertical_overflow="visible") as live:
        for look in follow(client, game_id, LOOK_SECONDS):
            shown = screen(look, palette, console.width)
            hint = [Text(LEAVING, "dim")] if by_key and not look.over else []
            live.update(Group(shown, *hint), refresh=True)
    if look.is_blind:
        console.print(frame_text(_frames(client, game_id)[-1], palette))
    return look


def _list(client: Client, game_id: int, console: Console) -> Look:
    """Write a line for each move until the game is over; return its last state."""
    seen = 0
    hidden = False
    for number, look in enumerate(follow(client, game_id, None)):
        if not number:
            console.print(Text("\n".join(title(look))))
        if look.hidden and not hidden:
            console.print(Text(HIDDEN))
        hidden |= look.hidden
        if not hidden:
            for line in move_lines(look, seen):
                console.print(Text(line))
            seen = len(look.sans())
    if hidden:
        for frame in _frames(client, game_id)[1:]:
            console.print(Text(frame.caption))
    console.print(Text(status(look)))
    return look


def _frames(client: Client, game_id: int) -> list[Frame]:
    """Return the frames of a game that was hidden and is over, with nothing hidden."""
    return frames_of(served_game(client.history(game_id), f"game {game_id}"))


class Look(NamedTuple):
    """A game at one moment."""

    state: GameState
    #: The players' names, where they have any.
    names: PlayerNames

    def player(self, color: chess.Color) -> str:
        """Return a player's name, or its id; "?" for an empty seat."""
        player = player_in(self.state, color)
        return self.names[COLOR_NAMES[color]] or ("?" if player is None else str(player))

    @property
    def over(self) -> bool:
        return self.state["phase"] == "over"

    @property
    def hidden(self) -> bool:
        """Whether the server hides the board, as it does in blind chess while the game is in progress."""
        return self.state.get("pgn") is None

    @property
    def is_blind(self) -> bool:
        """Whether the game is blind chess, whose recording shows each player's knowledge next to the true board."""
        return "last_sense" in self.state

    def sans(self) -> list[str]:
        """Return the moves so far in SAN; none where they are hidden."""
        words = (_NUMBER.sub("", word) for word in (self.state.get("pgn") or "").split())
        return [word for word in words if word]


def follow(client: Client, game_id: int, seconds: float | None) -> Iterator[Look]:
    """Yield a game as it is now, again after each change, and at its end.

    :param seconds: interval at which to yield even without a change, to update the clocks; None lets the server choose.
    :raises GmError: there is no such game.
    :raises ConnectionLost: the server has been unreachable for longer than the client's patience.
    """
    look = _look(client, game_id)
    yield look
    every = {} if seconds is None else {"timeout": seconds}
    while not look.over:
        state = client.wait(game_id, player=None, ply=look.state["ply_index"], **every)["state"]  # type: ignore[arg-type]
        assert state is not None  # None only where several games are waited for
        joined = [state[name] != look.state[name] for name in ("player_white", "player_black")]
        look = _look(client, game_id) if any(joined) else Look(state, look.names)
        yield look


def _look(client: Client, game_id: int) -> Look:
    reply = client.state(game_id, player=None)
    return Look(reply["state"], reply.get("names", PlayerNames(white=None, black=None)))


# --- The screen --------------------------------------------------------------------------------------------------


def title(look: Look) -> list[str]:
    """Return the game, its players and its result so far, in two lines."""
    state = look.state
    ending = ending_words(state["termination"], state["variant"]) if look.over else ""
    where, white, black = f"game {state['game_id']}", look.player(chess.WHITE), look.player(chess.BLACK)
    return header(Recorded(where, white, black, state["result"], ending, state["variant"]))


def screen(look: Look, palette: Palette | None, width: int) -> RenderableType:
    """Return the screen that shows the state of a game.

    :param palette: the colours of the terminal; None for letters.
    :param width: columns of the terminal.
    """
    first, second = title(look)
    lines: list[RenderableType] = [Text(first, "bold"), Text(second), Text()]
    if look.hidden:
        return Group(*lines, Text(HIDDEN), Text(), Text(status(look), "bold"))
    board = Text("\n").join(board_lines(_picture(look.state), palette))
    first_move, turn = _beginning(look.state)
    moves = moves_table(look.sans(), first_move, MOVES_SHOWN if width >= BESIDE else MOVES_BELOW, turn=turn)
    if width >= BESIDE:
        sheet = Table.grid(padding=(0, 3))
        sheet.add_row(board, moves)
        lines.append(sheet)
    else:
        lines += [board, moves]
    lines += [Text(line) for line in (_pockets(look.state), _clocks(look.state)) if line]
    return Group(*lines, Text(status(look), "bold"))


def move_lines(look: Look, seen: int) -> Iterator[str]:
    """Yield a line for each move after the first ``seen`` ones; the last line has the clocks."""
    number, turn = _beginning(look.state)
    sans = look.sans()
    for ply in range(seen, len(sans)):
        white = turn ^ bool(ply & 1)
        at = number + (ply + (not turn)) // 2
        clocks = _clocks(look.state) if ply == len(sans) - 1 else ""
        yield f"{at}{'.' if white else '...'} {sans[ply]}" + (f"   {clocks}" if clocks else "")


def status(look: Look) -> str:
    """Return whom the game waits for, or how it ended."""
    state = look.state
    if look.over:
        return result_words(state["result"], state["termination"], state["variant"])
    if state["phase"] == "open":
        return "waiting for players to join"
    return f"{state['turn'].capitalize()} to move{', in check' if state['in_check'] else ''}"


def _beginning(state: GameState) -> tuple[int, chess.Color]:
    """Return the number of the first move, and the colour that made it."""
    fields = state["start_fen"].split()
    return int(fields[5]), fields[1] == "w"


def _picture(state: GameState) -> Picture:
    board = chess.BaseBoard(state["fen"].split()[0].partition("[")[0])
    marked = squares_of(None if state["last_move"] is None else Move.from_uci(state["last_move"]))
    alarmed = SquareSet()
    if state["in_check"] and (king := board.king(state["turn"] == "white")) is not None:
        alarmed = SquareSet([king])
    return Picture(board.piece_map(), marked, alarmed)


def _pockets(state: GameState) -> str:
    pockets = state.get("pockets", Pockets(white="", black=""))
    held = [f"{color.capitalize()} {pockets[color]}" for color in COLORS if pockets[color]]
    return printable(f"in hand: {', '.join(held)}") if held else ""


def _clocks(state: GameState) -> str:
    if (clock := state["clock"]) is None:
        return ""
    left = {color: seconds for color in COLORS if (seconds := clock[color]) is not None}
    return "   ".join(f"{color.capitalize()} {clock_text(seconds)}" for color, seconds in left.items())


# --- The keyboard ------------------------------------------------------------------------------------------------


@contextmanager
def q_leaves() -> Iterator[bool]:
    """Turn off the echo of keys, and raise KeyboardInterrupt for ``q``, as for Ctrl-C.

    The terminal sends SIGQUIT for ``q`` meanwhile, so that ``q`` works whatever the program waits for. Other keys are
    discarded at the end.

    :returns: whether ``q`` works; False where standard input is no terminal, or another program is in the foreground.
    """
    terminal = _terminal()
    if terminal is None:
        yield False
        return
    handler = signal.signal(signal.SIGQUIT, signal.default_int_handler)
    before, quiet = termios.tcgetattr(terminal), termios.tcgetattr(terminal)
    quiet[_LOCAL] &= ~termios.ECHO
    quiet[_CHARACTERS][termios.VQUIT] = b"q"
    try:
        termios.tcsetattr(terminal, termios.TCSADRAIN, quiet)
        yield True
    finally:
        termios.tcsetattr(terminal, termios.TCSAFLUSH, before)
        signal.signal(signal.SIGQUIT, handler)


def _terminal() -> int | None:
    """Return the descriptor of the terminal, if this program is in its foreground."""
    if not sys.stdin.isatty():
        return None
    terminal = sys.stdin.fileno()
    try:
        return terminal if os.tcgetpgrp(terminal) == os.getpgrp() else None
    except OSError:  # a terminal of another session, which sends no signals here
        return None
