"""The timeouts of those who wait: thousands may end at the same moment, and they end in portions.

Scopes of trio's would all end in the same turn of the event loop: 9,000 waiters took a turn of 1.7 s.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from heapq import heapify, heappop, heappush
from itertools import count
from math import inf

import trio

#: The number of outdated entries that the heap may hold before it is rebuilt.
MAX_OUTDATED = 1_000


class Timeouts:
    """Callbacks after some seconds of trio's time, which also passes while the loop pauses, as a client's does."""

    def __init__(self, portion: int) -> None:
        """:param portion: the most callbacks in one turn of the event loop."""
        self._portion = portion
        self._callbacks: dict[int, tuple[float, Callable[[], None]]] = {}
        self._heap: list[tuple[float, int]] = []
        self._numbers = count()
        self._sleep = trio.CancelScope()

    @contextmanager
    def after(self, seconds: float, callback: Callable[[], None]) -> Iterator[None]:
        """Call back after some seconds, if the context is still open."""
        number, deadline = next(self._numbers), trio.current_time() + seconds
        self._callbacks[number] = deadline, callback
        heappush(self._heap, (deadline, number))
        if deadline < self._sleep.deadline:
            self._sleep.deadline = deadline
        try:
            yield
        finally:
            self._callbacks.pop(number, None)
            if len(self._heap) > len(self._callbacks) + MAX_OUTDATED:
                self._heap = [(due, each) for each, (due, _) in self._callbacks.items()]
                heapify(self._heap)

    async def run(self) -> None:
        """Call back, until cancelled."""
        while True:
            if self._take_portion():
                await trio.lowlevel.checkpoint()
                continue
            with trio.CancelScope(deadline=self._heap[0][0] if self._heap else inf) as self._sleep:
                await trio.sleep_forever()

    def _take_portion(self) -> bool:
        """Call back for the first entries whose time has come; return whether there may be more."""
        now = trio.current_time()
        for _ in range(self._portion):
            if not self._heap or self._heap[0][0] > now:
                return False
            _, callback = self._callbacks.pop(heappop(self._heap)[1], (0.0, None))
            if callback is not None:
                callback()
        return True
