"""Kernels that draw actions, with random numbers made by counting: the same on every platform.

A random number is a mix of the game's seed, the game's place in the batch and the count of its numbers so far, all in
integers of 64 bits. Weights are made out of logits by additions and multiplications of IEEE doubles alone, and rounded
to integers: the same bits of logits give the same draws on every platform. A network's logits may differ between two
platforms, and their draws with them.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from .jit import kernel, lowest, popcount
from .layout import DRAWS, MOVES, OVER, PASS, PHASE, PLANES, SEED, SENSES, SKIP, TO_MOVE, TO_SENSE
from .rules import ONE, ZERO, Numbers, U, Words

Actions = NDArray[np.int64]
Flags = NDArray[np.bool_]
Logits = NDArray[np.float32]

_GOLDEN = U(0x9E3779B97F4A7C15)
_LOW = U(0xFFFFFFFF)
_HALF = U(32)
_LOG2_E = 1.4426950408889634
#: Actions less probable than the best by this power of two are never drawn.
_BITS = 40
_LOG_2 = 0.6931471805599453
#: The terms of the series of 2**x, whose error is below 2**-40 for x from 0 to 1.
_TERMS = 14


def _series() -> Iterator[float]:
    term = 1.0
    for power in range(1, _TERMS + 1):
        yield term
        term = term * _LOG_2 / power


_SERIES = np.array(list(_series()))


#: Planes are counted by groups of so many.
_GROUP = 8
GROUPS = -(-PLANES // _GROUP)


@kernel()
def mixed(word: np.uint64) -> np.uint64:
    """Return a number that looks random, another one for each word (SplitMix64's)."""
    word = (word ^ (word >> U(30))) * U(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> U(27))) * U(0x94D049BB133111EB)
    return word ^ (word >> U(31))


@kernel()
def _scaled(word: np.uint64, limit: np.uint64) -> np.uint64:
    """Return the upper half of the product of 128 bits."""
    low, high = (word & _LOW) * (limit & _LOW), (word >> _HALF) * (limit >> _HALF)
    one, other = (word >> _HALF) * (limit & _LOW), (word & _LOW) * (limit >> _HALF)
    carry = ((low >> _HALF) + (one & _LOW) + (other & _LOW)) >> _HALF
    return high + (one >> _HALF) + (other >> _HALF) + carry


@kernel()
def drawn(state: Words, game: int, limit: np.uint64) -> np.uint64:
    """Draw the game's next number below a limit, of which it is at most 2**-64 from fair."""
    state[game, DRAWS] += ONE
    key = mixed(state[game, SEED] + _GOLDEN * U(game + 1))
    return _scaled(mixed(key ^ mixed(state[game, DRAWS] * _GOLDEN)), limit)


@kernel()
def _weight(below: float) -> np.uint64:
    """Return 2**40 * exp(-below) for the distance of a logit from the largest, rounded down."""
    power = below * _LOG2_E
    if not 0.0 <= power < _BITS:  # it is below 0 or nan where somebody has changed the logits meanwhile
        return ZERO
    whole = int(power)
    rest = 1.0 - (power - whole)  # 2**-power is 2**(rest - whole - 1)
    value = 0.0
    for term in range(_TERMS - 1, -1, -1):
        value = value * rest + _SERIES[term]
    return U(value * 1099511627776.0) >> U(whole + 1)


@kernel()
def _count_moves(planes: Words, game: int, totals: NDArray[np.uint64]) -> np.uint64:
    """Return how many moves are legal, and write how many there are up to the end of each group of planes."""
    total = ZERO
    for group in range(GROUPS):
        for plane in range(_GROUP * group, min(_GROUP * group + _GROUP, PLANES)):
            total += popcount(planes[game, plane])
        totals[group] = total
    return total


@kernel()
def _nth_move(planes: Words, game: int, number: np.uint64, totals: NDArray[np.uint64]) -> int:
    """Return a move by its place among the legal ones, after which comes the pass.

    It counts the groups and planes before the move instead of stopping there: no processor predicts where.
    """
    group = 0
    for each in range(GROUPS):
        group += totals[each] <= number
    if group == GROUPS:
        return PASS
    total = totals[group - 1] if group else ZERO
    plane, before = _GROUP * group, total
    for each in range(_GROUP):
        total += popcount(planes[game, min(_GROUP * group + each, PLANES - 1)])
        plane += total <= number
        before = total if total <= number else before
    bits = planes[game, plane]
    for _ in range(number - before):
        bits &= bits - ONE
    return 64 * plane + int(lowest(bits))


@kernel()
def _idle(phase: int, acts: bool, drawn_in: int) -> int:
    """Return the action of a game that draws none: one that it ignores or SKIP.

    :param acts: whether the game was asked to draw.
    :param drawn_in: the phase in which actions are drawn.
    """
    if not acts or phase in (TO_SENSE, TO_MOVE):
        return SKIP
    if drawn_in == TO_MOVE:
        return PASS
    return 0 if phase == OVER else SKIP


