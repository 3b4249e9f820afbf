"""Sequential probability ratio tests: a match that ends as soon as one of two hypotheses is accepted.

The log-likelihood ratio is the generalised one, computed exactly: the maximum likelihood of the observations where the
true strength is elo1, over that where it is elo0, each with the draw ratio and the opening's advantage that make it
most likely. fishtest and fastchess do the same. Sources: M. Van den Bergh, "A Practical Introduction to the GSPRT"
(logistic Elo, section 2), and "Comments on Normalized Elo" (section 4.1); A. Wald, "Sequential Tests of Statistical
Hypotheses", 1945, for the bounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from .evidence import cautious_variance
from .statistics import NELO, Sample, score_of_elo

#: The kind of Elo: the logistic transform of a score, or its mean in units of a game's standard deviation.
Model = Literal["logistic", "normalized"]
Verdict = Literal["H0", "H1"]

#: The count of an outcome that was never seen, as in fishtest: with 0, no distribution with it could be most likely.
UNSEEN = 1e-3

#: The iteration for normalised Elo gains a digit or more in each step, and stops early once it has converged.
MOST_ITERATIONS = 50
STANDS_STILL = 1e-10


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
    model: Model = "logistic"

    def __post_init__(self) -> None:
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
            return lambda elo: with_mean(scores, seen, score_of_elo(elo))
        unit = math.sqrt(sample.games_each) / NELO
        return lambda elo: with_mean_in_deviations(scores, seen, elo * unit)


def with_mean(scores: Sequence[float], seen: Sequence[float], mean: float) -> list[float]:
    """Return the distribution with a given mean that makes the observations most likely.

    :param seen: the frequency of each score, all above 0.
    """
    return _orthogonal([score - mean for score in scores], seen)


def with_mean_in_deviations(scores: Sequence[float], seen: Sequence[float], t: float) -> list[float]:
    """Return the most likely distribution whose mean is ``t`` of its own standard deviations above 1/2.

    That constraint is not linear. It is linearised at the latest distribution, beginning with the uniform one, until
    the distribution no longer changes.
    """
    found = [1.0 / len(scores)] * len(scores)
    for _ in range(MOST_ITERATIONS):
        mean = sum(p * score for p, score in zip(found, scores, strict=True))
        deviation = math.sqrt(sum(p * (score - mean) ** 2 for p, score in zip(found, scores, strict=True)))
        values = [s - 0.5 - t * deviation * (1.0 + ((s - mean) / deviation) ** 2) / 2.0 for s in scores]
        before, found = found, _orthogonal(values, seen)
        if max(abs(p - q) for p, q in zip(before, found, strict=True)) < STANDS_STILL:
            break
    return found


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
        if abs(step - x) <= 1e-12 * max(1.0, abs(x)):
            break
        x = step
    return [p / (1.0 + x * value) for value, p in zip(values, seen, strict=True)]
