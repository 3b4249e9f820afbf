"""What a match between two says of their strength: Elo difference, its interval, and the likelihood of superiority.

A match is counts of outcomes. Single games have three: lost, drawn, won. Two games from one opening with colours
swapped, taken as one observation, have five; as an unbalanced opening helps each side once, such pairs scatter less
than games do, and the pentanomial estimate is the sharper for it. Everything below treats both alike: a multinomial
over scores that lie evenly from 0 to 1.

The formulas are those of fastchess (``EloWDL``, ``EloPentanomial``): the mean score and its variance are the sample's,
the interval is the score's by the central limit theorem, taken to Elo at each end; normalised Elo is M. Van den Bergh,
"Normalized Elo", 2020.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

#: Standard deviations to either side that hold 95 % of a normal distribution.
Z_95 = NormalDist().inv_cdf(0.975)

#: Normalised Elo in a unit of (mean - 1/2) / standard deviation of a game.
NELO = 800 / math.log(10)

#: Half-points of a pair of games, by which pairs are counted.
PAIR_OUTCOMES = 5
GAME_OUTCOMES = 3


def elo_of_score(score: float) -> float:
    """The logistic rating difference at which a score is expected; infinite at 0 and 1."""
    if not 0.0 < score < 1.0:
        return math.copysign(math.inf, score - 0.5)
    return 400.0 * math.log10(score / (1.0 - score))


def score_of_elo(elo: float) -> float:
    """The score that is expected at a logistic rating difference."""
    return 1.0 / (1.0 + math.pow(10.0, -elo / 400.0))


@dataclass(frozen=True)
class Interval:
    """An estimate, and the ends of the interval that has the true value in 95 of 100 matches."""

    value: float
    low: float
    high: float

    @property
    def error(self) -> float:
        """Half its width, as it stands behind a ± sign."""
        return (self.high - self.low) / 2.0


@dataclass(frozen=True)
class Sample:
    """Counts of outcomes, by score from the lowest to the highest.

    :ivar counts: three, of games (losses, draws, wins); or five, of pairs of games (0, 1/2, 1, 3/2, 2 points).
    """

    counts: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.counts) not in (GAME_OUTCOMES, PAIR_OUTCOMES):
            raise ValueError(f"counts: {len(self.counts)} outcomes; games have 3, and pairs of games 5")

    @property
    def scores(self) -> tuple[float, ...]:
        """What each outcome is worth, of 1."""
        return tuple(index / (len(self.counts) - 1) for index in range(len(self.counts)))

    @property
    def size(self) -> int:
        """How many games, or pairs, there are."""
        return sum(self.counts)

    @property
    def games_each(self) -> int:
        """How many games an observation has."""
        return (len(self.counts) - 1) // 2

    @property
    def mean(self) -> float:
        """The score, of 1."""
        return sum(score * count for score, count in zip(self.scores, self.counts, strict=True)) / self.size

    @property
    def variance(self) -> float:
        """Of one observation's score."""
        mean = self.mean
        spread = sum(count * (score - mean) ** 2 for score, count in zip(self.scores, self.counts, strict=True))
        return spread / self.size

    @property
    def scatters(self) -> bool:
        """Whether not all observations are the same: only then is there a variance to estimate anything by."""
        return sum(count > 0 for count in self.counts) > 1

    @property
    def deviation(self) -> float:
        """The standard deviation of the mean."""
        return math.sqrt(self.variance / self.size)


def score_interval(games: Sample) -> Interval | None:
    """The share of the points, of 1, with Wilson's interval; None where there are no games.

    E. B. Wilson, "Probable Inference, the Law of Succession, and Statistical Inference", 1927. It says something also
    where all results are the same, and keeps to what there can be near 0 and 1, where the sample's variance says too
    little. It is a binomial's: with draws, by which a score scatters less, it is wider than it need be.
    """
    number = games.size * games.games_each
    if not number:
        return None
    score, squared = games.mean, Z_95**2
    shrunk = 1.0 + squared / number
    middle = (score + squared / (2.0 * number)) / shrunk
    margin = Z_95 * math.sqrt(score * (1.0 - score) / number + squared / (4.0 * number**2)) / shrunk
    return Interval(score, min(score, max(0.0, middle - margin)), max(score, min(1.0, middle + margin)))


def elo_interval(score: Interval) -> Interval:
    """The logistic rating differences at which these scores are expected; infinite at 0 and 1."""
    return Interval(elo_of_score(score.value), elo_of_score(score.low), elo_of_score(score.high))


def elo_difference(sample: Sample) -> Interval | None:
    """How much stronger the one whose scores they are is than the other, in logistic Elo.

    None where nothing can be said of it: there are no games, or all observations are the same, which has no variance
    to estimate an interval from.
    """
    if not sample.scatters:
        return None
    score, margin = sample.mean, Z_95 * sample.deviation
    return Interval(elo_of_score(score), elo_of_score(score - margin), elo_of_score(score + margin))


def normalized_elo(sample: Sample) -> Interval | None:
    """The same in normalised Elo, which says how many games it takes to see the difference, whatever the draws."""
    if not sample.scatters:
        return None
    game_deviation = math.sqrt(sample.games_each * sample.variance)
    score, margin = sample.mean - 0.5, Z_95 * sample.deviation
    value, low, high = (NELO * end / game_deviation for end in (score, score - margin, score + margin))
    return Interval(value, low, high)


def likelihood_of_superiority(sample: Sample) -> float | None:
    """The probability, before anything else is known, that the one whose scores they are is the stronger."""
    if not sample.scatters:
        return None
    return NormalDist().cdf((sample.mean - 0.5) / sample.deviation)
