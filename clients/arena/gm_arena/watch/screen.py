"""A live game as text: a screen of a terminal, or a line for each move."""

from __future__ import annotations

from collections.abc import Iterator

import chess
from chess import Move, SquareSet
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from gm_client.blocking import Color, GameState, Pockets

from ..board_drawing import BESIDE, Palette, Picture, board_lines, clock_text, moves_table, printable, squares_of
from ..endings import ending_words, result_words
from ..replay.recorded import Recorded
from ..replay.show import header
from .follow import Look

#: Full moves shown of a long game: as many as there are ranks; and fewer where they go below the board.
MOVES_SHOWN, MOVES_BELOW = 8, 3

COLORS: tuple[Color, Color] = ("white", "black")

HIDDEN = (
    "The moves of this game of blind chess are hidden until it is over; then they are shown here. "
    "A server that runs with --spectate live shows them to spectators who give its --spectator-key, "
    "or, if only this machine can reach the server, to everybody."
)


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
