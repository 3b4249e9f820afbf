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

The variances are the diagonal of the inverse of a sparse matrix, by elimination. One row after the other is solved for
its unknown and substituted into its neighbours, which become neighbours of each other. That takes the square of their
number, so the row with the fewest neighbours is next. In reverse order, each row's covariances follow from its
neighbours' (Takahashi's equations). The rows left when all have many neighbours are the core, which is factored as a
full matrix. So a thousand versions abandoned after some games each cost little, and players cannot make ratings
expensive by beginning new versions.

All functions here are generators that yield every millisecond or so, so that the caller can run other tasks.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from heapq import heapify, heappop, heappush
from math import exp, log, sqrt
from operator import mul
from typing import NamedTuple

from msgspec import Struct

from gmd.lobby.results import Entrant, Score

#: A symmetric positive definite matrix: its diagonal, and for each row the other entries that are not 0.
Sparse = tuple[Sequence[float], Sequence[Mapping[int, float]]]

#: Multiplications between two yields: half a millisecond, or longer for a single long row.
WORK_A_STEP = 16_384
#: Entries of a sparse matrix between two yields: each takes several times as long as a multiplication.
LOOKUPS_A_STEP = 4_096
#: The residual at which a solution is accepted, squared and relative: floats allow no smaller one.
RESIDUE = 1e-24


def dot(one: Iterable[float], other: Iterable[float]) -> float:
    """Return the sum of the products, up to the length of the shorter."""
    return sum(map(mul, one, other), 0.0)


def solve(matrix: Sparse, right: Sequence[float]) -> Generator[None, None, list[float]]:
    """Solve ``matrix`` times x = ``right`` by conjugate gradients.

    Each step takes time in proportion to the matrix's entries; few steps are needed where everybody has several
    opponents.
    """
    diagonal, _ = matrix
    solution, rest = [0.0] * len(right), list(right)
    scaled = [value / scale for value, scale in zip(rest, diagonal, strict=True)]
    direction, size = scaled, dot(rest, scaled)
    enough = size * RESIDUE
    for _ in range(10 * len(right)):
        if size <= enough:
            break
        image = yield from _multiply(matrix, direction)
        step = size / dot(direction, image)
        solution = [value + step * d for value, d in zip(solution, direction, strict=True)]
        rest = [value - step * i for value, i in zip(rest, image, strict=True)]
        scaled = [value / scale for value, scale in zip(rest, diagonal, strict=True)]
        before, size = size, dot(rest, scaled)
        direction = [value + size / before * d for value, d in zip(scaled, direction, strict=True)]
    return solution


def _multiply(matrix: Sparse, vector: Sequence[float]) -> Generator[None, None, list[float]]:
    image: list[float] = []
    work = 0
    for scale, value, row in zip(matrix[0], vector, matrix[1], strict=True):
        image.append(scale * value + sum([entry * vector[column] for column, entry in row.items()]))
        if (work := work + len(row)) > LOOKUPS_A_STEP:
            work = 0
            yield
    return image


def inverse_factor(matrix: Sparse) -> Generator[None, None, list[list[float]]]:
    """Return the inverse of the Cholesky factor, as columns from the diagonal down.

    It is the lower triangle whose transpose times itself is the matrix's inverse: n³/3 multiplications for n rows.
    """
    factor = yield from _cholesky(matrix)
    columns: list[list[float]] = []
    work = 0
    for start in range(len(factor)):
        column = [1.0 / factor[start][start]]
        for row in factor[start + 1 :]:
            column.append(-dot(column, row[start:]) / row[-1])
            if (work := work + len(column)) > WORK_A_STEP:
                work = 0
                yield
        columns.append(column)
    return columns


def _cholesky(matrix: Sparse) -> Generator[None, None, list[list[float]]]:
    """Return the rows of the lower triangle whose product with its transpose is the matrix."""
    factor: list[list[float]] = []
    work = 0
    for number, (scale, entries) in enumerate(zip(*matrix, strict=True)):
        row: list[float] = []
        for column, above in enumerate(factor):
            row.append((entries.get(column, 0.0) - dot(row, above)) / above[-1])
            if (work := work + column + 1) > WORK_A_STEP:
                work = 0
                yield
        assert len(row) == number
        row.append(sqrt(scale - dot(row, row)))
        factor.append(row)
    return factor


#: The core counts as full when each of its rows has this part of the others as neighbours: access to an entry of a
#: dictionary takes a dozen times as long as to one of a list.
FULL = 0.25
#: The most rows of a core: eight seconds of processor time, and 30 MB.
MOST_IN_CORE = 1_000
#: The most neighbours of a row eliminated while more rows than a core's are left: half a millisecond, and 5 KB.
MOST_NEIGHBOURS = 32
#: Entries processed between two yields.
ENTRIES_A_STEP = 2_048


