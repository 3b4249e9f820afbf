"""The log messages about outages of the event log: at the start, at intervals, and at the end."""

from __future__ import annotations

import trio

from gmd.logger import get_logger

logger = get_logger(__name__)

#: The advice to an operator about data that cannot be read.
READ_ADVICE = "gmd check says what is damaged, and gmd export keeps what is whole"
#: Seconds between two lines about the same outage: retrying clients fail a thousand times a second.
REPEAT_SECONDS = 60.0


class Outage:
    """The present outage of the event log, if there is one.

    :ivar reason: why the last write failed; None if it succeeded.
    """

    def __init__(self) -> None:
        self.reason: str | None = None
        self._began = 0.0
        self._logged = 0.0
        self._failures = 0

    def failed(self, reason: str, games: int) -> None:
        """Note that a write of some games failed."""
        now = trio.current_time()
        self._failures += 1
        if self.reason is None:
            self._began = self._logged = now
            logger.error("the event log cannot be written", reason=reason, games=games)
        elif now >= self._logged + REPEAT_SECONDS:
            self._logged = now
            logger.error("the event log still cannot be written", reason=reason, **self._so_far(now))
        self.reason = reason

    def over(self) -> None:
        """Note that a write succeeded."""
        if self.reason is not None:
            self.reason = None
            logger.warning("the event log can be written again", **self._so_far(trio.current_time()))
            self._failures = 0

    def _so_far(self, now: float) -> dict[str, float]:
        return {"failures": self._failures, "seconds": round(now - self._began, 3)}


def reason_of(error: Exception) -> str:
    """Return the text of an error, or of its cause if a library has wrapped it."""
    cause = error.__cause__ or error
    return f"{type(cause).__name__}: {cause}"
