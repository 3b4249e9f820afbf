"""The choice of a sense: where most is learnt about the true position.

The most important thing to learn is whether the own king is attacked: a player who misses that loses the game. But it
is at most one bit, and seldom uncertain, so that some corner without importance always has more to learn. So a sense's
information about an attack is added again, times ``alarm``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import chess
import numpy as np
from chess import Color, Square
from numpy.typing import NDArray

from gm_env.kernels.rules import Words

from .lockstep.candidates import Attacked, pieces_on
from .lockstep.trees import Weights

#: The probabilities of the opponent's pieces, shape (7, 8, 8): a channel for each kind from pawn to king and one for
#: none of these, rank, and file of the true board. Every square sums to 1.
Belief = NDArray[np.float64]
#: For each position and square, a channel of the belief: (positions, 64).
Channels = NDArray[np.uint8]

CHANNELS = 7
#: The channel of a square without a piece of the opponent's.
EMPTY = 6


def channels_of(states: Words, color: Color) -> Channels:
    """Return the opponent's piece on each square of the true board, in each of the positions.

    :param states: the positions as in :mod:`gm_env`, the player to move.
    """
    seen = ((pieces_on(states) + EMPTY) % CHANNELS).astype(np.uint8).reshape(-1, 8, 8)
    return (seen if color else seen[:, ::-1]).reshape(-1, 64)


def belief_of(channels: Channels, weights: Weights) -> Belief:
    """Return how often each square holds which piece, over at least one position."""
    shares = weights / weights.sum()
    belief = np.stack([shares @ (channels == channel) for channel in range(CHANNELS)])
    belief /= belief.sum(axis=0)
    return belief.reshape(CHANNELS, 8, 8)


def bits_of_senses(channels: Channels, weights: Weights, attacked: Attacked, alarm: float) -> dict[Square, float]:
    """Return the expected information of a sense of each square with a whole window, over at least one position.

    A window clipped at an edge shows nothing that a whole one does not show.

    :param attacked: in which of the positions the player's king is attacked.
    :param alarm: the factor on the information about an attack, which is added to the information in general.
    """
    expected = information(channels, weights)
    if alarm and 0 < attacked.sum() < len(attacked):
        of_attacks = information_of(attacked, channels, weights)
        expected = {square: bits + alarm * of_attacks[square] for square, bits in expected.items()}
    return expected


def best_of(senses: Mapping[Square, float], squares: Iterable[Square]) -> Square | None:
    """Return the best of some squares, the first of several; None if none of them has a whole window."""
    return max((square for square in squares if square in senses), key=senses.__getitem__, default=None)


def information(channels: Channels, weights: Weights) -> dict[Square, float]:
    """Return the expected information of a sense of each square with a whole window, in bits.

    A sense shows the truth, so its expected information is the entropy of its possible results.
    """
    shares = weights / weights.sum()
    return {square: _entropy(shown, shares) for square, shown in _windows(channels).items()}


def information_of(what: Attacked, channels: Channels, weights: Weights) -> dict[Square, float]:
    """Return a sense's expected information about one fact, true in some positions and false in others: at most a bit.

    :param what: in which positions the fact is true.
    """
    shares = weights / weights.sum()
    whole = _entropy(what, shares)
    return {
        square: whole + _entropy(shown, shares) - _entropy(2 * shown + what, shares)
        for square, shown in _windows(channels).items()
    }


def _windows(channels: Channels) -> dict[Square, NDArray[np.int64]]:
    """Return the result of a sense of each square with a whole window, as a number for each position."""
    grid = channels.reshape(-1, 8, 8).astype(np.int64)
    rows = (grid[:, :, :-2] * CHANNELS + grid[:, :, 1:-1]) * CHANNELS + grid[:, :, 2:]
    shown = (rows[:, :-2] * CHANNELS**3 + rows[:, 1:-1]) * CHANNELS**3 + rows[:, 2:]
    return {chess.square(file + 1, rank + 1): shown[:, rank, file] for rank in range(6) for file in range(6)}


def _entropy(shown: NDArray[np.int64] | Attacked, shares: Weights) -> float:
    _, which = np.unique(shown, return_inverse=True)
    chances = np.bincount(which, weights=shares)
    chances = chances[chances > 0]
    return float(-(chances * np.log2(chances)).sum())
