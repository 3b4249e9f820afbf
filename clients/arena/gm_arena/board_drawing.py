"""Drawing of a board and the panel next to it as text, for terminals of any kind. All boards are drawn here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import chess
from chess import Color, Move, Piece, Square, SquareSet
from rich.console import Console
from rich.text import Text

#: Columns of a board: a rank's number, a space, and three for each square.
BOARD_COLUMNS = 26

#: The marks of an empty square, and of one that the viewer knows nothing of, where there are no colours.
EMPTY, UNKNOWN = "·", " "


@dataclass
class Picture:
    """The contents of a drawn board.

    :ivar marked: squares to highlight, such as those of the last move.
    :ivar alarmed: squares to highlight as a warning, such as that of a king in check.
    :ivar known: the squares that the viewer knows; the others are drawn as fog.
    :ivar title: whose view it is, if there are several.
    """

    pieces: Mapping[Square, Piece]
    marked: SquareSet = field(default_factory=SquareSet)
    alarmed: SquareSet = field(default_factory=SquareSet)
    known: SquareSet = field(default_factory=lambda: SquareSet(chess.BB_ALL))
    title: str = ""


def squares_of(move: Move | None) -> SquareSet:
    """Return the squares to mark for a move: none for a null move."""
    if not move:
        return SquareSet()
    return SquareSet([move.to_square] if move.drop else [move.from_square, move.to_square])


def picture_of(board: chess.Board) -> Picture:
    """Return a board that hides nothing, with its last move and a king in check."""
    king = board.king(board.turn) if board.is_check() else None
    marked = squares_of(board.peek() if board.move_stack else None)
    return Picture(board.piece_map(), marked, SquareSet() if king is None else SquareSet([king]))


class Palette(NamedTuple):
    """Colours, by rich's names; pairs are for light squares and dark squares.

    They set background and foreground both, so that pieces look the same on a dark terminal and on a light one.
    """

    plain: tuple[str, str]
    marked: tuple[str, str]
    fog: tuple[str, str]
    alarmed: str
    white: str
    black: str


#: For terminals of 256 colours and more; those of sixteen get letters.
FULL = Palette(
    plain=("on #b8996a", "on #855d2b"),
    marked=("on #7aa35a", "on #5a8040"),
    fog=("on #6c6c6c", "on #585858"),
    alarmed="on #c03a34",
    white="bold #ffffff",
    black="bold #101010",
)


def palette_of(console: Console) -> Palette | None:
    """Return the colours of a console; None if it is not a terminal, has too few or cannot show chess pieces."""
    colored = console.is_terminal and console.color_system in ("256", "truecolor")
    return FULL if colored and console.encoding.lower().startswith("utf") else None


def board_lines(picture: Picture, palette: Palette | None, *, bottom: Color = chess.WHITE) -> list[Text]:
    """Return the eight ranks and a line with the names of the files; each has :data:`BOARD_COLUMNS` columns.

    :param palette: None draws letters, White's in upper case, with marked squares in brackets.
    :param bottom: the colour whose side is at the bottom.
    """
    ranks = range(7, -1, -1) if bottom else range(8)
    files = range(8) if bottom else range(7, -1, -1)
    lines = []
    for rank in ranks:
        line = Text(f"{rank + 1} ", no_wrap=True)
        for file in files:
            square = chess.square(file, rank)
            line.append(*(_letter(picture, square) if palette is None else _colored(picture, square, palette)))
        lines.append(line)
    return [*lines, Text("  " + "".join(f" {chess.FILE_NAMES[file]} " for file in files), no_wrap=True)]


def clock_text(seconds: float) -> str:
    """Return a clock's time as text: 1:02:03, 4:05, and below a minute 9.8."""
    tenths = round(max(0.0, seconds) * 10)
    if tenths < 600:
        return f"{tenths / 10:.1f}"
    minutes, left = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{left:02}" if hours else f"{minutes}:{left:02}"


def printable(text: str) -> str:
    """Return text from a file with unprintable characters replaced, so that it cannot control the terminal."""
    return "".join(character if character.isprintable() else "�" for character in text)


def _letter(picture: Picture, square: Square) -> tuple[str, str]:
    piece = picture.pieces.get(square)
    symbol = piece.symbol() if piece else EMPTY if square in picture.known else UNKNOWN
    return f"[{symbol}]" if square in picture.marked else f" {symbol} ", ""


def _colored(picture: Picture, square: Square, palette: Palette) -> tuple[str, str]:
    piece, dark = picture.pieces.get(square), not chess.BB_SQUARES[square] & chess.BB_LIGHT_SQUARES
    if square in picture.alarmed:
        style = palette.alarmed
    elif square in picture.marked:
        style = palette.marked[dark]
    else:
        style = (palette.plain if square in picture.known else palette.fog)[dark]
    if piece is None:
        return "   ", style
    symbol = chess.UNICODE_PIECE_SYMBOLS[piece.symbol().lower()]  # filled: the colour says whose
    return f" {symbol} ", f"{palette.white if piece.color else palette.black} {style}"
