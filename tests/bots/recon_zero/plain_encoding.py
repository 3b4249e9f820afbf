"""The network's input and the numbers of moves by python-chess: what the compiled ones must be, too."""

from __future__ import annotations

import chess
import numpy as np
from chess import Board, Color, Move

from gm_bots.recon_zero.lockstep.encoding import Floats

_PROMOTIONS = (None, chess.KNIGHT, chess.BISHOP, chess.ROOK, chess.QUEEN)


def encode(board: Board) -> Floats:
    """Return the planes of a position, (15, 8, 8), as the side to move sees it."""
    seen = board if board.turn else board.mirror()
    planes = np.zeros((15, 8, 8), np.float32)
    planes[12:14] = 1
    for square, piece in seen.piece_map().items():
        planes[piece.piece_type - 1 + (0 if piece.color else 6), square >> 3, square & 7] = 1
        if not piece.color:
            planes[12, square >> 3, square & 7] = 0
    planes[14] = min(2 * board.fullmove_number, 200) / 200
    return planes


def number_of(move: Move | None, color: Color) -> int:
    """Return a move's number by from, to and promotion, as its player sees the board; 0 is a pass."""
    if move is None:
        return 0
    source, target = (square if color else square ^ 56 for square in (move.from_square, move.to_square))
    return 5 * (64 * source + target) + _PROMOTIONS.index(move.promotion)


def move_of(number: int) -> Move:
    """Return White's move of a number that is no pass."""
    squares, promotion = divmod(number, 5)
    return Move(*divmod(squares, 64), _PROMOTIONS[promotion])
