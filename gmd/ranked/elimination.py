"""The diagonal of the inverse of a sparse matrix, by elimination: the variances of the ratings.

One row after the other is solved for its unknown and substituted into its neighbours, which become neighbours of each
other. That takes the square of their number, so the row with the fewest neighbours is next. In reverse order, each
row's covariances follow from its neighbours' (Takahashi's equations). The rows left when all have many neighbours are
the core, which is factored as a full matrix. So a thousand versions abandoned after some games each cost little, and
players cannot make ratings expensive by beginning new versions.

All functions here are generators that yield every millisecond or so, so that the caller can run other tasks.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from heapq import heapify, heappop, heappush
from math import sqrt
from typing import NamedTuple

from .linear import Sparse, dot, inverse_factor

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
