"""A game as plain text."""

from __future__ import annotations

import chess

from .scene import Scene


def write(scene: Scene) -> str:
    """Return the board, the viewer's first rank below, and the caption.

    A ``?`` is a hidden square, a ``.`` an empty one.
    """
    ranks = range(7, -1, -1) if scene.viewer else range(8)
    files = range(8) if scene.viewer else range(7, -1, -1)
    lines = []
    for rank in ranks:
        letters = " ".join(_letter(scene, chess.square(file, rank)) for file in files)
        lines.append(f"{rank + 1} {letters}")
    lines.append("  " + " ".join(chess.FILE_NAMES[file] for file in files))
    return "\n".join([*lines, *scene.caption])


def _letter(scene: Scene, square: chess.Square) -> str:
    if (piece := scene.board.piece_at(square)) is not None:
        return piece.symbol()
    return "?" if square in scene.hidden else "."
