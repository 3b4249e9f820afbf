"""How far a match between two proves that one of them is stronger, and how many games would.

The statements hold for few games, too. Statistics by mean and variance do not: with two games won and two drawn they
give 97.7 %. So a difference is *told* only where an exact test tells it as well. That test is a sign-flip test: between
equal players a pair of games with colours swapped is as likely to come out as its mirror image, so the sum of the
deviations from even is a sum of random signs, whose distribution is known. Without pairs the same holds of games with
alternating colours; there the test is the more careful for White's advantage.

Numbers of games are those of a test of a mean: :data:`POWER` is how often a match of that length tells a difference of
that size. Source: any textbook, such as G. Snedecor and W. Cochran, "Statistical Methods", section 6.14.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import Literal

from .statistics import Sample, likelihood_of_superiority, score_of_elo

#: How sure it must be that one is stronger, before it is told: 97.5 % for either side, 95 % for both.
TELLS = 0.975

#: How sure it must be to be worth saying. Below this a lead says nothing: equal bots are as far apart, too, in more
#: than half of their matches, one way or the other.
WORTH_SAYING = 0.75

#: How often a match of the length that :func:`games_that_tell` gives does tell the difference.
POWER = 0.8

#: Pairs, or games, below which an interval by mean and variance is too narrow to rely on.
FEW = 30

#: Differences that a number of games is given for, in Elo: the largest one that the games so far could not tell.
GOALS = (20.0, 10.0, 5.0, 2.0, 1.0)

Side = Literal["stronger", "weaker"]


def exact_p(sample: Sample) -> float:
    """Return how probable it is that equal players reach at least this score, the one who leads being fixed.

    1 where there are no games, or the score is even.
    """
    small = sample.counts[1] + sample.counts[3] if _paired(sample) else 0
    return sign_flip_p(small, sample.counts[0] + sample.counts[-1], abs(_deviations(sample)))


def sign_flip_p(small: int, large: int, lead: int) -> float:
    """Return how probable it is that the sum of deviations of random signs is at least a lead; 1 without a lead.

    :param small: how many deviations are of 1.
    :param large: how many are of 2.
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


def sureness(sample: Sample) -> float:
    """Return how sure it is that the one who leads is stronger, from 0 to 1.

    The lower of the exact test's and of the likelihood of superiority.
    """
    exact = 1.0 - exact_p(sample)
    likelihood = likelihood_of_superiority(sample)
    return exact if likelihood is None else min(exact, max(likelihood, 1.0 - likelihood))


def sureness_of_differences(differences: Sequence[int], likelihood: float) -> float:
    """Return the same of two who have played others, too.

    :param differences: what one has scored more than the other in games that are alike for both, in half-points from -2
        to 2. Between equal players each is as likely to be the other way round.
    :param likelihood: of superiority, by the mean and the variance of all games.
    """
    small, large = (sum(abs(difference) == size for difference in differences) for size in (1, 2))
    return min(1.0 - sign_flip_p(small, large, sum(differences)), likelihood)


def is_worth_saying(sure: float) -> bool:
    """Return whether so much sureness says anything: whether it is :data:`WORTH_SAYING`."""
    return sure >= WORTH_SAYING - 1e-9


def told(sample: Sample) -> Side | None:
    """Return what the one whose scores they are is; None where the games do not tell."""
    if sample.size == 0 or sureness(sample) < TELLS:
        return None
    return "stronger" if _deviations(sample) > 0 else "weaker"


def cautious_variance(sample: Sample) -> float:
    """Return the variance of an observation's score, each outcome being counted once more than it was seen.

    It is above 0 also where all observations are the same, and tends to the sample's.
    """
    return Sample(tuple(count + 1 for count in sample.counts)).variance


def games_that_tell(sample: Sample, elo: float) -> int:
    """Return how long a match must be, in games, to tell a difference in logistic Elo with :data:`POWER`.

    :param sample: games or pairs that were played, whose variance is taken to be that of those to come.
    """
    standard = NormalDist()
    deviations = standard.inv_cdf(TELLS) + standard.inv_cdf(POWER)
    observations = cautious_variance(sample) * (deviations / (score_of_elo(elo) - 0.5)) ** 2
    return math.ceil(observations) * sample.games_each


def next_goal(sample: Sample) -> tuple[float, int]:
    """Return the largest of :data:`GOALS` that takes more games than were played, and how many more."""
    played = sample.size * sample.games_each
    for elo in GOALS:
        more = games_that_tell(sample, elo) - played
        if more > 0:
            return elo, more
    return GOALS[-1], 0


def _paired(sample: Sample) -> bool:
    return sample.games_each == 2


def _deviations(sample: Sample) -> int:
    """Half-points above even. A game without a pair counts twice, so that all but a pair's 1/2 and 3/2 deviate by 2."""
    middle = len(sample.counts) // 2
    weight = 1 if _paired(sample) else 2
    return weight * sum((index - middle) * count for index, count in enumerate(sample.counts))


def _log_half(number: int, chosen: int) -> float:
    """The logarithm of a binomial probability where each of a number has probability 1/2."""
    ways = math.lgamma(number + 1) - math.lgamma(chosen + 1) - math.lgamma(number - chosen + 1)
    return ways - number * math.log(2.0)


def _tails(number: int) -> list[float]:
    """The probability that at least so many of a number of coins show heads, from 0 to one more than there are."""
    tails = [0.0]
    for heads in range(number, -1, -1):
        tails.append(tails[-1] + math.exp(_log_half(number, heads)))
    return tails[::-1]
