"""The value of each move over several positions: mostly the mean, with a part of the worst."""

from __future__ import annotations

from collections.abc import Sequence

from .results import Results

#: The share of the positions, by their weights, that counts as the worst.
WORST = 0.1


def values_of(rows: Sequence[Results], weights: Sequence[float], caution: float) -> list[float]:
    """Return the value of each move over the positions, of which there is at least one.

    :param caution: the share of the worst positions' mean in it; the rest is the mean of all.
    """
    return [
        (1 - caution) * _mean(column, weights) + caution * _mean_of_worst(column, weights)
        for column in zip(*rows, strict=True)
    ]


def _mean(results: Sequence[float], weights: Sequence[float]) -> float:
    return sum(result * weight for result, weight in zip(results, weights, strict=True)) / sum(weights)


def _mean_of_worst(results: Sequence[float], weights: Sequence[float]) -> float:
    """Return the mean of the worst results that have a tenth of the weight."""
    room = WORST * sum(weights)
    total = used = 0.0
    for result, weight in sorted(zip(results, weights, strict=True)):
        taken = min(weight, room)
        total += taken * result
        used += taken
        room -= taken
        if room <= 0:
            break
    return total / used
