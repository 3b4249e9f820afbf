"""Determinisation: positions to search as if true, drawn from the possible ones or constructed from a belief.

A constructed position is not always one that could have come about, since a belief does not relate squares. But it
agrees with all that is known: it has the belief's certain pieces, some piece on every square that must hold one, no
impossible piece, the player's own pieces, one king, and as many pieces as the opponent has left.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Sequence

import chess
import numpy as np
from chess import Board, Color, Piece, PieceType, Square

from .belief import CHANNELS, EMPTY, Belief
from .knowledge import Knowledge
from .positions import Weights

#: The most pieces of each kind that a side has while none of its pawns has promoted.
INVENTORY = {chess.PAWN: 8, chess.KNIGHT: 2, chess.BISHOP: 2, chess.ROOK: 2, chess.QUEEN: 1, chess.KING: 1}


def determinise(knowledge: Knowledge, count: int, rng: random.Random) -> list[Board]:
    """Return so many positions, the player to move; fewer where fewer are possible, but at least one.

    Possible positions are drawn by how likely they are. Where there is only a belief, the first position takes the
    most likely pieces, and the others are drawn.
    """
    known = knowledge.positions()
    if known:
        return [known[each] for each in draw(knowledge.weights(), count, rng)]
    belief = knowledge.belief()
    seeds = [None, *(np.random.default_rng(rng.getrandbits(64)) for _ in range(count - 1))]
    return [from_belief(belief, knowledge.own, knowledge.color, knowledge.remaining, each) for each in seeds]


def draw(weights: Weights, count: int, rng: random.Random) -> list[int]:
    """Return so many different indexes, drawn by their weights; all where there are no more."""
    # Each has the largest key in proportion to its weight (Efraimidis and Spirakis, in logarithms).
    keys = [math.log(1 - rng.random()) / weight for weight in weights]
    return sorted(range(len(keys)), key=keys.__getitem__, reverse=True)[:count]


def from_belief(
    belief: Belief, own: Board, color: Color, remaining: int, rng: np.random.Generator | None = None
) -> Board:
    """Return a position constructed from a belief, the most likely pieces first.

    :param own: the player's pieces.
    :param remaining: how many pieces the opponent has.
    :param rng: if given, uncertain pieces are drawn by their probabilities instead.
    """
    board = own.copy(stack=False)
    board.turn = color
    pieces = _Pieces(board, not color, remaining)
    order = _order(belief, rng)
    for promoted in (False, True):  # promoted pawns only where nothing else fits
        for square, piece_type in order:
            pieces.place(square, piece_type, promoted or belief[EMPTY, square >> 3, square & 7] <= 0)
    return board


def _order(belief: Belief, rng: np.random.Generator | None) -> Sequence[tuple[Square, PieceType]]:
    """Return pieces with squares: certain ones, the king, those on squares that must hold one, and the rest."""
    flat = belief.reshape(CHANNELS, 64)
    channels, squares = np.nonzero(flat[:EMPTY] > 0)
    chances = flat[channels, squares]
    keys = np.log(chances)
    if rng is not None:
        keys += rng.gumbel(size=len(keys))  # the largest sum belongs to each piece with its probability
    order = np.lexsort((-keys, flat[EMPTY, squares] > 0, channels != chess.KING - 1, chances < 1))
    return [(int(squares[each]), int(channels[each]) + 1) for each in order]


class _Pieces:
    """Pieces that are put on a board one by one, within the limits of their numbers."""

    def __init__(self, board: Board, color: Color, remaining: int) -> None:
        self._board, self._color, self._left = board, color, remaining
        self._counts: Counter[PieceType] = Counter()

    def place(self, square: Square, piece_type: PieceType, promoted: bool) -> None:
        """Put a piece on a square, if it is free and the opponent may have one more of the kind.

        :param promoted: whether the piece may be a promoted pawn.
        """
        has_more = self._counts[piece_type] < INVENTORY[piece_type]
        may = has_more or (promoted and piece_type not in (chess.PAWN, chess.KING))
        if may and self._left and self._board.piece_type_at(square) is None:
            self._board.set_piece_at(square, Piece(piece_type, self._color))
            self._counts[piece_type] += 1
            self._left -= 1
