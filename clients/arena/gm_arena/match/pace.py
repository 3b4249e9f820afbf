"""Estimates how long a match still takes, from the durations of its games.

The games that end first are the short ones, so their mean is no estimate. The games in progress count too: each shows
that it takes longer than it has lasted. Durations are assumed to have a Weibull distribution, whose shape covers games
of about equal length as well as games that end at any moment with equal likelihood. Its parameters are the most likely
ones for all observations. Source: J. F. Lawless, "Statistical Models and Methods for Lifetime Data", 5.2.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

#: The range of shapes: 1 is the exponential distribution. The first few games say little about the shape, and a high
#: shape assumes too early that all games take as long as they did.
LEAST_SHAPE, MOST_SHAPE = 0.8, 2.0

#: The least seconds of a game, so that its logarithm is finite.
SHORTEST = 1e-3


@dataclass(frozen=True)
class Lengths:
    """A Weibull distribution of games' durations: after ``scale`` seconds, 37 % of them are still in progress."""

    scale: float
    shape: float

    @classmethod
    def of(cls, ended: Sequence[float], running: Sequence[float]) -> Lengths:
        """Return the most likely distribution.

        :param ended: seconds of each game that has ended; at least one.
        :param running: seconds that each game in progress has lasted so far.
        """
        unit = max(*ended, *running, SHORTEST)  # no power is too large for a float
        lasted = [max(seconds, SHORTEST) / unit for seconds in (*ended, *running)]
        mean_log = sum(map(math.log, lasted[: len(ended)])) / len(ended)
        low, high = LEAST_SHAPE, MOST_SHAPE
        for _ in range(30):
            shape = (low + high) / 2.0
            weights = [seconds**shape for seconds in lasted]
            slope = sum(w * math.log(s) for w, s in zip(weights, lasted, strict=True)) / sum(weights)
            low, high = (low, shape) if slope - 1.0 / shape > mean_log else (shape, high)
        scale = (sum(seconds**low for seconds in lasted) / len(ended)) ** (1.0 / low)
        return cls(scale * unit, low)

    @property
    def mean(self) -> float:
        """The mean duration, in seconds."""
        return self.scale * math.gamma(1.0 + 1.0 / self.shape)

    def rest(self, lasted: float, games: int = 1) -> float:
        """Return in how many seconds the last of so many games ends that have each lasted so long."""
        hazard = 1.0 + math.log(games)
        return float((lasted**self.shape + hazard * self.scale**self.shape) ** (1.0 / self.shape) - lasted)


def seconds_left(ended: Sequence[float], running: Sequence[float], to_begin: int, at_once: int) -> float | None:
    """Return in how many seconds the last game ends; None before the first has ended.

    :param ended: seconds of each game that has ended.
    :param running: seconds that each game in progress has lasted.
    :param to_begin: the number of games that have not begun.
    :param at_once: the number of games played at the same time.
    """
    if not ended:
        return None
    seats = min(at_once, len(running) + to_begin)
    if seats == 0:
        return 0.0
    lengths = Lengths.of(ended, running)
    work = sum(map(lengths.rest, running)) + to_begin * lengths.mean
    # The last game to end takes at most so many times the longest seen; fewer once as many have ended as are in
    # progress, since the longest of so many is hardly a short one.
    times = 2.0 if len(ended) >= len(running) else 4.0
    lasted, games = (0.0, 1) if to_begin else (min(running), len(running))
    last = min(lengths.rest(lasted, games), times * max((*ended, *running)) - lasted)
    return max(last, work / seats)


def duration(seconds: float) -> str:
    """Return a duration with the precision of an estimate: ``40 s``, ``3 min``, ``2 h 10 min``, ``3 d``."""
    if seconds < 55:
        return f"{max(1, math.ceil(seconds / 5) * 5 if seconds > 10 else math.ceil(seconds))} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    if minutes < 600:
        return f"{minutes // 60} h {minutes % 60 // 10 * 10} min".replace(" 0 min", "")
    hours = round(minutes / 60)
    return f"{hours} h" if hours < 48 else f"{round(hours / 24)} d"


class Pace:
    """Measures the games of a match as they are played."""

    def __init__(self, at_once: int, now: Callable[[], float] = time.monotonic) -> None:
        """:param at_once: the number of games played at the same time."""
        self._at_once, self._now = at_once, now
        self._ended: list[float] = []
        self._began: dict[int, float] = {}

    def resumed(self, seconds: Sequence[float]) -> None:
        """Add the durations of games that were played before."""
        self._ended += seconds

    @contextmanager
    def game(self, number: int) -> Iterator[None]:
        """Measure a game while it is played. A cancelled game is not counted."""
        self._began[number] = self._now()
        try:
            yield
            self._ended.append(self._now() - self._began[number])
        finally:
            del self._began[number]

    def seconds_left(self, games: int) -> float | None:
        """Return in how many seconds so many games of the match have ended; None before the first has.

        Games count as soon as they end, even where an earlier one in the plan is in progress. This may be called from
        another thread.

        :param games: the number of games, including resumed ones, those that ended and those in progress.
        """
        now = self._now()
        ended, running = list(self._ended), [now - began for began in list(self._began.values())]
        return seconds_left(ended, running, max(0, games - len(ended) - len(running)), self._at_once)
