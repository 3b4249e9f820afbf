"""Kernels of the positions that may be true: as a search takes them, and what each sense would tell.

A sense is worth the information that it is expected to give about the true position: the entropy of its results, since
it shows the truth. The most important thing to learn is whether the own king is attacked: a player who misses that
loses the game. But it is at most one bit, and seldom uncertain, so that some corner without importance always has more
to learn. So a sense's information about an attack is added again, times ``alarm``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gm_env.kernels.jit import lowest, mirrored
from gm_env.kernels.layout import CASTLING, COLOR, EN_PASSANT, FULLMOVES, KING, NONE, NUMBERS, OPPONENT, STATE
from gm_env.kernels.rules import ONE, ZERO, Numbers, U, Words

from .attacks import attackers_of_own
from .compiled import kernel
from .trees import Weights

#: For each position, whether the player's king is attacked.
Attacked = NDArray[np.bool_]

_RANK_1 = U(0xFF)
_A8, _H8 = ONE << U(56), ONE << U(63)
#: The bits of a row's last word (:mod:`gm_env.kernels.expanding`): castling on either side, and files of en passant.
_QUEENSIDE, _KINGSIDE, _EP_BIT = ONE, U(2), 2
#: The square from which a pawn that has made two steps may be captured: on this rank, as the capturing side sees it.
_PASSED = 40
#: Entries of the table of a sense's results: a power of two, at least twice the positions that are examined.
TABLE = 2_048
_INNER = np.array([8 * rank + file for rank in range(1, 7) for file in range(1, 7)], np.int64)
#: The results of a sense by channel; and a multiplier that spreads them over the table.
_CHANNELS = 7
_SPREAD = U(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class Examined:
    """Positions that may be true, with their weights and whether the player's king is attacked there."""

    states: Words
    numbers: Numbers
    weights: Weights
    attacked: Attacked

    @classmethod
    def of(cls, states: Words, numbers: Numbers, weights: Weights) -> Examined:
        """Return positions as in :mod:`gm_env`, the player to move."""
        attacked = np.empty(len(states), np.bool_)
        find_attacked(states, attacked)
        return cls(states, numbers, weights, attacked)

    def chosen(self, which: NDArray[np.int64]) -> Examined:
        """Return some of the positions."""
        return Examined(self.states[which], self.numbers[which], self.weights[which], self.attacked[which])


def examine(rows: Words, weights: Weights, own_state: NDArray[np.uint64], own_numbers: NDArray[np.int32]) -> Examined:
    """Return positions of rows; the other parameters are those of :func:`lay_out`."""
    states, numbers = np.empty((len(rows), STATE), np.uint64), np.empty((len(rows), NUMBERS), np.int32)
    lay_out(rows, own_state, own_numbers, states, numbers)
    return Examined.of(states, numbers, weights)


@kernel
def lay_out(rows: Words, own_state: Words, own_numbers: Numbers, states: Words, numbers: Numbers) -> None:
    """Write positions as a search takes them: the player's own pieces, and the opponent's of each row.

    :param rows: (positions, 4), the opponent's pieces as it sees the board (:mod:`gm_env.kernels.expanding`).
    :param own_state: the row of the game in the batch, of which nothing but the player's own is read.
    :param own_numbers: likewise: its colour, and the number of the move.
    """
    for each in range(rows.shape[0]):
        for column in range(STATE):
            states[each, column] = own_state[column] if column < OPPONENT else ZERO
        for column in range(NUMBERS):
            numbers[each, column] = own_numbers[column] if column in (COLOR, FULLMOVES) else 0
        first, second, third = mirrored(rows[each, 0]), mirrored(rows[each, 1]), mirrored(rows[each, 2])
        states[each, OPPONENT] = first & ~(second | third)
        states[each, OPPONENT + 1] = second & ~(first | third)
        states[each, OPPONENT + 2] = first & second
        states[each, OPPONENT + 3] = third & ~(first | second)
        states[each, OPPONENT + 4] = first & third
        states[each, OPPONENT + 5] = second & third
        rights = rows[each, 3]
        castling = own_state[CASTLING] & _RANK_1
        castling |= _A8 if rights & _QUEENSIDE else ZERO
        castling |= _H8 if rights & _KINGSIDE else ZERO
        states[each, CASTLING] = castling
        passed = rights >> U(_EP_BIT)
        numbers[each, EN_PASSANT] = _PASSED + int(lowest(passed)) if passed else NONE


@kernel
def find_attacked(states: Words, attacked: Attacked) -> None:
    """Write for each position whether the opponent attacks the player's king."""
    for each in range(states.shape[0]):
        king = states[each, KING]
        attacked[each] = king != ZERO and attackers_of_own(states, each, int(lowest(king))) != ZERO


@kernel
def pieces_on(states: Words) -> NDArray[np.int64]:
    """Return the opponent's piece on each square of each position, (positions, 64): 0 for none, 1 to 6 for a kind."""
    channels = np.zeros((states.shape[0], 64), np.int64)
    for each in range(states.shape[0]):
        for kind in range(6):
            pieces = states[each, OPPONENT + kind]
            while pieces:
                channels[each, int(lowest(pieces))] = kind + 1
                pieces &= pieces - ONE
    return channels


@kernel
def value_senses(states: Words, weights: Weights, attacked: Attacked, alarm: float, values: NDArray[np.float64]) -> int:
    """Write what each sense with a whole window is worth, in bits; return the square of the best, the first of several.

    :param values: (64,); other squares get -1.
    """
    count = states.shape[0]
    channels = pieces_on(states)
    total, alarmed = 0.0, 0.0
    for each in range(count):
        total += weights[each]
        alarmed += weights[each] if attacked[each] else 0.0
    whole = _entropy_of(alarmed / total) + _entropy_of(1 - alarmed / total)
    keys = np.empty(TABLE, np.int64)
    sums = np.empty((TABLE, 2))
    for square in range(64):
        values[square] = -1.0
    best = int(_INNER[0])
    for square in _INNER:
        shown, both = _sense(channels, weights, attacked, square, keys, sums, total)
        values[square] = shown + alarm * (whole + shown - both) if 0 < alarmed < total else shown
        if values[square] > values[best]:
            best = int(square)
    return best


@kernel
def _sense(
    channels: NDArray[np.int64],
    weights: Weights,
    attacked: Attacked,
    square: int,
    keys: NDArray[np.int64],
    sums: NDArray[np.float64],
    total: float,
) -> tuple[float, float]:
    """Return the entropy of a sense's results, and of the results together with whether the king is attacked."""
    for entry in range(TABLE):
        keys[entry] = NONE
    for each in range(channels.shape[0]):
        key = np.int64(0)
        for rank in range(-8, 9, 8):
            for file in range(-1, 2):
                key = _CHANNELS * key + channels[each, square + rank + file]
        at = np.int64(U(key) * _SPREAD >> U(53))
        while keys[at] != NONE and keys[at] != key:
            at = (at + 1) & (TABLE - 1)
        if keys[at] == NONE:
            keys[at] = key
            sums[at, 0] = sums[at, 1] = 0.0
        sums[at, int(attacked[each])] += weights[each]
    shown, both = 0.0, 0.0
    for entry in range(TABLE):
        if keys[entry] != NONE:
            safe, alarmed = sums[entry, 0] / total, sums[entry, 1] / total
            shown += _entropy_of(safe + alarmed)
            both += _entropy_of(safe) + _entropy_of(alarmed)
    return shown, both


@kernel
def _entropy_of(chance: float) -> float:
    return -chance * math.log2(chance) if chance > 0 else 0.0
