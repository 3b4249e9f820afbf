"""The view of a player of blind chess: the board as it may be, and the story so far, for a terminal of any kind."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

import chess
from chess import Board, Color, Move, Square, SquareSet
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from gm_arena.board_drawing import BOARD_COLUMNS, Palette, Picture, board_lines

from .memory import Memory, Trace

#: The marks of how many turns ago a piece was last seen, from 0; for terminals that show chess pieces, and for others.
_AGES, _PLAIN_AGES = " ¹²³⁴⁵⁶⁷⁸⁹", " 123456789"
_OLDER = "⁺", "+"

#: Columns that the board and a readable story take side by side, and the gap between the two.
_BESIDE, _GAP = 64, 3

#: Lines of the story: to the right of the board, and below it.
_LINES_BESIDE, _LINES_BELOW = 11, 5


@dataclass(frozen=True)
class Scene:
    """Everything to show at one moment.

    :ivar title: the next action, in a line.
    :ivar story: the events that the player knows, the latest last.
    :ivar bottom: the colour whose side is at the bottom.
    """

    title: str
    picture: Picture
    story: Sequence[str]
    bottom: Color


def draw(scene: Scene, palette: Palette | None, *, width: int) -> RenderableType:
    """Draw a scene.

    :param palette: the colours of the terminal; None for letters.
    :param width: columns of the terminal.
    """
    board = Text("\n").join(board_lines(scene.picture, palette, bottom=scene.bottom))
    title = Text(scene.title, "bold")
    if width < _BESIDE:
        return Group(title, board, *_story(scene.story, width, _LINES_BELOW))
    sheet = Table.grid(padding=(0, _GAP))
    story_width = width - BOARD_COLUMNS - 2 * _GAP
    sheet.add_row(board, Group(*_story(scene.story, story_width, _LINES_BESIDE)))
    return Group(title, sheet)


def _story(story: Sequence[str], width: int, most: int) -> list[Text]:
    """Return as many of the last sentences as fit into so many lines of a width."""
    shown: list[Text] = []
    left = most
    for sentence in reversed(story):
        lines = textwrap.wrap(sentence, max(width, 20), initial_indent=_indent(sentence), subsequent_indent="   ")
        left -= len(lines)
        if left < 0:
            break
        shown.insert(0, Text("\n".join(lines)))
    return shown


def _indent(sentence: str) -> str:
    """Return the indentation of a sentence: one that begins a turn has its number, the others align with its text."""
    return "" if sentence[:1].isdigit() else "   "


def suspected(memory: Memory, palette: Palette | None) -> Picture:
    """Return the player's knowledge, and what may stand on the squares that it does not see."""
    own = SquareSet(memory.own.occupied_co[memory.color])
    pieces = memory.own.piece_map()
    traces = {square: trace for square, trace in memory.traces.items() if square not in own}
    pieces |= {square: trace.piece for square, trace in traces.items() if trace.piece is not None}
    return Picture(
        pieces,
        marked=_squares_of(memory.moved_by),
        alarmed=SquareSet() if memory.lost_on is None else SquareSet([memory.lost_on]),
        known=own | memory.seen,
        unknown={square: not memory.color for square, trace in traces.items() if trace.piece is None},
        asides={square: _age(memory, trace, palette) for square, trace in traces.items()},
    )


def _age(memory: Memory, trace: Trace, palette: Palette | None) -> str:
    ages, older = (_PLAIN_AGES, _OLDER[1]) if palette is None else (_AGES, _OLDER[0])
    age = memory.turn - trace.turn
    return ages[age] if age < len(ages) else older


def truth(board: Board, last: Move | None, captured_king: Square | None) -> Picture:
    """Return the true position, for a game that is over."""
    alarmed = SquareSet() if captured_king is None else SquareSet([captured_king])
    return Picture(board.piece_map(), marked=_squares_of(last), alarmed=alarmed)


def _squares_of(move: Move | None) -> SquareSet:
    return SquareSet() if move is None else SquareSet([move.from_square, move.to_square])


def title_of(memory: Memory, opponent: str, due: str) -> str:
    """Return the title: ``Turn 3: sense. You are White, with 16 pieces; random has 15.``"""
    own = chess.popcount(memory.own.occupied_co[memory.color])
    side = "White" if memory.color else "Black"
    return f"Turn {memory.turn}: {due}. You are {side}, with {_pieces(own)}; {opponent} has {memory.theirs}."


def _pieces(number: int) -> str:
    return f"{number} piece" if number == 1 else f"{number} pieces"
