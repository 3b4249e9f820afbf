"""The shapes of the pieces, made of discs and polygons.

Coordinates are hundredths of a square's side, from its upper left corner to the right and down.
"""

from __future__ import annotations

from dataclasses import dataclass

import chess
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Disc:
    """A disc by its centre and radius."""

    x: float
    y: float
    radius: float

    def distances(self, x: Floats, y: Floats) -> Floats:
        """Return the distances of points from its edge, negative inside."""
        return np.hypot(x - self.x, y - self.y) - self.radius


@dataclass(frozen=True)
class Polygon:
    """A polygon by its corners."""

    corners: tuple[tuple[float, float], ...]

    def distances(self, x: Floats, y: Floats) -> Floats:
        """Return the distances of points from its edge, negative inside."""
        nearest, inside = np.full(x.shape, np.inf), np.zeros(x.shape, np.bool_)
        for (x1, y1), (x2, y2) in zip(self.corners, self.corners[1:] + self.corners[:1], strict=True):
            along = ((x - x1) * (x2 - x1) + (y - y1) * (y2 - y1)) / ((x2 - x1) ** 2 + (y2 - y1) ** 2)
            along = along.clip(0, 1)
            nearest = np.minimum(nearest, np.hypot(x - x1 - along * (x2 - x1), y - y1 - along * (y2 - y1)))
            if y1 != y2:  # a ray to the right crosses this side
                inside ^= ((y1 > y) != (y2 > y)) & (x < x1 + (y - y1) / (y2 - y1) * (x2 - x1))
        return np.where(inside, -nearest, nearest)


Outlines = tuple[Disc | Polygon, ...]


def _polygon(*numbers: float) -> Polygon:
    return Polygon(tuple(zip(numbers[::2], numbers[1::2], strict=True)))


def _mirrored(*numbers: float) -> Polygon:
    """Return a polygon by the corners of its left half, from the top."""
    left = tuple(zip(numbers[::2], numbers[1::2], strict=True))
    return Polygon(left + tuple((100 - x, y) for x, y in reversed(left) if x != 50))


def distances(shape: Outlines, size: int) -> Floats:
    """Return how far each pixel of a square of ``size`` pixels is from a shape's edge, (size, size).

    They are in hundredths of the square's side, negative inside; an edge within another part of the shape does not
    count there.
    """
    middle = (np.arange(size) + 0.5) * 100 / size
    x, y = np.meshgrid(middle, middle)
    nearest = np.full(x.shape, np.inf)
    for part in shape:
        nearest = np.minimum(nearest, part.distances(x, y))
    return nearest


_BASE = _mirrored(30, 77, 25, 88)
_BAND = _mirrored(32, 72, 31, 75)

#: The shape of each piece, and the details on it. Parts that overlap by more than an outline's width are drawn as one.
PIECES: dict[chess.PieceType, tuple[Outlines, Outlines]] = {
    chess.PAWN: (
        (Disc(50, 33, 13), _mirrored(38, 43, 35, 50, 43, 50, 40, 64, 32, 80), _mirrored(32, 75, 27, 88)),
        (),
    ),
    chess.KNIGHT: (
        (
            _polygon(
                *(36, 80, 38, 68, 51, 53, 43, 54, 35, 60, 29, 65, 20, 61, 19, 54, 25, 43, 33, 33, 36, 24, 39, 13),
                *(48, 21, 60, 26, 70, 38, 75, 54, 75, 80),
            ),
            _BASE,
        ),
        (Disc(38, 37, 3), Disc(24, 56, 1.8), _polygon(55, 29, 64, 40, 68, 54, 68, 66, 65, 54, 60, 41)),
    ),
    chess.BISHOP: (
        (
            Disc(50, 17, 6),
            _mirrored(50, 18, 39, 31, 35, 43, 38, 53, 44, 60),
            _mirrored(40, 55, 36, 66, 43, 66, 40, 74, 35, 81),
            _BASE,
        ),
        (_mirrored(48.3, 31, 48.3, 49), _mirrored(42, 38, 42, 41.4), _BAND),
    ),
    chess.ROOK: (
        (
            _polygon(
                27,
                17,
                37,
                17,
                37,
                25,
                45,
                25,
                45,
                17,
                55,
                17,
                55,
                25,
                63,
                25,
                63,
                17,
                73,
                17,
                73,
                34,
                66,
                43,
                34,
                43,
                27,
                34,
            ),
            _mirrored(36, 38, 34, 81),
            _BASE,
        ),
        (_mirrored(38, 41, 38, 43.5), _mirrored(36, 70, 36, 72.5)),
    ),
    chess.QUEEN: (
        (
            _polygon(31, 80, 19, 33, 34, 52, 35, 22, 45, 48, 50, 18, 55, 48, 65, 22, 66, 52, 81, 33, 69, 80),
            Disc(19, 31, 5.5),
            Disc(35, 20, 5.5),
            Disc(50, 15, 5.5),
            Disc(65, 20, 5.5),
            Disc(81, 31, 5.5),
            _BASE,
        ),
        (_BAND, _mirrored(30.5, 65, 31, 67.5)),
    ),
    chess.KING: (
        (
            _mirrored(46.5, 7, 46.5, 36),
            _mirrored(41, 13, 41, 20),
            Disc(35, 47, 16),
            Disc(65, 47, 16),
            _mirrored(50, 27, 40, 38, 40, 55, 24, 59, 33, 81),
            _BASE,
        ),
        (_BAND, _mirrored(31, 64, 31.5, 66.5)),
    ),
}
