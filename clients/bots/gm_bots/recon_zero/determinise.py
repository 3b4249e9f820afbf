"""Positions to take for true: some of those that are possible, or such as are made of a belief.

What a belief makes is not always a position that could have come about, since it says nothing of how squares belong
together. But it has all that is known: what the belief is certain of, on squares certainly held something, on no square
what cannot be there, the player's own pieces, one king, and as many pieces as the opponent has left.
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

#: How many a side has at the most while none of its pawns has promoted.
INVENTORY = {chess.PAWN: 8, chess.KNIGHT: 2, chess.BISHOP: 2, chess.ROOK: 2, chess.QUEEN: 1, chess.KING: 1}


def determinise(knowledge: Knowledge, count: int, rng: random.Random, weights: Weights | None = None) -> list[Board]:
    """So many positions to take for true, the player to move; fewer where fewer are possible, one at least.

    :param weights: how likely each of the knowledge's positions is to be drawn; None if all are alike.

    Where there is but a belief, the first is what it makes of the most likely, and the others are drawn.
    """
    known = knowledge.positions()
    if known:
        shares = weights if weights is not None else np.ones(len(known))
        # The greatest of such keys is each in proportion to its weight (Efraimidis and Spirakis, in logarithms).
        keys = [math.log(1 - rng.random()) / share for share in shares]
        return [known[each] for each in sorted(range(len(known)), key=keys.__getitem__, reverse=True)[:count]]
    belief = knowledge.belief()
    seeds = [None, *(np.random.default_rng(rng.getrandbits(64)) for _ in range(count - 1))]
    return [from_belief(belief, knowledge.own, knowledge.color, knowledge.remaining, each) for each in seeds]


def from_belief(
    belief: Belief, own: Board, color: Color, remaining: int, rng: np.random.Generator | None = None
) -> Board:
    """A position made of a belief, the most likely pieces first.

    :param own: the player's pieces.
    :param remaining: how many pieces the opponent has.
    :param rng: if given, what is not certain is drawn by its probability instead.
    """
    board = own.copy(stack=False)
    board.turn = color
    pieces = _Pieces(board, not color, remaining)
    order = _order(belief, rng)
    for promoted in (False, True):  # of pawns that have become something else only what there is no other way to say
        for square, piece_type in order:
            pieces.place(square, piece_type, promoted or belief[EMPTY, square >> 3, square & 7] <= 0)
    return board


def _order(belief: Belief, rng: np.random.Generator | None) -> Sequence[tuple[Square, PieceType]]:
    """What may stand where: what is certain, the king, what stands where something must, and the rest."""
    flat = belief.reshape(CHANNELS, 64)
    channels, squares = np.nonzero(flat[:EMPTY] > 0)
    chances = flat[channels, squares]
    keys = np.log(chances)
    if rng is not None:
        keys += rng.gumbel(size=len(keys))  # the greatest of such sums is each with its probability
    order = np.lexsort((-keys, flat[EMPTY, squares] > 0, channels != chess.KING - 1, chances < 1))
    return [(int(squares[each]), int(channels[each]) + 1) for each in order]


class _Pieces:
    """Pieces that are put on a board one by one, no more than there are."""

    def __init__(self, board: Board, color: Color, remaining: int) -> None:
        self._board, self._color, self._left = board, color, remaining
        self._counts: Counter[PieceType] = Counter()

    def place(self, square: Square, piece_type: PieceType, promoted: bool) -> None:
        """Put a piece there, if the square is free and the opponent may have one more of the kind.

        :param promoted: whether it may be a pawn that has promoted.
        """
        has_more = self._counts[piece_type] < INVENTORY[piece_type]
        may = has_more or (promoted and piece_type not in (chess.PAWN, chess.KING))
        if may and self._left and self._board.piece_type_at(square) is None:
            self._board.set_piece_at(square, Piece(piece_type, self._color))
            self._counts[piece_type] += 1
            self._left -= 1
