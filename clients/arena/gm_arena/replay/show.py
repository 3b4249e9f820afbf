"""Frames of a game as text: three blind boards side by side fit a terminal of eighty columns."""

from __future__ import annotations

import chess
from rich.text import Text

from .frames import Frame, View

#: Columns between two boards. A board has 25: a rank's number, and three for each square.
GAP = "  "
BOARD_COLUMNS = 25

EMPTY, UNKNOWN = "·", " "


def frame_text(frame: Frame) -> Text:
    """A frame: its boards, and the line about it. What is marked stands in brackets, and on a terminal in colour."""
    lines = []
    if any(view.title for view in frame.views):
        lines.append(Text(GAP.join(f" {view.title:^{BOARD_COLUMNS - 1}}" for view in frame.views).rstrip()))
    for rank in reversed(range(8)):
        lines.append(Text(GAP).join(_rank(view, rank) for view in frame.views))
    files = " " + "".join(f" {name} " for name in chess.FILE_NAMES)
    lines += [Text(GAP.join([files] * len(frame.views)).rstrip()), Text(printable(frame.caption), "bold")]
    text = Text("\n").join(lines)
    text.no_wrap = True  # on a terminal that is too narrow, boards are cut off rather than broken
    return text


def printable(text: str) -> str:
    """Text out of a file, without what would be orders to a terminal."""
    return "".join(character if character.isprintable() else "�" for character in text)


def _rank(view: View, rank: int) -> Text:
    line = Text().append(chess.RANK_NAMES[rank], "dim")
    for file in range(8):
        square = chess.square(file, rank)
        piece, empty = view.pieces.get(square), EMPTY if square in view.seen else UNKNOWN
        symbol = empty if piece is None else piece.unicode_symbol()
        if square in view.marked:
            line.append(f"[{symbol}]", "black on yellow")
        else:
            line.append(f" {symbol} ")
    return line
