"""The choice of a sense: where the belief is least certain, or where most is learnt about the true position.

The most important thing to learn is whether the own king is attacked: a player who misses that loses the game. But it
is at most one bit, and seldom uncertain, so that some corner without importance always has more to learn. So a sense's
information about an attack is added again, times ``alarm``.

Information is worth what it changes. So the positions may be searched before the sense, too: what a sense is worth is
the value of the best move after each of its results, by their probabilities. The move that is best now has a share in
every result: a sense that changes no move is worth nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from chess import Board, Color, Square
from numpy.typing import NDArray

from .belief import Belief
from .positions import Attacked, Channels, Weights, windows

#: The positions whose weight the mean over all has: see :func:`values_of_senses`.
DOUBT = 2.0


def entropy_sense(belief: Belief, squares: Iterable[Square]) -> Square:
    """Return the square whose window has the greatest sum of its squares' entropies; the first of several.

    An uncertainty counts once for each square that it affects: a piece on one of two squares, both within the window,
    counts twice.
    """
    chances = np.where(belief > 0, belief, 1)
    entropies = -(belief * np.log2(chances)).sum(axis=0)
    return max(squares, key=lambda square: _window_sum(entropies, square))


def _window_sum(entropies: NDArray[np.float64], square: Square) -> float:
    rank, file = divmod(square, 8)
    return float(entropies[max(0, rank - 1) : rank + 2, max(0, file - 1) : file + 2].sum())


def attacked_in(boards: Sequence[Board], color: Color) -> Attacked:
    """Return in which positions the opponent attacks the player's king."""
    return np.array([_is_attacked(board, color) for board in boards], bool)


def _is_attacked(board: Board, color: Color) -> bool:
    king = board.king(color)
    return king is not None and board.is_attacked_by(not color, king)


def bits_of_senses(
    channels: Channels, weights: Weights | None = None, attacked: Attacked | None = None, alarm: float = 0.0
) -> dict[Square, float]:
    """Return the expected information of a sense of each square with a whole window; nothing without positions.

    A window clipped at an edge shows nothing that a whole one does not show.

    :param attacked: in which of the positions the player's king is attacked.
    :param alarm: the factor on the information about an attack, which is added to the information in general.
    """
    expected = information(channels, weights) if len(channels) else {}
    if alarm and attacked is not None and 0 < attacked.sum() < len(attacked):
        of_attacks = information_of(attacked, channels, weights)
        expected = {square: bits + alarm * of_attacks[square] for square, bits in expected.items()}
    return expected


def best_of(senses: Mapping[Square, float], squares: Iterable[Square]) -> Square | None:
    """Return the best of some squares, the first of several; None if none of them has a whole window."""
    return max((square for square in squares if square in senses), key=senses.__getitem__, default=None)


def values_of_senses(
    channels: Channels, weights: Weights, values: NDArray[np.float64], doubt: float = DOUBT
) -> dict[Square, float]:
    """Return what the player may expect after a sense of each square: the mean value of the move that is best then.

    :param channels: the positions.
    :param weights: the weight of each.
    :param values: (positions, moves), the value of each move in each position.
    :param doubt: how many positions' weight the mean over all positions has in the mean over those that a sense leaves.
        The values come from short searches: of few positions, the best move's would be too good.
    """
    shares = _shares(channels, weights)
    weighed = shares[:, None] * values
    prior = doubt / len(shares)
    found = {}
    for square, shown in windows(channels).items():
        _, which = np.unique(shown, return_inverse=True)
        chances = np.bincount(which, weights=shares)
        sums = np.zeros((len(chances), values.shape[1]))
        np.add.at(sums, which, weighed)
        means = (sums + prior * weighed.sum(axis=0)) / (chances + prior)[:, None]
        found[square] = float((chances * means.max(axis=1)).sum())
    return found


def information(channels: Channels, weights: Weights | None = None) -> dict[Square, float]:
    """Return the expected information of a sense of each square with a whole window, in bits.

    A sense shows the truth, so its expected information is the entropy of its possible results.
    """
    shares = _shares(channels, weights)
    return {square: _entropy(shown, shares) for square, shown in windows(channels).items()}


def information_of(what: Attacked, channels: Channels, weights: Weights | None = None) -> dict[Square, float]:
    """Return a sense's expected information about one fact, true in some positions and false in others: at most a bit.

    :param what: in which positions the fact is true.
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