def inverse_diagonal(matrix: Sparse, most_in_core: int = MOST_IN_CORE) -> Generator[None, None, list[float]]:
    """Return the diagonal of the inverse of a matrix.

    :param matrix: its off-diagonal entries are not positive, and sum to less in each row than the diagonal.
    :param most_in_core: with more rows than this that all have many neighbours, the result is approximate: each row's
        variance as if its neighbours were known, plus the variance that all have in common.
    """
    elimination = _Elimination(most_in_core)
    yield from elimination.begin(matrix)
    yield from elimination.run()
    covariances = yield from elimination.core()
    for number, variance, shares in reversed(elimination.done):
        own: dict[int, float] = {}
        for other in shares:
            own[other] = dot(shares.values(), map(covariances[other].__getitem__, shares))
            yield
        for other, covariance in own.items():
            covariances[other][number] = covariance
        own[number] = variance + dot(shares.values(), own.values())
        covariances[number] = own
    return [covariances[number][number] for number in range(len(covariances))]


class _Eliminated(NamedTuple):
    """An eliminated row: its unknown is the sum of its neighbours' by these shares, plus an error of this variance."""

    number: int
    variance: float
    shares: dict[int, float]


class _Elimination:
    """The elimination of a matrix.

    :ivar done: the eliminated rows, in order.
    """

    def __init__(self, most_in_core: int) -> None:
        self.done: list[_Eliminated] = []
        self._most_in_core = most_in_core
        self._diagonal: list[float] = []
        #: The remaining rows, without the diagonal.
        self._rows: dict[int, dict[int, float]] = {}
        #: Rows by their number of neighbours; some entries are outdated.
        self._heap: list[tuple[int, int]] = []

    def begin(self, matrix: Sparse) -> Generator[None, None, None]:
        """Copy a matrix, which stays unchanged."""
        diagonal, rows = matrix
        self._diagonal = list(diagonal)
        for number, row in enumerate(rows):
            self._rows[number] = dict(row)
            yield
        self._heap = [(len(row), number) for number, row in self._rows.items()]
        heapify(self._heap)

    def run(self) -> Generator[None, None, None]:
        """Eliminate rows until the core is left."""
        while (number := self._next()) is not None:
            yield from self._eliminate(number)

    def _next(self) -> int | None:
        """Return the row with the fewest neighbours; None once the core is left."""
        left = len(self._rows)
        few = FULL * left if left <= self._most_in_core else MOST_NEIGHBOURS
        while self._heap:
            neighbours, number = self._heap[0]
            if len(self._rows.get(number, ())) != neighbours or number not in self._rows:
                heappop(self._heap)
            elif neighbours <= few:
                return number
            else:
                break
        return None

    def _eliminate(self, number: int) -> Generator[None, None, None]:
        own, row = self._diagonal[number], self._rows.pop(number)
        shares = {other: -entry / own for other, entry in row.items()}
        self.done.append(_Eliminated(number, 1 / own, shares))
        work = 0
        for other, share in shares.items():
            theirs = self._rows[other]
            del theirs[number]
            for third, entry in row.items():
                theirs[third] = theirs.get(third, 0.0) + share * entry
            self._diagonal[other] += theirs.pop(other)
            heappush(self._heap, (len(theirs), other))
            if (work := work + len(row)) > ENTRIES_A_STEP:
                work = 0
                yield
        yield

    def core(self) -> Generator[None, None, dict[int, dict[int, float]]]:
        """Return the covariances of the core's rows."""
        left = sorted(self._rows)
        place = {number: place for place, number in enumerate(left)}
        diagonal = [self._diagonal[number] for number in left]
        common = 0.0
        if len(left) > self._most_in_core:
            columns = [[1 / sqrt(scale)] for scale in diagonal]
            common = 1 / (sum(diagonal) + sum(sum(row.values()) for row in self._rows.values()))
        else:
            rows = []
            for number in left:
                rows.append({place[other]: entry for other, entry in self._rows[number].items()})
                yield
            columns = yield from inverse_factor((diagonal, rows))
        covariances: dict[int, dict[int, float]] = {number: _OfCore(place, number, columns, common) for number in left}
        for number in left:
            covariances[number][number]  # computes the entry now, not all of them at the end
            yield
        return covariances


class _OfCore(dict[int, float]):
    """The covariances of one row of the core; those with other rows of it are computed on access."""

    def __init__(self, place: dict[int, int], number: int, columns: Sequence[Sequence[float]], common: float) -> None:
        super().__init__()
        self._place, self._number, self._columns, self._common = place, number, columns, common

    def __missing__(self, other: int) -> float:
        first, last = sorted((self._place[self._number], self._place[other]))
        value = self[other] = self._common + dot(self._columns[first][last - first :], self._columns[last])
        return value


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
