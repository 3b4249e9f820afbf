"""Frames of a game as text: three blind boards side by side fit a terminal of eighty columns."""

from __future__ import annotations

import chess
from rich.text import Text

from gmd.games.variants import VARIANTS

from ..board_drawing import BOARD_COLUMNS, Palette, board_lines, clock_text, printable
from .frames import Frame
from .recorded import Recorded

#: The gap between two boards.
GAP = " "


def header(game: Recorded) -> list[str]:
    """Return the lines above a game: its players, result, variant and clock."""
    state = f"{game.result} {game.ending}".strip() if game.ending or game.result != "*" else "in progress"
    variant = VARIANTS[game.variant].title if game.variant in VARIANTS else game.variant
    parts = [state, variant, f"clock {game.clock}" if game.clock else ""]
    return [
        printable(f"{game.where}: {game.white} – {game.black}"),
        printable(", ".join(part for part in parts if part)),
    ]


def frame_text(frame: Frame, palette: Palette | None = None) -> Text:
    """Return a frame as text: its boards, and the line about it.

    :param palette: the colours of the terminal; None for letters.
    """
    lines = []
    if any(view.title for view in frame.views):
        lines.append(Text(GAP.join(f"  {view.title:^{BOARD_COLUMNS - 2}}" for view in frame.views).rstrip()))
    boards = [board_lines(view.picture(), palette) for view in frame.views]
    lines += [Text(GAP).join(ranks) for ranks in zip(*boards, strict=True)]
    if frame.clocks:
        lines.append(Text(clocks_text(frame.clocks)))
    lines.append(Text(printable(frame.caption), "bold"))
    text = Text("\n").join(lines)
    text.no_wrap = True  # on a terminal that is too narrow, boards are cut off rather than broken
    return text


def clocks_text(clocks: dict[chess.Color, float]) -> str:
    """Return what both sides have left on their clocks."""
    return "   ".join(
        f"{'White' if color else 'Black'} {clock_text(clocks[color])}" for color in chess.COLORS if color in clocks
    )
