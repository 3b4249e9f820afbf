"""The probabilities of the opponent's pieces: one distribution over seven channels for each square.

A belief is an array of shape (7, 8, 8), indexed by channel, rank and file of the true board: the opponent's pawn,
knight, bishop, rook, queen and king, and, seventh, none of these. Every square sums to 1 over the channels. A player's
own pieces are known, and count as squares without an opponent's piece.

Squares are assumed to be independent, which they are not: a knight on f6 says nothing here about g8. So a belief may be
wrong in its numbers, but not in what it excludes: every true possibility keeps a probability above zero, however often
the belief is updated. Senses and the results of moves exclude for certain; an opponent's turn excludes nothing that was
possible before, as the opponent may have passed.
"""

from __future__ import annotations

from collections.abc import Iterable

import chess
import numpy as np
from chess import Board, Color, Move, Square
from numpy.typing import NDArray

from gm_recon import Cell

Belief = NDArray[np.float64]

CHANNELS = 7
#: The channel of an empty square. A piece type's channel is one less than its number in python-chess.
EMPTY = 6
#: The least probability of anything possible, so that products of many small numbers never vanish.
LEAST = 1e-6


def certain(board: Board, color: Color) -> Belief:
    """Return the belief of a player who knows the whole board."""
    belief = nothing()
    for square, piece in board.piece_map().items():
        if piece.color != color:
            set_square(belief, square, piece.piece_type - 1)
    return belief


def nothing() -> Belief:
    """Return the belief that the opponent has no pieces."""
    belief = np.zeros((CHANNELS, 8, 8))
    belief[EMPTY] = 1
    return belief


def at(belief: Belief, square: Square) -> Belief:
    """Return the distribution on a square: a writable view of seven numbers."""
    return belief[:, square >> 3, square & 7]


def set_square(belief: Belief, square: Square, channel: int) -> None:
    """Record what is known to stand on a square."""
    at(belief, square)[:] = 0
    at(belief, square)[channel] = 1


def saw(belief: Belief, cells: Iterable[Cell], color: Color) -> None:
    """Record the result of the player's sense."""
    for square, piece in cells:
        hidden = piece is not None and piece.color != color
        set_square(belief, square, piece.piece_type - 1 if piece is not None and hidden else EMPTY)


def player_moved(
    belief: Belief, own: Board, requested: Move | None, taken: Move | None, capture: Square | None
) -> None:
    """Record the result of the player's move.

    :param own: the player's own pieces before the move.
    """
    if taken is not None:
        for square in chess.scan_forward(_crossed(own, taken) | chess.BB_SQUARES[taken.to_square]):
            set_square(belief, square, EMPTY)
    if capture is not None:  # elsewhere, if it was en passant
        set_square(belief, capture, EMPTY)
    if requested is not None and own.piece_type_at(requested.from_square) == chess.PAWN:
        _told_by_pawn(belief, requested, taken)


def _crossed(own: Board, taken: Move) -> chess.Bitboard:
    """Return the squares that a move passes over. A castling king also passes over its rook's path."""
    if own.is_castling(taken):
        rook = taken.to_square + (1 if taken.to_square > taken.from_square else -2)
        return chess.between(taken.from_square, rook)
    return chess.between(taken.from_square, taken.to_square)


def _told_by_pawn(belief: Belief, requested: Move, taken: Move | None) -> None:
    """Record what a pawn's failed move shows: a push was blocked, or a capture had nothing to capture."""
    if taken is not None and taken.to_square == requested.to_square:
        return
    source, wanted = requested.from_square, requested.to_square
    if source & 7 != wanted & 7:
        set_square(belief, wanted, EMPTY)
        return
    path = chess.between(source, wanted)
    _hold(belief, chess.msb(path) if path and taken is None else wanted)


def _hold(belief: Belief, square: Square) -> None:
    """Record that an unknown piece of the opponent's is on a square."""
    column = at(belief, square)
    column[EMPTY] = 0
    if not column.any():  # only if the earlier reports do not belong to one game
        column[:EMPTY] = 1
    column /= column.sum()


def normalise(belief: Belief, possible: NDArray[np.bool_]) -> None:
    """Give everything possible, and nothing else, a probability, and make each square sum to 1."""
    np.maximum(belief, LEAST, out=belief, where=possible)
    belief[~possible] = 0
    belief /= belief.sum(axis=0)
