"""How long a match still takes, out of how long its games have taken.

The games that end first are the short ones, so their mean is no estimate. The games that are being played count too:
each says that it takes longer than it has lasted. Lengths are taken to have a Weibull distribution, whose shape may be
that of games that take about the same time as well as of those that end at any moment alike, and its parameters are the
most likely ones for all that was seen. Source: J. F. Lawless, "Statistical Models and Methods for Lifetime Data", 5.2.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

#: Shapes that are considered: 1 is the exponential distribution. The first few games say little of the shape, and a
#: high one believes them too readily that all take as long as they did.
LEAST_SHAPE, MOST_SHAPE = 0.8, 2.0

#: Seconds that a game lasts at least, for the logarithm's sake.
SHORTEST = 1e-3


@dataclass(frozen=True)
class Lengths:
    """A Weibull distribution of games' lengths: after ``scale`` seconds, 37 % of them go on."""

    scale: float
    shape: float

    @classmethod
    def of(cls, ended: Sequence[float], running: Sequence[float]) -> Lengths:
        """Return the most likely one.

        :param ended: seconds of each game that has ended; one at least.
        :param running: seconds that each of the others has lasted so far.
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
        """In seconds."""
        return self.scale * math.gamma(1.0 + 1.0 / self.shape)

    def rest(self, lasted: float, games: int = 1) -> float:
        """Return in how many seconds the last of so many games ends that have lasted so long."""
        hazard = 1.0 + math.log(games)
        return float((lasted**self.shape + hazard * self.scale**self.shape) ** (1.0 / self.shape) - lasted)


def seconds_left(ended: Sequence[float], running: Sequence[float], to_begin: int, at_once: int) -> float | None:
    """Return in how many seconds the last game ends; None before the first has ended.

    :param ended: seconds of each game that has ended.
    :param running: seconds that each of those has lasted that are being played.
    :param to_begin: how many games have not begun.
    :param at_once: how many are played at a time.
    """
    if not ended:
        return None
    seats = min(at_once, len(running) + to_begin)
    if seats == 0:
        return 0.0
    lengths = Lengths.of(ended, running)
    work = sum(map(lengths.rest, running)) + to_begin * lengths.mean
    last = lengths.rest(0.0) if to_begin else lengths.rest(min(running), len(running))
    if len(ended) >= len(running) > 0:  # by then the longest that was seen is no short one
        last = min(last, 2.0 * max(*ended, *running) - min(running))
    return max(last, work / seats)


def duration(seconds: float) -> str:
    """Return a duration as exactly as an estimate is: ``40 s``, ``3 min``, ``2 h 10 min``, ``3 d``."""
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
        """:param at_once: how many games are played at a time."""
        self._at_once, self._now = at_once, now
        self._ended: list[float] = []
        self._began: dict[int, float] = {}

    def resumed(self, seconds: Sequence[float]) -> None:
        """Take in games that were played before."""
        self._ended += seconds

    @contextmanager
    def game(self, number: int) -> Iterator[None]:
        """Measure a game while it is played. One that is broken off is forgotten."""
        self._began[number] = self._now()
        try:
            yield
            self._ended.append(self._now() - self._began[number])
        finally:
            del self._began[number]

    def seconds_left(self, games: int) -> float | None:
        """Return in how many seconds so many games of the match have ended; None before the first has.

        Games count as soon as they end, also where one before them in the plan goes on. It may be asked from another
        thread.

        :param games: resumed ones, those that ended and those being played among them.
        """
        now = self._now()
        ended, running = list(self._ended), [now - began for began in list(self._began.values())]
        return seconds_left(ended, running, max(0, games - len(ended) - len(running)), self._at_once)
