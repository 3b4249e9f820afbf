"""The evaluation of positions for the search: the probability of each move, and the value of the position.

A network may provide it (:mod:`.network_judge`), or this module, which has learnt nothing: material and squares as the
engine ``minimax`` evaluates them, and captures first. It lets the bot play without a checkpoint, and a network must
beat it.
"""

from __future__ import annotations

import math
from typing import Literal, Protocol

import chess
import numpy as np
from numpy.typing import NDArray

from gm_bots.minimax.evaluation import KING_WORTH, MATERIAL, WORTH
from gm_env.actions import FROM_TO_BY_PLANES
from gm_env.kernels.jit import lowest, popcount
from gm_env.kernels.layout import BISHOP, KNIGHT, NONE, OPPONENT, PASS, PAWN, QUEEN, ROOK
from gm_env.kernels.rules import ONE, U, Words

from .compiled import kernel
from .trees import Indexes, Trees

Values = NDArray[np.float64]
#: The numbers that a network computes with.
Precision = Literal["float32", "bfloat16"]

#: The hundredths of a pawn that are worth three quarters of a game, which is about a tanh of 1. In blind chess that is
#: six times as many as in chess, since kings fall to unseen attacks. Of the numbers tried, from 200 to 8,000, this one
#: predicted best how 360 games ended between players that evaluate with this module.
SCALE = 2400.0
#: What a capture adds to the logarithm of a move's probability, for each hundredth of a pawn.
EAGERNESS = 1 / 300
#: What a promotion adds to it.
PROMOTION = 2.0


class Judge(Protocol):
    """A function that evaluates nodes of searches, many at a time, which is faster for a network."""

    def __call__(self, trees: Trees, nodes: Indexes) -> Values:
        """Write the probabilities of the nodes' edges; return the nodes' values to the side to move, from -1 to 1."""
        ...


def count_material(trees: Trees, nodes: Indexes) -> Values:
    """Evaluate nodes by material, without anything learnt."""
    values = np.empty(len(nodes))
    _count_material(trees, nodes, values)
    return values


def _worth_of(color: chess.Color, is_end_game: bool) -> NDArray[np.int64]:
    """Return the worth to White of each kind of piece of a colour on each square."""
    rows = [WORTH[piece_type, color] for piece_type in chess.PIECE_TYPES if piece_type != chess.KING]
    return np.array([*rows, KING_WORTH[is_end_game][color]], np.int64)


#: By whether it is an end game, side (the side to move first), kind of piece and square as the side to move sees it.
_WORTH = np.array([[_worth_of(color, late) for color in (chess.WHITE, chess.BLACK)] for late in (False, True)])
#: By column of a position: the hundredths of a pawn that a piece is worth.
_MATERIAL = np.array([MATERIAL[piece_type] for piece_type in chess.PIECE_TYPES], np.float64)
#: The square that a move by planes names as its target.
_TARGETS = (FROM_TO_BY_PLANES.max(axis=0) // 5 % 64).astype(np.int64)


@kernel
def _has_end_game(state: Words, node: int, side: int) -> bool:
    queens = popcount(state[node, side + QUEEN])
    if not queens:
        return True
    minors = popcount(state[node, side + KNIGHT] | state[node, side + BISHOP])
    return not state[node, side + ROOK] and queens == 1 and minors <= 1


@kernel
def _material(state: Words, node: int) -> int:
    late = int(_has_end_game(state, node, 0) and _has_end_game(state, node, OPPONENT))
    total = 0
    for column in range(2 * OPPONENT):
        pieces = state[node, column]
        while pieces:
            total += _WORTH[late, column // OPPONENT, column % OPPONENT, int(lowest(pieces))]
            pieces &= pieces - ONE
    return total


@kernel
def kind_at(state: Words, node: int, first: int, square: int) -> int:
    """Return the kind of a piece of a side, whose first column is given, on a square; NONE for none."""
    for kind in range(6):
        if state[node, first + kind] >> U(square) & ONE:
            return kind
    return NONE


@kernel
def worth_at(kind: int, square: int, first: int) -> float:
    """Return what a piece of a side, whose first column is given, is worth on a square, in pawns.

    The square is as the side to move sees it. A king has the value of its square alone.
    """
    worth = float(_WORTH[0, first // OPPONENT, kind, square]) / 100
    return -worth if first else worth


@kernel
def _eagerness(trees: Trees, node: int, action: int) -> float:
    if action == PASS:
        return -1.0
    plane, source = action >> 6, action & 63
    moving = kind_at(trees.states, node, 0, source)
    target = int(_TARGETS[action])
    eagerness = PROMOTION if moving == PAWN and target >= 56 and plane < 64 else 0.0
    aimed = kind_at(trees.states, node, OPPONENT, target)
    if aimed != NONE:
        eagerness += (_MATERIAL[aimed] - _MATERIAL[moving] / 10) * EAGERNESS
    return eagerness


@kernel
def _count_material(trees: Trees, nodes: Indexes, values: Values) -> None:
    for index in range(nodes.size):
        node = nodes[index]
        values[index] = math.tanh(_material(trees.states, node) / SCALE)
        begin, end = trees.first[node], trees.first[node] + trees.edges[node]
        total = 0.0
        for edge in range(begin, end):
            weight = math.exp(_eagerness(trees, node, int(trees.action[edge])))
            trees.prior[edge] = weight
            total += weight
        for edge in range(begin, end):
            trees.prior[edge] /= total
