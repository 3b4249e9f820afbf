"""Statistics of a match between two players: Elo, and how strongly the games show that one is stronger.

A match is counts of outcomes. Single games have three: lost, drawn, won. Two games from one opening with colours
swapped, taken as one observation, have five; as an unbalanced opening helps each side once, such pairs vary less than
games do, and the pentanomial estimate is more precise. Everything below treats both alike: as a multinomial
over scores that are evenly spaced from 0 to 1.

The formulas are those of fastchess (``EloWDL``, ``EloPentanomial``): the mean score and its variance are the sample's;
the interval is the score's by the central limit theorem, converted to Elo at each end; normalised Elo is M. Van den
Bergh, "Normalized Elo", 2020.

For few games these do not hold: for two wins and two draws they give 97.7 %. So a difference counts as *shown* only
where an exact test shows it too. That test is a sign-flip test: between equal players a pair of games with colours
swapped is as likely as its mirror image, so the sum of the deviations from even is a sum of random signs, whose
distribution is known. Without pairs the same holds of games with alternating colours; there White's advantage makes the
test more conservative. Numbers of games come from a test of a mean: G. Snedecor and W. Cochran, "Statistical Methods",
section 6.14.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

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


# --- Evidence ----------------------------------------------------------------------------------------------------


#: The confidence from which a difference counts as shown: 97.5 % for either side, 95 % for both.
CONFIDENCE = 0.975

#: The probability that a match of the length that :func:`games_needed` gives shows the difference.
POWER = 0.8

#: Below so many pairs, or games, an interval by mean and variance is too narrow to rely on.
FEW = 30

#: Differences in Elo for which a number of games is given: the largest one that the games so far could not show.
GOALS = (20.0, 10.0, 5.0, 2.0, 1.0)

Side = Literal["stronger", "weaker"]


def exact_p(sample: Sample) -> float:
    """Return the probability that equal players reach at least this score, given which of them leads.

    It is 1 where there are no games or the score is even.
    """
    small = sample.counts[1] + sample.counts[3] if _paired(sample) else 0
    return sign_flip_p(small, sample.counts[0] + sample.counts[-1], abs(_deviations(sample)))


def sign_flip_p(small: int, large: int, lead: int) -> float:
    """Return the probability that a sum of deviations with random signs is at least a lead; 1 without a lead.

    :param small: the number of deviations of size 1.
    :param large: the number of deviations of size 2.
    """
    if lead <= 0:
        return 1.0
    at_least = _tails(small)
    total = 0.0
    for positive in range(large + 1):
        missing = lead - 2 * (2 * positive - large)
        needed = math.ceil((missing + small) / 2)
        total += math.exp(_log_half(large, positive)) * at_least[min(max(needed, 0), small + 1)]
    return min(1.0, total)


def sureness(sample: Sample, exact_of: Sample | None = None) -> float:
    """Return the confidence that the leader is stronger, from 0 to 1.

    It is the lower of the exact test's and the likelihood of superiority.

    :param exact_of: the sample for the exact test, if that is another one.
    """
    exact = 1.0 - exact_p(sample if exact_of is None else exact_of)
    likelihood = likelihood_of_superiority(sample)
    return exact if likelihood is None else min(exact, max(likelihood, 1.0 - likelihood))


def verdict_of(sample: Sample, exact_of: Sample | None = None) -> Side | None:
    """Return whether the player with these scores is stronger or weaker; None where the games do not show it.

    :param exact_of: as of :func:`sureness`.
    """
    if sample.size == 0 or sureness(sample, exact_of) < CONFIDENCE:
        return None
    return "stronger" if _deviations(sample) > 0 else "weaker"


def more_alike(sample: Sample) -> int:
    """Return how many more games won like all of the sample's would show that their winner is stronger."""
    needed = math.ceil(-math.log2(1.0 - CONFIDENCE))  # each observation halves the probability of chance
    return max(0, needed - sample.size) * sample.games_each


def cautious_variance(sample: Sample) -> float:
    """Return the variance of an observation's score, with each outcome counted once more than it was seen.

    It is above 0 even where all observations are the same, and tends to the sample's.
    """
    return Sample(tuple(count + 1 for count in sample.counts)).variance


def games_needed(sample: Sample, elo: float) -> int:
    """Return how many games a match needs to show a difference in logistic Elo with probability :data:`POWER`.

    :param sample: the games or pairs played, whose variance is assumed for those to come.
    """
    standard = NormalDist()
    deviations = standard.inv_cdf(CONFIDENCE) + standard.inv_cdf(POWER)
    observations = cautious_variance(sample) * (deviations / (score_of_elo(elo) - 0.5)) ** 2
    return math.ceil(observations) * sample.games_each


def next_goal(sample: Sample) -> tuple[float, int]:
    """Return the largest of :data:`GOALS` that needs more games than were played, and how many more."""
    played = sample.size * sample.games_each
    for elo in GOALS:
        more = games_needed(sample, elo) - played
        if more > 0:
            return elo, more
    return GOALS[-1], 0


def _paired(sample: Sample) -> bool:
    return sample.games_each == 2


def _deviations(sample: Sample) -> int:
    """Return half-points above even. A game without a pair counts twice, so that all but a pair's 1/2 and 3/2 deviate
    by 2."""
    middle = len(sample.counts) // 2
    weight = 1 if _paired(sample) else 2
    return weight * sum((index - middle) * count for index, count in enumerate(sample.counts))


def _log_half(number: int, chosen: int) -> float:
    """Return the logarithm of a binomial probability at probability 1/2 each."""
    ways = math.lgamma(number + 1) - math.lgamma(chosen + 1) - math.lgamma(number - chosen + 1)
    return ways - number * math.log(2.0)


def _tails(number: int) -> list[float]:
    """Return the probability that at least k of a number of coins show heads, for k from 0 to that number plus 1."""
    tails = [0.0]
    for heads in range(number, -1, -1):
        tails.append(tails[-1] + math.exp(_log_half(number, heads)))
    return tails[::-1]
