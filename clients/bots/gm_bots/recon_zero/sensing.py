"""Where to sense: where the belief is least certain, or where most is learned of which position is the true one.

Of all that is to be learned, whether the own king is attacked matters most: who does not know it loses the game. But it
is one bit at most, and seldom uncertain, so that there is always more to learn of some corner where it matters to
nobody. So what a sense tells of that is counted again, ``alarm`` times.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from chess import Square
from numpy.typing import NDArray

from .belief import Belief
from .positions import Attacked, Channels, Weights, windows


def entropy_sense(belief: Belief, squares: Iterable[Square]) -> Square:
    """The square whose window has the greatest sum of its squares' entropies; the first of several.

    It counts what is uncertain once for each square that it shows on: a piece that is on one of two squares, both
    within the window, counts twice.
    """
    chances = np.where(belief > 0, belief, 1)
    entropies = -(belief * np.log2(chances)).sum(axis=0)
    return max(squares, key=lambda square: _window_sum(entropies, square))


def _window_sum(entropies: NDArray[np.float64], square: Square) -> float:
    rank, file = divmod(square, 8)
    return float(entropies[max(0, rank - 1) : rank + 2, max(0, file - 1) : file + 2].sum())


def information_sense(
    channels: Channels,
    squares: Iterable[Square],
    weights: Weights | None = None,
    attacked: Attacked | None = None,
    alarm: float = 0.0,
) -> Square | None:
    """The square whose sense is expected to tell most of the position; the first of several.

    :param attacked: in which of the positions the player's king is.
    :param alarm: how many times as much a bit counts that tells whether it is, beside what it tells in any case.
    :returns: None if there is no position, or no square whose window is whole. (What a window shows that is clipped at
        an edge, a whole one shows too.)
    """
    told = information(channels, weights) if len(channels) else {}
    if alarm and attacked is not None and 0 < attacked.sum() < len(attacked):
        of_attacks = information_of(attacked, channels, weights)
        told = {square: bits + alarm * of_attacks[square] for square, bits in told.items()}
    return max((square for square in squares if square in told), key=told.__getitem__, default=None)


def information(channels: Channels, weights: Weights | None = None) -> dict[Square, float]:
    """The bits that a sense of each square whose window is whole is expected to tell.

    A sense shows the truth. So it tells, on average, as much as what it may show is uncertain.
    """
    shares = _shares(channels, weights)
    return {square: _entropy(shown, shares) for square, shown in windows(channels).items()}


def information_of(what: Attacked, channels: Channels, weights: Weights | None = None) -> dict[Square, float]:
    """The bits that it is expected to tell of one thing, true in some positions and false in others: one at most.

    :param what: in which it is true.
    """
    shares = _shares(channels, weights)
    whole = _entropy(what, shares)
    return {
        square: whole + _entropy(shown, shares) - _entropy(2 * shown + what, shares)
        for square, shown in windows(channels).items()
    }


def _shares(channels: Channels, weights: Weights | None) -> Weights:
    return np.full(len(channels), 1 / len(channels)) if weights is None else weights / weights.sum()


def _entropy(shown: NDArray[np.int64] | Attacked, shares: Weights) -> float:
    _, which = np.unique(shown, return_inverse=True)
    chances = np.bincount(which, weights=shares)
    chances = chances[chances > 0]
    return float(-(chances * np.log2(chances)).sum())
