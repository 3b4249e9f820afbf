"""The distribution of scores that makes observations most likely, where the strength is given.

A strength in logistic Elo sets the mean score; one in normalised Elo sets the mean in units of the standard deviation.
Source of both problems: M. Van den Bergh, "Comments on Normalized Elo", section 4.1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

#: Points of an interval between which a change of sign is looked for.
CELLS = 16
#: The most steps from there to the root. Every third one halves the interval, so that it ends at a float's precision.
MOST_STEPS = 150
STANDS_STILL = 1e-13

#: A function from r to the most likely distribution under the constraint that is linear for it, and its q.
_Linear = Callable[[float], tuple[list[float], float]]


def with_mean(scores: Sequence[float], seen: Sequence[float], mean: float) -> list[float]:
    """Return the distribution with a given mean that makes the observations most likely.

    :param seen: the frequency of each score, all above 0.
    """
    return _orthogonal([score - mean for score in scores], seen)


def with_mean_in_deviations(scores: Sequence[float], seen: Sequence[float], t: float) -> list[float]:
    """Return the most likely distribution whose mean is ``t`` of its own standard deviations above 1/2.

    Where y is a score's distance from 1/2, q the root of E[y²], and s = t / √(1 + t²), the constraint is E[y] = s q.
    As q is the least value of (r + E[y²] / r) / 2, at r = q, the solution is also that of the constraint
    E[y - s (r + y² / r) / 2] = 0, linear, for an r that is its solution's q. A large t has several, of which the most
    likely one is meant.

    :param scores: evenly spaced from 0 to 1.
    :param seen: the frequency of each score, all above 0.
    """
    if t == 0.0:
        return with_mean(scores, seen, 0.5)
    if t < 0.0:
        return with_mean_in_deviations(scores, seen[::-1], -t)[::-1]
    distances = [score - 0.5 for score in scores]
    s = t / math.hypot(1.0, t)

    def linear(r: float) -> tuple[list[float], float]:
        found = _orthogonal([y - s * (r + y * y / r) / 2.0 for y in distances], seen)
        return found, math.sqrt(_mean([y * y for y in distances], found))

    intervals = [(low, min(high, 0.5)) for low, high in _intervals(distances, seen, s)]
    found = (each for interval in intervals for each in _own_tangents(linear, *interval))
    return max(found, key=lambda each: _mean([math.log(p) for p in each], seen))


def _intervals(distances: Sequence[float], seen: Sequence[float], s: float) -> Iterator[tuple[float, float]]:
    """Yield the intervals of r between which the linear constraint has a solution, and is one on what was seen."""
    mean, square = _mean(distances, seen), _mean([y * y for y in distances], seen)
    if mean > 0.0 and mean * mean >= s * s * square:  # what was seen is above the constraint, which is then convex
        width = math.sqrt(mean * mean - s * s * square)
        yield s * square / (mean + width), (mean + width) / s
        return
    width = math.sqrt(1.0 - s * s)
    low = high = 0.0
    for y in distances:
        if y <= 0.0:
            continue
        if y * s / (1.0 + width) > high:
            if high:
                yield low, high
            low = y * s / (1.0 + width)
        high = y * (1.0 + width) / s
    yield low, high


def _own_tangents(linear: _Linear, low: float, high: float) -> Iterator[list[float]]:
    """Yield the distributions of which r is the q. At the interval's low end q is above r, at its high end below."""
    points = [low + (high - low) * (cell + 0.5) / CELLS for cell in range(CELLS)]
    above = [True, *(linear(r)[1] > r for r in points), False]
    ends = [low, *points, high]
    for cell in range(CELLS + 1):
        if above[cell] and not above[cell + 1]:
            yield _root(linear, ends[cell], ends[cell + 1])


def _root(linear: _Linear, low: float, high: float) -> list[float]:
    """Return the distribution of which r is the q, between an r that is below its q and one that is above."""
    r = (low + high) / 2.0
    for step in range(MOST_STEPS):
        found, q = linear(r)
        if abs(q - r) <= STANDS_STILL * r:
            break
        low, high = (r, high) if q > r else (low, r)
        r = q if low < q < high and step % 3 else (low + high) / 2.0
    return found


def _mean(values: Sequence[float], weights: Sequence[float]) -> float:
    return sum(value * weight for value, weight in zip(values, weights, strict=True))


def _orthogonal(values: Sequence[float], seen: Sequence[float]) -> list[float]:
    """Return the most likely distribution under which some values, of both signs, have the mean 0.

    By Lagrange it is each frequency over 1 + x value, with the one x at which that mean is 0.
    """
    low, high = -1.0 / max(values), -1.0 / min(values)
    x = 0.0
    while True:
        slope = mean = 0.0
        for value, p in zip(values, seen, strict=True):
            weight = value / (1.0 + x * value)
            mean += p * weight
            slope -= p * weight * weight
        low, high = (x, high) if mean > 0.0 else (low, x)  # the mean falls with x
        step = x - mean / slope
        if not low < step < high:  # Newton's step leaves the bracket of the root
            step = (low + high) / 2.0
        if abs(step - x) <= 1e-15 * max(1.0, abs(x)):
            break
        x = step
    return [p / (1.0 + x * value) for value, p in zip(values, seen, strict=True)]
