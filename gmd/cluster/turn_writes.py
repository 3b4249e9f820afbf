"""Writing to links at the ends of the event loop's turns: one write for all frames, and no task is woken for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Protocol

from gmd.logger import get_logger
from gmd.turn_ends import calling_at_turn_ends

logger = get_logger(__name__)


class Writer(Protocol):
    """A link that has something to write."""

    def write_at_once(self) -> None:
        """Write what the socket takes now. It must not wake a task."""

    def wake(self) -> None:
        """Have a task write."""


class TurnWrites:
    """The links of a daemon that have something to write at the end of the present turn."""

    def __init__(self, gather_seconds: float = 0.0) -> None:
        """:param gather_seconds: how long frames may gather while the event loop has tasks to run: those may have more
        frames, and a fuller write is cheaper for both daemons.
        """
        self._gather_seconds = gather_seconds
        self._due: dict[Writer, None] = {}
        self._since = 0.0
        self._runs = False

    def add(self, writer: Writer) -> None:
        """Have a link write at the end of a turn; outside of :meth:`running` in a task of its own."""
        if not self._runs:
            writer.wake()
            return
        if not self._due:
            self._since = perf_counter()
        self._due[writer] = None

    @contextmanager
    def running(self) -> Iterator[None]:
        """Write at the ends of turns while the context is open."""
        self._runs = True
        try:
            with calling_at_turn_ends(self._at_turn_end, self._wake_all):
                yield
        finally:
            self._runs = False
            self._wake_all(None)

    def _at_turn_end(self, idle: bool) -> None:
        if self._due and (idle or perf_counter() - self._since >= self._gather_seconds):
            for writer in self._due:
                writer.write_at_once()
            self._due = {}

    def _wake_all(self, bug: Exception | None) -> None:
        """Have tasks write from now on: trio calls nothing at the ends of turns any more."""
        if bug is not None:
            logger.error("links cannot be written to at the ends of turns", exc_info=bug)
        self._runs = False
        due, self._due = self._due, {}
        for writer in due:
            writer.wake()
