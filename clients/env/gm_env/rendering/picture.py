"""A game as a picture, painted with numpy."""

from __future__ import annotations

from functools import cache

import chess
import numpy as np
from numpy.typing import NDArray

from .glyphs import glyph
from .pieces import PIECES, distances
from .scene import Rgb, Scene

#: The side of a square, in pixels.
SQUARE = 56
#: A piece is drawn this many times as large and then reduced, which smooths its edges.
_FINE = 4
#: The width of a piece's outline, in hundredths of a square.
_OUTLINE = 4.0
_WHITE_PIECE, _BLACK_PIECE = ((250, 248, 240), (45, 42, 40)), ((52, 50, 54), (16, 14, 16))
_DETAIL = {chess.WHITE: (45, 42, 40), chess.BLACK: (225, 220, 210)}
_INK = (70, 55, 40)

Picture = NDArray[np.uint8]
#: The share of a pixel that something covers, (SQUARE, SQUARE, 1).
Cover = NDArray[np.float32]


def paint(scene: Scene) -> Picture:
    """Return the board as uint8[448, 448, 3]: rows from the top, red, green and blue."""
    picture = np.empty((8 * SQUARE, 8 * SQUARE, 3), np.uint8)
    for square in chess.SQUARES:
        file, rank = chess.square_file(square), chess.square_rank(square)
        column, row = (file, 7 - rank) if scene.viewer else (7 - file, rank)
        place = picture[row * SQUARE : (row + 1) * SQUARE, column * SQUARE : (column + 1) * SQUARE]
        place[:] = scene.color_of(square)
        if (piece := scene.board.piece_at(square)) is not None:
            _paint_piece(place, piece)
        if row == 7:
            _paint_glyph(place[-13:-3, -9:-3], chess.FILE_NAMES[file])
        if column == 0:
            _paint_glyph(place[3:13, 3:9], chess.RANK_NAMES[rank])
    return picture


def _paint_piece(place: Picture, piece: chess.Piece) -> None:
    fill, edge = _WHITE_PIECE if piece.color else _BLACK_PIECE
    inside, outside, details = _covers(piece.piece_type)
    for cover, color in ((outside, edge), (inside, fill), (details, _DETAIL[piece.color])):
        _blend(place, cover, color)


def _blend(place: Picture, cover: Cover, color: Rgb) -> None:
    place[:] = np.rint(place + cover * (np.array(color, np.float32) - place)).astype(np.uint8)


def _paint_glyph(place: Picture, letter: str) -> None:
    place[glyph(letter).repeat(2, 0).repeat(2, 1)] = _INK


@cache
def _covers(piece_type: chess.PieceType) -> tuple[Cover, Cover, Cover]:
    """Return what a piece's inside, its inside and outline, and its details cover."""
    shape, details = (distances(part, SQUARE * _FINE) for part in PIECES[piece_type])
    return _reduce(shape < -_OUTLINE / 2), _reduce(shape < _OUTLINE / 2), _reduce(details < 0)


def _reduce(fine: NDArray[np.bool_]) -> Cover:
    cover: Cover = fine.reshape(SQUARE, _FINE, SQUARE, _FINE).mean((1, 3), dtype=np.float32)[:, :, None]
    return cover
