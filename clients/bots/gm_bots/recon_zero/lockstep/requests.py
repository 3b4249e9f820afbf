"""Kernels of an opponent's requests: what tells likely ones from unlikely ones, and their probabilities.

A request's probability is that of a conditional logit: the exponential of the sum of its features, each times a
coefficient, as a share of all requests' (McFadden, "Conditional logit analysis of qualitative choice behavior", 1974).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from gm_env.kernels.jit import lowest
from gm_env.kernels.layout import EN_PASSANT, KING, NONE, NUMBERS, OPPONENT, PASS, PAWN, QUEEN, STATE
from gm_env.kernels.rules import Words, push, resolve

from .attacks import attackers_of_own
from .compiled import kernel
from .judging import kind_at, worth_at
from .trees import Trees

Features = NDArray[np.float64]

#: The features of a request, in this order. Values of pieces and squares are in pawns, by the engine ``minimax``.
FEATURES = (
    "evaluator",  # the logarithm of the evaluator's probability
    "refused",  # whether the board refuses it, so that the player passes
    "pass",  # whether it is a pass
    "takes",  # the value of the piece that it captures, other than the king, or of the queen that a pawn becomes
    "king",  # whether it captures the king
    "square",  # by how much the piece stands better on its new square
    "attacks",  # whether the other king is attacked after it
    "risks",  # the value of the piece, if its new square was attacked
    "saves",  # the value of the piece, if its old square was attacked
)
(_EVALUATOR, _REFUSED, _PASS, _TAKES, _KING, _SQUARE, _ATTACKS, _RISKS, _SAVES) = range(len(FEATURES))
#: The least probability of the evaluator's that counts, and the largest value of a piece, that of a king.
_LEAST, _MOST = 1e-4, 10.0
#: The largest sum of a request's features, times their coefficients.
_LARGEST = 300.0


@kernel
def describe(trees: Trees, node: int, edge: int, state: Words, numbers: NDArray[np.int32], found: Features) -> None:
    """Write the features of a request.

    :param state: (1, 15), overwritten.
    :param numbers: (1, 11), overwritten.
    :param found: (features,).
    """
    found[:] = 0.0
    found[_EVALUATOR] = math.log(max(trees.prior[edge], _LEAST))
    action = int(trees.action[edge])
    if action == PASS:
        found[_PASS] = 1.0
        return
    taken, target, captured = resolve(trees.states, node, trees.numbers[node, EN_PASSANT], action)
    if taken == PASS:
        found[_REFUSED] = 1.0
        return
    source = taken & 63
    kind = kind_at(trees.states, node, 0, source)
    if captured != NONE:
        victim = kind_at(trees.states, node, OPPONENT, captured)
        if victim == KING:
            found[_KING] = 1.0
            return
        found[_TAKES] = worth_at(victim, captured, OPPONENT)
    if kind == PAWN and target >= 56:
        found[_TAKES] += worth_at(QUEEN, target, 0) - 1.0
    else:
        found[_SQUARE] = worth_at(kind, target, 0) - worth_at(kind, source, 0)
    worth = _MOST if kind == KING else worth_at(kind, source, 0)
    if attackers_of_own(trees.states, node, target):
        found[_RISKS] = worth
    if attackers_of_own(trees.states, node, source):
        found[_SAVES] = worth
    for column in range(STATE):
        state[0, column] = trees.states[node, column]
    for column in range(NUMBERS):
        numbers[0, column] = trees.numbers[node, column]
    push(state, numbers, 0, taken, target, captured)
    king = state[0, KING]
    found[_ATTACKS] = 1.0 if king and attackers_of_own(state, 0, int(lowest(king))) else 0.0


@kernel
def weigh_requests(trees: Trees, coefficients: Features, doubt: float, shares: Features) -> None:
    """Write the probability of each edge, for each kind of opponent.

    :param coefficients: of the features, (kinds, features).
    :param doubt: the probability of a request at random, of those that the board does not refuse, or a pass.
    :param shares: (edges, kinds), written.
    """
    state, numbers = np.empty((1, STATE), np.uint64), np.empty((1, NUMBERS), np.int32)
    kinds, found = coefficients.shape[0], np.empty(coefficients.shape[1])
    totals = np.empty(kinds)
    for node in range(trees.used[0]):
        begin, end = trees.first[node], trees.first[node] + trees.edges[node]
        totals[:], accepted = 0.0, 0
        for edge in range(begin, end):
            describe(trees, node, edge, state, numbers, found)
            trees.visits[edge] = 0 if found[_REFUSED] else 1
            accepted += trees.visits[edge]
            for kind in range(kinds):
                likely = 0.0
                for feature in range(found.size):
                    likely += found[feature] * coefficients[kind, feature]
                shares[edge, kind] = math.exp(min(likely, _LARGEST))
                totals[kind] += shares[edge, kind]
        for edge in range(begin, end):
            evenly = doubt * trees.visits[edge] / accepted
            for kind in range(kinds):
                shares[edge, kind] = (1 - doubt) * shares[edge, kind] / totals[kind] + evenly


@kernel
def describe_all(trees: Trees, node: int, table: Features) -> None:
    """Write the features of all requests of a node, (edges, features)."""
    state, numbers = np.empty((1, STATE), np.uint64), np.empty((1, NUMBERS), np.int32)
    for index in range(trees.edges[node]):
        describe(trees, node, trees.first[node] + index, state, numbers, table[index])