@kernel("void(uint64[:, ::1], int32[:, ::1], uint64[:, ::1], boolean[::1], uint64[::1], int64[::1])")
def draw_moves(
    state: Words, numbers: Numbers, planes: Words, games: Flags, totals: NDArray[np.uint64], actions: Actions
) -> None:
    """Draw a move for each of these games that is to move, each legal one and the pass with the same probability.

    :param games: which games draw; the others get SKIP.
    :param totals: a place to work, (GROUPS,).
    """
    for game in range(actions.size):
        phase = numbers[game, PHASE]
        if phase != TO_MOVE or not games[game]:
            actions[game] = _idle(phase, games[game], TO_MOVE)
            continue
        count = _count_moves(planes, game, totals) + ONE
        actions[game] = _nth_move(planes, game, drawn(state, game, count), totals)


@kernel("void(uint64[:, ::1], int32[:, ::1], boolean[::1], int64[::1])")
def draw_senses(state: Words, numbers: Numbers, games: Flags, actions: Actions) -> None:
    """Draw one of the 64 squares for each of these games that is to sense."""
    for game in range(actions.size):
        phase = numbers[game, PHASE]
        if phase == TO_SENSE and games[game]:
            actions[game] = int(drawn(state, game, U(64)))
        else:
            actions[game] = _idle(phase, games[game], TO_SENSE)


@kernel("void(uint64[::1], int32[:, ::1], uint64[:, ::1], boolean[::1], uint64[::1], int64[::1])")
def draw_legal(
    words: NDArray[np.uint64],
    numbers: Numbers,
    planes: Words,
    closed: Flags,
    totals: NDArray[np.uint64],
    actions: Actions,
) -> None:
    """Draw from the actions that :func:`.observing.draw_action_masks` writes, all alike, by a random word for each."""
    for game in range(actions.size):
        phase = numbers[game, PHASE]
        if phase == TO_SENSE and not closed[game]:
            actions[game] = MOVES + int(_scaled(words[game], U(SENSES)))
        elif phase == TO_MOVE and not closed[game]:
            count = _count_moves(planes, game, totals) + ONE
            actions[game] = _nth_move(planes, game, _scaled(words[game], count), totals)
        else:
            actions[game] = PASS


@kernel()
def _drawn_by(state: Words, game: int, logits: Logits, legal: Actions, weights: Words) -> int:
    """Draw one of the actions; return -1 if a logit is not a number or infinite, or all are minus infinity."""
    largest = -np.inf
    for index in range(legal.size):
        logit = logits[game, legal[index]]
        if np.isnan(logit):
            return -1
        largest = max(largest, logit)
    if not np.isfinite(largest):
        return -1
    total = ZERO
    for index in range(legal.size):
        weights[index] = _weight(float(largest) - float(logits[game, legal[index]]))
        total += weights[index]
    left = drawn(state, game, total)
    index = 0
    while index < legal.size - 1 and left >= weights[index]:
        left -= weights[index]
        index += 1
    return legal[index]


@kernel(
    "int64(uint64[:, ::1], int32[:, ::1], uint64[:, ::1], boolean[::1], Array(float32, 2, 'C', readonly=True),"
    " int64[::1], int64[::1], uint64[::1])"
)
def draw_moves_by(
    state: Words,
    numbers: Numbers,
    planes: Words,
    games: Flags,
    logits: Logits,
    actions: Actions,
    legal: Actions,
    weights: Words,
) -> int:
    """Draw a legal move by its logit for each game that is to move; return the first game with unusable logits.

    :param legal: a place to work, (MOVES,).
    :param weights: the same.
    """
    for game in range(actions.size):
        phase = numbers[game, PHASE]
        if phase != TO_MOVE or not games[game]:
            actions[game] = _idle(phase, games[game], TO_MOVE)
            continue
        count = 0
        for plane in range(PLANES):
            bits = planes[game, plane]
            while bits:
                legal[count] = 64 * plane + int(lowest(bits))
                bits &= bits - ONE
                count += 1
        legal[count] = PASS
        chosen = _drawn_by(state, game, logits, legal[: count + 1], weights)
        if chosen < 0:
            return game
        actions[game] = chosen
    return -1


@kernel(
    "int64(uint64[:, ::1], int32[:, ::1], boolean[::1], Array(float32, 2, 'C', readonly=True), int64[::1], int64[::1],"
    " uint64[::1])"
)
def draw_senses_by(
    state: Words,
    numbers: Numbers,
    games: Flags,
    logits: Logits,
    actions: Actions,
    legal: Actions,
    weights: Words,
) -> int:
    """Draw a sense by its logit for each game that is to sense; return the first game with unusable logits.

    :param legal: a place to work, (SENSES,) at the least.
    :param weights: the same.
    """
    for sense in range(logits.shape[1]):
        legal[sense] = sense
    for game in range(actions.size):
        phase = numbers[game, PHASE]
        if phase != TO_SENSE or not games[game]:
            actions[game] = _idle(phase, games[game], TO_SENSE)
            continue
        chosen = _drawn_by(state, game, logits, legal[: logits.shape[1]], weights)
        if chosen < 0:
            return game
        actions[game] = chosen
    return -1
