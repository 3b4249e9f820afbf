"""A game as SVG, drawn by python-chess."""

from __future__ import annotations

import chess
import chess.svg

from .scene import Scene


def draw_svg(scene: Scene) -> str:
    """Return an SVG document."""
    fill = {square: "#{:02x}{:02x}{:02x}".format(*scene.color_of(square)) for square in chess.SQUARES}
    return str(chess.svg.board(scene.board, orientation=scene.viewer, fill=fill))
