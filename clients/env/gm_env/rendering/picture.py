"""A game as SVG, drawn by python-chess, and as a picture of it, painted by resvg in some thirty milliseconds."""

from __future__ import annotations

from io import BytesIO

import chess
import chess.svg
import numpy as np
from numpy.typing import NDArray

from .scene import Scene

#: The side of a square and the width of the margin, in pixels.
SQUARE, MARGIN = 54, 18
SIDE = 8 * SQUARE + 2 * MARGIN


def draw_svg(scene: Scene) -> str:
    """Return an SVG document of SIDE by SIDE."""
    fill = {square: "#{:02x}{:02x}{:02x}".format(*scene.color_of(square)) for square in chess.SQUARES}
    return str(chess.svg.board(scene.board, orientation=scene.viewer, fill=fill, size=SIDE))


def paint(scene: Scene) -> NDArray[np.uint8]:
    """Return the board as uint8[SIDE, SIDE, 3]: rows from the top, red, green and blue.

    :raises ModuleNotFoundError: resvg-py or pillow is not installed, which the extra ``env`` brings.
    """
    from PIL import Image  # a batch, and a game without a picture, need neither
    from resvg_py import svg_to_bytes

    drawn = svg_to_bytes(svg_string=draw_svg(scene), skip_system_fonts=True)
    return np.array(Image.open(BytesIO(bytes(drawn))).convert("RGB"))
