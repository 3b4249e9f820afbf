"""Statistics of a match between two players: Elo difference, its interval, and the likelihood of superiority.

A match is counts of outcomes. Single games have three: lost, drawn, won. Two games from one opening with colours
swapped, taken as one observation, have five; as an unbalanced opening helps each side once, such pairs vary less than
games do, and the pentanomial estimate is more precise. Everything below treats both alike: as a multinomial
over scores that are evenly spaced from 0 to 1.

The formulas are those of fastchess (``EloWDL``, ``EloPentanomial``): the mean score and its variance are the sample's;
the interval is the score's by the central limit theorem, converted to Elo at each end; normalised Elo is M. Van den
Bergh, "Normalized Elo", 2020.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

#: The standard deviations to either side that contain 95 % of a normal distribution.
Z_95 = NormalDist().inv_cdf(0.975)

#: Normalised Elo per unit of (mean - 1/2) / standard deviation of a game.
NELO = 800 / math.log(10)

#: The number of outcomes of a pair of games, which is counted by its half-points.
PAIR_OUTCOMES = 5
GAME_OUTCOMES = 3


def elo_of_score(score: float) -> float:
    """Return the logistic rating difference at which a score is expected; infinite at 0 and 1."""
    if not 0.0 < score < 1.0:
        return math.copysign(math.inf, score - 0.5)
    return 400.0 * math.log10(score / (1.0 - score))


def score_of_elo(elo: float) -> float:
    """Return the score that is expected at a logistic rating difference."""
    return 1.0 / (1.0 + math.pow(10.0, -elo / 400.0))


@dataclass(frozen=True)
class Interval:
    """An estimate, and the ends of the interval that contains the true value in 95 of 100 matches."""

    value: float
    low: float
    high: float

    @property
    def error(self) -> float:
        """Half the width, as shown after a ± sign."""
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
        """The score of each outcome, from 0 to 1."""
        return tuple(index / (len(self.counts) - 1) for index in range(len(self.counts)))

    @property
    def size(self) -> int:
        """The number of games, or pairs."""
        return sum(self.counts)

    @property
    def games_each(self) -> int:
        """The number of games in an observation."""
        return (len(self.counts) - 1) // 2

    @property
    def mean(self) -> float:
        """The mean score, from 0 to 1."""
        return sum(score * count for score, count in zip(self.scores, self.counts, strict=True)) / self.size

    @property
    def variance(self) -> float:
        """The variance of one observation's score."""
        mean = self.mean
        spread = sum(count * (score - mean) ** 2 for score, count in zip(self.scores, self.counts, strict=True))
        return spread / self.size

    @property
    def scatters(self) -> bool:
        """Whether the observations differ: otherwise there is no variance to estimate anything from."""
        return sum(count > 0 for count in self.counts) > 1

    @property
    def deviation(self) -> float:
        """The standard deviation of the mean."""
        return math.sqrt(self.variance / self.size)


def score_interval(games: Sample) -> Interval | None:
    """Return the score, from 0 to 1, with Wilson's interval; None without games.

    E. B. Wilson, "Probable Inference, the Law of Succession, and Statistical Inference", 1927. It is defined even where
    all results are the same, and stays within 0 and 1, near which the sample's variance gives too narrow an interval.
    It is a binomial's: with draws, which reduce the variance of a score, it is wider than necessary.
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
    """Return the logistic rating differences at which these scores are expected; infinite at 0 and 1."""
    return Interval(elo_of_score(score.value), elo_of_score(score.low), elo_of_score(score.high))


def elo_difference(sample: Sample) -> Interval | None:
    """Return by how much the player with these scores is stronger than the other, in logistic Elo.

    None without an estimate: there are no games, or all observations are the same, so that there is no variance to
    estimate an interval from.
    """
    if not sample.scatters:
        return None
    score, margin = sample.mean, Z_95 * sample.deviation
    return Interval(elo_of_score(score), elo_of_score(score - margin), elo_of_score(score + margin))


def normalized_elo(sample: Sample) -> Interval | None:
    """Return the difference in normalised Elo, which sets the games needed to show it, whatever the draws."""
    if not sample.scatters:
        return None
    game_deviation = math.sqrt(sample.games_each * sample.variance)
    score, margin = sample.mean - 0.5, Z_95 * sample.deviation
    value, low, high = (NELO * end / game_deviation for end in (score, score - margin, score + margin))
    return Interval(value, low, high)


def likelihood_of_superiority(sample: Sample) -> float | None:
    """Return the probability, without prior knowledge, that the player with these scores is the stronger."""
    if not sample.scatters:
        return None
    return NormalDist().cdf((sample.mean - 0.5) / sample.deviation)
