"""The time by which finished games are pruned: a clock that jumps ahead must not remove all of them at once.

A machine's clock may be wrong, and removed games do not come back. So the clock is believed only up to the time that
can have passed: the time when the log was last seen, plus the daemon's running time, plus a day of downtime.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from gmd.event_log.seen_time import SeenTime
from gmd.event_log.utc import write_time
from gmd.logger import get_logger

logger = get_logger(__name__)

#: Seconds that a clock may be ahead of the time that is known to have passed.
MOST_AHEAD = 86_400.0
#: Seconds between two log lines about one jump, and between two notes of the time.
REPEAT_SECONDS = 86_400.0
NOTE_SECONDS = 600.0
#: A monotonic clock, if possible one that runs while the machine sleeps.
_steady_time = partial(time.clock_gettime, getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))
FOR_ONE_START = "--trust-clock (GMD_TRUST_CLOCK) is for one start: leave it out of the next"
ADVICE = "set the clock right; if it is right, start the daemon once with --trust-clock"


class PruningClock:
    """The machine's time in seconds since 1970, or if that has jumped ahead, the time that can have passed.

    It is called by one thread at a time.
    """

    def __init__(
        self,
        noted: SeenTime,
        newest: Callable[[float], float | None],
        *,
        trusted: bool = False,
        wall: Callable[[], float] = time.time,
        steady: Callable[[], float] = _steady_time,
        source: str = "the machine's clock",
    ) -> None:
        """:param newest: returns when the log last changed, up to a time; called if no time is noted.
        :param noted: the time by which games were last pruned.
        :param trusted: whether the clock is right, however far ahead it is now.
        :param wall: returns the clock's time, in seconds since 1970; ``source`` says what clock it is.
        """
        self._noted = noted
        self._newest = newest
        self._trusted = trusted
        if trusted:
            logger.warning(f"{source} is believed however far it is ahead", advice=FOR_ONE_START)
        self._wall = wall
        self._steady = steady
        self._seen: float | None = None
        self._looked = steady()
        self._logged = self._noted_at = -REPEAT_SECONDS

    def __call__(self) -> float:
        wall, steady = self._wall(), self._steady()
        known = self._begun(wall) if self._seen is None else self._seen + steady - self._looked
        self._looked = steady
        if wall <= known + MOST_AHEAD:
            self._seen = wall
        else:
            self._seen = known
            self._log_jump(wall, steady)
        if steady >= self._noted_at + NOTE_SECONDS:
            self._noted_at = steady
            self._noted.note(self._seen)
        return self._seen

    def _begun(self, wall: float) -> float:
        """Return when the log was last seen; the machine's time if it never was, or if the clock is trusted."""
        if self._trusted:
            return wall
        if (seen := self._noted.read()) is not None:
            return seen
        newest = self._newest(wall)
        return wall if newest is None else newest

    def _log_jump(self, wall: float, steady: float) -> None:
        assert self._seen is not None
        if steady >= self._logged + REPEAT_SECONDS:
            self._logged = steady
            logger.error(
                "the clock has jumped ahead: finished games are pruned as if it had not",
                clock=write_time(wall),
                pruned_as_of=write_time(self._seen),
                days_ahead=round((wall - self._seen) / 86_400, 1),
                advice=ADVICE,
            )
