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

#: Full moves shown of a long game: as many as there are ranks; and below the board, where they take lines of their own.
MOVES_SHOWN, MOVES_BELOW = 8, 3

COLORS: tuple[Color, Color] = ("white", "black")

HIDDEN = (
    "What happens in this game of blind chess is hidden until it is over; then it is shown here. "
    "A server that runs with --spectate live shows it to those who give its --spectator-key, "
    "or, where only this machine reaches it, to everybody."
)


def title(look: Look) -> list[str]:
    """The game, its players and how it stands, in two lines."""
    state = look.state
    ending = ending_words(state["termination"], state["variant"]) if look.over else ""
    where, white, black = f"game {state['game_id']}", look.player("white"), look.player("black")
    return header(Recorded(where, white, black, state["result"], ending, state["variant"]))


def screen(look: Look, palette: Palette | None, width: int) -> RenderableType:
    """All there is to see of a game at one moment.

    :param palette: the colours that can be shown; None for letters.
    :param width: columns that there are.
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
    """The moves behind the first ``seen`` ones, a line each; the last has the clocks."""
    number, turn = _beginning(look.state)
    sans = look.sans()
    for ply in range(seen, len(sans)):
        white = turn ^ bool(ply & 1)
        at = number + (ply + (not turn)) // 2
        clocks = _clocks(look.state) if ply == len(sans) - 1 else ""
        yield f"{at}{'.' if white else '...'} {sans[ply]}" + (f"   {clocks}" if clocks else "")


def status(look: Look) -> str:
    """What the game waits for, or how it ended."""
    state = look.state
    if look.over:
        return result_words(state["result"], state["termination"], state["variant"])
    if state["phase"] == "open":
        return "waiting for its players"
    return f"{state['turn'].capitalize()} to move{', in check' if state['in_check'] else ''}"


def _beginning(state: GameState) -> tuple[int, chess.Color]:
    """The number of the first move, and whose it was."""
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
