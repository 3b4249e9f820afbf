"""Sequential probability ratio tests: a match that ends as soon as one of two hypotheses is accepted.

The log-likelihood ratio is the generalised one, computed exactly: the maximum likelihood of the observations where the
true strength is elo1, over that where it is elo0, each with the draw ratio and the opening's advantage that make it
most likely. fishtest and fastchess do the same. Sources: M. Van den Bergh, "A Practical Introduction to the GSPRT"
(logistic Elo, section 2), and "Comments on Normalized Elo"; A. Wald, "Sequential Tests of Statistical Hypotheses",
1945, for the bounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from .statistics import NELO, Sample, cautious_variance, score_of_elo

#: The kind of Elo: the logistic transform of a score, or its mean in units of a game's standard deviation.
Model = Literal["logistic", "normalized"]
Verdict = Literal["H0", "H1"]

#: The count of an outcome that was never seen, as in fishtest: with 0, no distribution with it could be most likely.
UNSEEN = 1e-3

#: The largest Elo of a hypothesis, either way: a larger one is a slip, and its probabilities are no numbers.
MOST_ELO = 10_000.0


@dataclass(frozen=True)
class Sprt:
    """A test of elo0 against elo1.

    :ivar alpha: the probability of accepting elo1 where elo0 holds.
    :ivar beta: the probability of accepting elo0 where elo1 holds.
    """

    elo0: float
    elo1: float
    alpha: float = 0.05
    beta: float = 0.05
    model: Model = "normalized"

    def __post_init__(self) -> None:
        for name, elo in (("elo0", self.elo0), ("elo1", self.elo1)):
            if not abs(elo) <= MOST_ELO:  # nor is nan
                raise ValueError(f"{name}={elo:g} is not from {-MOST_ELO:g} to {MOST_ELO:g}")
        if not self.elo0 < self.elo1:
            raise ValueError(f"elo0={self.elo0:g} is not below elo1={self.elo1:g}")
        for name, value in (("alpha", self.alpha), ("beta", self.beta)):
            if not 0.0 < value < 0.5:
                raise ValueError(f"{name}={value:g} is not between 0 and 0.5")
        if self.model not in ("logistic", "normalized"):
            raise ValueError(f"model={self.model} is neither logistic nor normalized")

    @property
    def lower(self) -> float:
        """The log-likelihood ratio at or below which elo0 is accepted."""
        return math.log(self.beta / (1.0 - self.alpha))

    @property
    def upper(self) -> float:
        """The log-likelihood ratio at or above which elo1 is accepted."""
        return math.log((1.0 - self.beta) / self.alpha)

    def llr(self, sample: Sample) -> float:
        """Return the log-likelihood ratio of elo1 over elo0; 0 without observations."""
        if sample.size == 0:
            return 0.0
        counts = [count or UNSEEN for count in sample.counts]
        total = sum(counts)
        seen = [count / total for count in counts]
        most_likely = self._most_likely(sample, seen)
        under0, under1 = most_likely(self.elo0), most_likely(self.elo1)
        return total * sum(p * math.log(p1 / p0) for p, p0, p1 in zip(seen, under0, under1, strict=True))

    def verdict(self, sample: Sample) -> Verdict | None:
        """Return the hypothesis accepted, or None."""
        llr = self.llr(sample)
        return "H1" if llr >= self.upper else "H0" if llr <= self.lower else None

    def games_left(self, sample: Sample) -> int:
        """Return how many more games the test takes on average where that is longest: between elo0 and elo1.

        The ratio is then a random walk without drift. Its expected time to leave an interval is the product of the
        distances to the ends, in steps of variance 1.
        """
        deviation = math.sqrt(cautious_variance(sample))
        if self.model == "logistic":
            apart = (score_of_elo(self.elo1) - score_of_elo(self.elo0)) / deviation
        else:
            apart = (self.elo1 - self.elo0) * math.sqrt(sample.games_each) / NELO
        llr = self.llr(sample)
        steps = max(0.0, llr - self.lower) * max(0.0, self.upper - llr) / apart**2
        return math.ceil(steps) * sample.games_each

    def _most_likely(self, sample: Sample, seen: Sequence[float]) -> Callable[[float], list[float]]:
        """Return the function from a strength to its most likely distribution."""
        scores = sample.scores
        if self.model == "logistic":
            return lambda elo: (  # of a score next to 1 the distance to 1 would be lost, so both sides are exchanged
                with_mean(scores, seen[::-1], score_of_elo(-elo))[::-1]
                if elo > 0.0
                else with_mean(scores, seen, score_of_elo(elo))
            )
        unit = math.sqrt(sample.games_each) / NELO
        return lambda elo: with_mean_in_deviations(scores, seen, elo * unit)


# --- The most likely distribution of scores at a strength --------------------------------------------------------


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
