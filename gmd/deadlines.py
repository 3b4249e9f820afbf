"""Deadlines of games: a heap, and one task that sleeps until the earliest."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heapify, heappop, heappush
from math import inf

import trio

from gmd import loop_time

#: The number of outdated entries that the heap may hold before it is rebuilt.
MAX_OUTDATED = 1_000
#: The number of deadlines that are called back for in one turn of the event loop: to end a game on time takes a tenth
#: of a millisecond. The deadlines of thousands of games may come at the same moment.
PORTION = 16


class Deadlines:
    """At most one deadline for each game, in the event loop's time (:mod:`gmd.loop_time`).

    When a deadline is postponed, its old entry stays in the heap, and the new deadline is looked up when that entry
    comes up. So a move costs only a dictionary write.
    """

    def __init__(self, on_deadline: Callable[[int], None]) -> None:
        """:param on_deadline: called with a game's id when its deadline has come; it may set another."""
        self._on_deadline = on_deadline
        self._deadlines: dict[int, float] = {}
        self._queued: dict[int, float] = {}  # each game's earliest entry in the heap
        self._heap: list[tuple[float, int]] = []
        self._sleep = loop_time.PatientScope()

    def __len__(self) -> int:
        """Return the number of entries, outdated ones included."""
        return len(self._heap)

    def deadline(self, game_id: int) -> float | None:
        """Return a game's deadline; one that has passed, too, until it is set again or cleared."""
        return self._deadlines.get(game_id)

    def set(self, game_id: int, deadline: float) -> None:
        """Set a game's deadline, or replace it."""
        self._deadlines[game_id] = deadline
        if deadline < self._queued.get(game_id, inf):
            self._queue(game_id, deadline)

    def put_off(self, game_id: int, until: float) -> None:
        """Call back for a deadline that has come later, once more; it stays the same."""
        self._queue(game_id, until)

    def clear(self, game_id: int) -> None:
        """Forget a game's deadline, if it has one."""
        self._deadlines.pop(game_id, None)
        self._queued.pop(game_id, None)

    def postpone(self, seconds: float) -> None:
        """Postpone all deadlines."""
        for game_id in self._deadlines:
            self._deadlines[game_id] += seconds

    async def run(self) -> None:
        """Call back for every deadline when it comes, until cancelled."""
        while True:
            if self._take_portion():
                await trio.lowlevel.checkpoint()
                continue
            with loop_time.PatientScope(loop_time.nap_until(self._heap[0][0] if self._heap else inf)) as self._sleep:
                await trio.sleep_forever()

    def _take_portion(self) -> bool:
        """Take the first entries whose time has come; return whether there may be more."""
        now = loop_time.now()
        if loop_time.is_catching_up():  # requests not read yet may postpone them
            return False
        for _ in range(PORTION):
            if not self._heap or self._heap[0][0] > now:
                return False
            self._take(now)
        return True

    def _take(self, now: float) -> None:
        """Take the first entry: call back, or queue it again if its game's deadline was postponed."""
        entry, game_id = heappop(self._heap)
        if self._queued.get(game_id) != entry:
            return
        del self._queued[game_id]
        deadline = self._deadlines.get(game_id)
        if deadline is None:
            return
        if deadline > now:
            self._queue(game_id, deadline)
            return
        self._on_deadline(game_id)

    def _queue(self, game_id: int, deadline: float) -> None:
        self._queued[game_id] = deadline
        heappush(self._heap, (deadline, game_id))
        if len(self._heap) > len(self._queued) + MAX_OUTDATED:
            self._heap = [(deadline, game_id) for game_id, deadline in self._queued.items()]
            heapify(self._heap)
        if deadline < self._sleep.deadline:
            self._sleep.cancel()
