"""How the ratings came about: each version's rating and deviation after its games, with few points for each.

Ratings are computed from all games at once, and are not stored. So the past before the daemon's start is computed
again, in the background, from the log's ranked games in the order in which they were made, part by part. From then on
each computation of the ratings adds points.
"""

from __future__ import annotations

import time
from array import array
from collections.abc import Awaitable, Callable, Iterator, Mapping
from functools import partial
from time import perf_counter
from typing import NamedTuple

import trio

from gmd.event_log.interface import EventLog, RankedResult
from gmd.lobby.results import Entrant, Record
from gmd.logger import get_logger

logger = get_logger(__name__)

#: The most points kept for an entrant: 2 KB. When there are more, every second one is dropped.
MOST_POINTS = 64
#: The number of parts in which the past is computed: the most points that it gives.
PARTS = 32
#: The pause after each part, in multiples of its duration, as between computations of the ratings.
REST = 9.0
#: Results counted between two checkpoints: some hundred microseconds.
RESULTS_A_STEP = 200

_WIDTH = 4


class Point(NamedTuple):
    """A rating at some time, in seconds since 1970, after so many games."""

    time: float
    rating: float
    deviation: float
    games: int


class Curve:
    """The points of one entrant, oldest first, in an array of floats."""

    __slots__ = ("_values",)

    def __init__(self) -> None:
        self._values = array("d")

    def __len__(self) -> int:
        return len(self._values) // _WIDTH

    def add(self, point: Point) -> None:
        """Append a point; drop every second one if there are too many, but not the first and the last."""
        self._values.extend(point)
        if len(self) > MOST_POINTS:
            points = list(self)
            kept = [*points[:-1:2], points[-1]]
            self._values = array("d", [value for each in kept for value in each])

    def __iter__(self) -> Iterator[Point]:
        values = self._values
        for start in range(0, len(values), _WIDTH):
            at, rating, deviation, games = values[start : start + _WIDTH]
            yield Point(at, rating, deviation, int(games))


class Estimate(NamedTuple):
    """An entrant's rating and deviation as computed, and the number of its games."""

    rating: float
    deviation: float
    games: int


#: The ratings of all entrants, and a function that computes them from a record, in slices.
Estimates = Mapping[Entrant, Estimate]
Compute = Callable[[Record], Awaitable[Estimates]]


class RatingHistory:
    """The past of all ratings.

    :ivar complete: whether the past before the start has been computed.
    """

    def __init__(self) -> None:
        self._past: dict[Entrant, Curve] = {}
        self._recent: dict[Entrant, Curve] = {}
        self._games: dict[Entrant, int] = {}
        self._started = 0.0
        self.complete = True

    def start(self, record: Record) -> None:
        """Begin with the games of the log, whose past :meth:`look_back` computes."""
        self._games = {entrant: score.games for entrant, score in record.totals().items()}
        self._past.clear()
        self._recent.clear()
        self._started = time.time()
        self.complete = not self._games

    def note(self, estimates: Estimates) -> None:
        """Add a point for each entrant who has had games since its last one."""
        now = time.time()
        for entrant, estimate in estimates.items():
            if self._games.get(entrant) != estimate.games:
                self._games[entrant] = estimate.games
                self._recent.setdefault(entrant, Curve()).add(Point(now, *estimate))

    def of(self, entrant: Entrant) -> list[Point]:
        """Return an entrant's points, oldest first."""
        curves = (self._past.get(entrant, ()), self._recent.get(entrant, ()))
        return [point for curve in curves for point in curve]

    async def look_back(self, log: EventLog, compute: Compute) -> None:
        """Compute the past before the start, with pauses."""
        if self.complete or log.database is None:
            self.complete = True
            return
        from gmd.event_log.sql import ranked_part, ranked_span  # it imports SQLAlchemy, which takes long

        try:
            first, last = await log.database.read(ranked_span)
            record, counted, ended = Record(), dict[Entrant, int](), 0.0
            for begin, end in parts_of(first, last):
                part = await log.database.read(partial(ranked_part, first=begin, last=end))
                ended = max(ended, min(part.ended, self._started))  # an older game may have ended later
                await self._add_part(record, part.results, ended, counted, compute)
        except Exception:
            logger.exception("the past of the ratings could not be computed")  # pages show what there is
        self.complete = True

    async def _add_part(
        self,
        record: Record,
        results: list[RankedResult],
        ended: float,
        counted: dict[Entrant, int],
        compute: Compute,
    ) -> None:
        for number, result in enumerate(results, 1):
            record.add(result)
            if number % RESULTS_A_STEP == 0:
                await trio.lowlevel.checkpoint()
        if not results:
            return
        began = perf_counter()
        for entrant, estimate in (await compute(record)).items():
            if counted.get(entrant) != estimate.games:
                counted[entrant] = estimate.games
                self._past.setdefault(entrant, Curve()).add(Point(ended, *estimate))
        await trio.sleep(REST * (perf_counter() - began))


def parts_of(first: int, last: int) -> Iterator[tuple[int, int]]:
    """Yield the ids of the first and the last game of each part of the games with ids from ``first`` to ``last``."""
    size = max(1, -(-(last - first + 1) // PARTS))
    for begin in range(first, last + 1, size):
        yield begin, min(last, begin + size - 1)
