"""Ratings and their uncertainty, computed from all games at once by the Bradley-Terry model.

An entrant of rating r scores 1 / (1 + 10 ** ((s - r) / 400)) points a game against one of rating s, as on the Elo
scale; a draw is half a win. The prior rating of an entrant is normally distributed around :data:`MEAN` with a standard
deviation of :data:`SPREAD`. With the games this becomes a posterior distribution: its most probable value is the
rating, and its standard deviation, by Laplace's approximation the root of the diagonal of the inverse Hessian, is the
deviation. So the rating lies within two deviations of the true one in 19 of 20 cases. Bayeselo and Ordo rate chess
engines in this way.

A version of a bot does not change, so an old game counts as much as a new one, and the order of games does not matter.
So no system that updates ratings game by game is used (Elo, Glicko, TrueSkill): these treat each player's deviation as
independent of the others', and lose information where players with a common opponent share an error. See
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

#: The prior rating and its deviation, before any game; the usual numbers of Glicko.
MEAN, SPREAD = 1500.0, 350.0
#: Points of rating in one unit of the model; one unit of difference multiplies the odds by e.
SCALE = 400 / log(10)
#: The longest step of the ratings, in the model's units: the slope may not hold beyond it.
LONGEST_STEP = 1.0
#: A shorter step than this is the last one: the ratings are then exact beyond the digits shown.
LAST_STEP = 1e-9
#: Ten steps are many already; anchors far from all other ratings take more, one for each unit.
MOST_STEPS = 200

_PRECISION = (SCALE / SPREAD) ** 2  # of the prior, in the model's units


class Rating(Struct, frozen=True):
    """A rating and its standard deviation, which is 0 for an anchor."""

    rating: float = MEAN
    deviation: float = SPREAD

    @property
    def is_anchor(self) -> bool:
        return self.deviation == 0


def estimate(
    opponents: Mapping[Entrant, Mapping[Entrant, Score]], anchors: Mapping[int, float]
) -> Generator[None, None, dict[Entrant, Rating]]:
    """Compute the ratings of all entrants with games. It yields often, so that other tasks can run.

    :param opponents: as :meth:`.record.Record.opponents` returns them; the same counts give the same ratings, to the
        bit, in whatever order they come.
    :param anchors: players with fixed ratings, which hold for all their versions.
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
    """Return the expected points of a game."""
    return 1 / (1 + exp((opponent - rating) / SCALE))


class _Network:
    """The graph of opponents, by number; strengths are in the model's units, relative to :data:`MEAN`.

    :ivar free: the entrants whose ratings are to be found.
    """

    def __init__(self, free: Sequence[Entrant]) -> None:
        self.free = free
        self.strengths = [0.0] * len(free)
        #: For each entrant, its scores against free opponents, and against anchors.
        self._met: list[dict[int, Score]] = []
        self._pinned: list[list[tuple[float, Score]]] = []

    def meet(
        self, opponents: Mapping[Entrant, Mapping[Entrant, Score]], anchors: Mapping[int, float]
    ) -> Generator[None, None, None]:
        """Add all entrants' opponents, in a fixed order, since sums of floats depend on it."""
        number = {entrant: place for place, entrant in enumerate(self.free)}
        for entrant in self.free:
            scores = sorted(opponents[entrant].items())
            self._met.append({number[other]: score for other, score in scores if other in number})
            given = [((anchors[other.player] - MEAN) / SCALE, score) for other, score in scores if other not in number]
            self._pinned.append(given)
            yield

    def settle(self) -> Generator[None, None, None]:
        """Find the most probable strengths by Newton's method: the probability has a single peak."""
        for _ in range(MOST_STEPS):
            slope, curvature = yield from self._look()
            steps = yield from solve(curvature, slope)
            longest = max(map(abs, steps), default=0.0)
            part = min(1.0, LONGEST_STEP / longest) if longest else 0.0
            self.strengths = [mine + part * step for mine, step in zip(self.strengths, steps, strict=True)]
            if longest <= LAST_STEP:
                return

    def deviations(self) -> Generator[None, None, list[float]]:
        """Return the deviations of the present strengths, in the model's units."""
        _, curvature = yield from self._look()
        variances = yield from inverse_diagonal(curvature)
        return [sqrt(variance) for variance in variances]

    def _look(self) -> Generator[None, None, tuple[list[float], Sparse]]:
        """Return the slope of the log-probability, and its curvature, negated."""
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
