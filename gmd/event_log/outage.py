"""What the daemon says while its event log cannot be written: as it begins, now and then, and as it is over."""

from __future__ import annotations

import trio

from gmd.logger import get_logger

logger = get_logger(__name__)

#: What an operator does about what cannot be read.
READ_ADVICE = "gmd check says what is damaged, and gmd check --repair keeps what is whole"
#: Seconds between two lines about the same outage: clients that try again fail a thousand times a second.
REPEAT_SECONDS = 60.0


class Outage:
    """An outage of the event log, if there is one.

    :ivar reason: why the last write failed; None where it did not.
    """

    def __init__(self) -> None:
        self.reason: str | None = None
        self._began = 0.0
        self._delivered = 0.0
        self._failures = 0

    def failed(self, reason: str, games: int) -> None:
        """A write of some games has failed."""
        now = trio.current_time()
        self._failures += 1
        if self.reason is None:
            self._began = self._delivered = now
            logger.error("the event log cannot be written", reason=reason, games=games)
        elif now >= self._delivered + REPEAT_SECONDS:
            self._delivered = now
            logger.error("the event log still cannot be written", reason=reason, **self._so_far(now))
        self.reason = reason

    def over(self) -> None:
        """A write has succeeded."""
        if self.reason is not None:
            self.reason = None
            logger.warning("the event log can be written again", **self._so_far(trio.current_time()))
            self._failures = 0

    def _so_far(self, now: float) -> dict[str, float]:
        return {"failures": self._failures, "seconds": round(now - self._began, 3)}


def reason_of(error: Exception) -> str:
    """What went wrong, with its cause where a library has wrapped that."""
    cause = error.__cause__ or error
    return f"{type(cause).__name__}: {cause}"
