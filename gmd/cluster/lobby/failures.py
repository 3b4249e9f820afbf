"""Wrong keys and passwords, counted for each address at all daemons together.

Every daemon tells every other one of each failed attempt, so an address has one limit however many daemons there are;
it may exceed that by what it sends to several of them within a few milliseconds.
"""

from __future__ import annotations

from gmd.cluster.directory import Directory
from gmd.cluster.links import Links
from gmd.rate_limiter import RateLimiter

from .messages import Failed


class FailuresEverywhere:
    """The part of one daemon in the count of failed attempts."""

    def __init__(self, failures: RateLimiter, directory: Directory, links: Links) -> None:
        self._failures = failures
        self._directory = directory
        self._links = links
        failures.on_use = self._tell
        links.on_note(Failed, self._on_failed)

    def _tell(self, address: str, attempts: float) -> None:
        for daemon in self._directory.peers():
            if daemon != self._directory.me:
                self._links.tell(daemon, Failed(address, attempts))

    def _on_failed(self, note: Failed, _daemon: int) -> None:
        self._failures.count(note.address, note.attempts)
