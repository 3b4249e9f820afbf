"""Ratings and their uncertainty out of results: Bradley and Terry's model, all games at once.

An entrant of rating r scores 1 / (1 + 10 ** ((s - r) / 400)) points a game against one of rating s, which is what Elo's
scale says; a draw is half a win. Before its first game an entrant is taken to be one of a population whose ratings are
spread normally around :data:`MEAN` with a standard deviation of :data:`SPREAD`; with its games this becomes its rating,
which is the most probable one, and its deviation, the standard deviation of what it may be besides (Laplace's
approximation: the root of the diagonal of the inverse Hessian). So two deviations either way hold the true rating in 19
of 20 cases. Bayeselo and Ordo rate chess engines so.

A version of a bot does not change, so an old game says as much of it as a new one, and the order of games says nothing.
That is why no system is used that goes from game to game (Elo, Glicko, TrueSkill): those keep a deviation for everybody
as if the others' were independent of it, and say less than there is where all who have met somebody share an error. See
docs/explanation/ratings.md for figures.

White's advantage is not in the model: the matchmaker alternates colours in every pair of players.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from math import exp, log, sqrt

from msgspec import Struct

from .elimination import inverse_diagonal
from .linear import Sparse, solve
from .record import Entrant, Score

#: The rating of one of whom nothing is known, and the deviation of that; Glicko's customary numbers.
MEAN, SPREAD = 1500.0, 350.0
#: Points of rating in one of the model's own units, in which the odds are e to the difference.
SCALE = 400 / log(10)
#: The longest step towards the ratings, in the model's units: a longer one could be out of what the slope holds for.
LONGEST_STEP = 1.0
#: A step that is shorter is the last one, which makes the ratings exact beyond what is shown.
LAST_STEP = 1e-9
#: Ten are many; ratings that are given far from all others take more, a unit each.
MOST_STEPS = 200

_PRECISION = (SCALE / SPREAD) ** 2  # of what is assumed before the first game, in the model's units


class Rating(Struct, frozen=True):
    """A rating, and its standard deviation; 0 where it is pinned."""

    rating: float = MEAN
    deviation: float = SPREAD

    @property
    def is_anchor(self) -> bool:
        return self.deviation == 0


def estimate(
    opponents: Mapping[Entrant, Mapping[Entrant, Score]], anchors: Mapping[int, float]
) -> Generator[None, None, dict[Entrant, Rating]]:
    """The ratings of all who have played. It yields often, for others to run.

    :param opponents: as :meth:`.record.Record.opponents` has them; the same counts give the same numbers, to the bit,
        in whatever order they come.
    :param anchors: players whose ratings are given, all versions of theirs.
    """
    network = _Network(sorted(entrant for entrant in opponents if entrant.player not in anchors))
    yield from network.meet(opponents, anchors)
    yield from network.settle()
    deviations = yield from network.deviations()
    found = {entrant: Rating(anchors[entrant.player], 0.0) for entrant in opponents if entrant.player in anchors}
    for entrant, strength, deviation in zip(network.free, network.strengths, deviations, strict=True):
        found[entrant] = Rating(round(MEAN + SCALE * strength, 2), round(SCALE * deviation, 2))
    return found


def expected(rating: float, opponent: float) -> float:
    """Points a game."""
    return 1 / (1 + exp((opponent - rating) / SCALE))


class _Network:
    """Who has met whom, by numbers; strengths in the model's units, from :data:`MEAN`.

    :ivar free: those whose ratings are to be found.
    """

    def __init__(self, free: Sequence[Entrant]) -> None:
        self.free = free
        self.strengths = [0.0] * len(free)
        #: For each, those it has met whose ratings are to be found, and those whose are given, with its score.
        self._met: list[dict[int, Score]] = []
        self._pinned: list[list[tuple[float, Score]]] = []

    def meet(
        self, opponents: Mapping[Entrant, Mapping[Entrant, Score]], anchors: Mapping[int, float]
    ) -> Generator[None, None, None]:
        """Take in who has met whom: in order, since sums of floats depend on it."""
        number = {entrant: place for place, entrant in enumerate(self.free)}
        for entrant in self.free:
            scores = sorted(opponents[entrant].items())
            self._met.append({number[other]: score for other, score in scores if other in number})
            given = [((anchors[other.player] - MEAN) / SCALE, score) for other, score in scores if other not in number]
            self._pinned.append(given)
            yield

    def settle(self) -> Generator[None, None, None]:
        """Go to the most probable strengths, by Newton's method: what is probable has one peak."""
        for _ in range(MOST_STEPS):
            slope, curvature = yield from self._look()
            steps = yield from solve(curvature, slope)
            longest = max(map(abs, steps), default=0.0)
            part = min(1.0, LONGEST_STEP / longest) if longest else 0.0
            self.strengths = [mine + part * step for mine, step in zip(self.strengths, steps, strict=True)]
            if longest <= LAST_STEP:
                return

    def deviations(self) -> Generator[None, None, list[float]]:
        """Of the strengths as they are, in the model's units."""
        _, curvature = yield from self._look()
        variances = yield from inverse_diagonal(curvature)
        return [sqrt(variance) for variance in variances]

    def _look(self) -> Generator[None, None, tuple[list[float], Sparse]]:
        """The slope of the probability's logarithm, and its curvature, negated."""
        slope: list[float] = []
        diagonal: list[float] = []
        rows: list[dict[int, float]] = []
        for mine, met, pinned in zip(self.strengths, self._met, self._pinned, strict=True):
            up, curve = -mine * _PRECISION, _PRECISION
            row: dict[int, float] = {}
            for other, score in met.items():
                points = 1 / (1 + exp(self.strengths[other] - mine))
                weight = score.games * points * (1 - points)
                up += score.points - score.games * points
                curve += weight
                row[other] = -weight
            for strength, score in pinned:
                points = 1 / (1 + exp(strength - mine))
                up += score.points - score.games * points
                curve += score.games * points * (1 - points)
            slope.append(up)
            diagonal.append(curve)
            rows.append(row)
            yield
        return slope, (diagonal, rows)
