"""Sequential probability ratio tests: a match that ends as soon as one of two hypotheses is accepted.

The log-likelihood ratio is the generalised one, computed exactly: the maximum likelihood of the observations where the
true strength is elo1, over that where it is elo0, each with the draw ratio and the opening's advantage that make it
most likely. fishtest and fastchess do the same. Sources: M. Van den Bergh, "A Practical Introduction to the GSPRT"
(logistic Elo, section 2), and "Comments on Normalized Elo"; A. Wald, "Sequential Tests of Statistical Hypotheses",
1945, for the bounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from .evidence import cautious_variance
from .most_likely import with_mean, with_mean_in_deviations
from .statistics import NELO, Sample, score_of_elo

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
