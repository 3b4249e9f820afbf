"""Deadlines of games: a heap, and one task that sleeps until the earliest. Games are loaded while their clocks run."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heapify, heappop, heappush
from math import inf

import trio

from gmd.net import loop_time

#: The number of outdated entries that the heap may hold before it is rebuilt.
MAX_OUTDATED = 1_000
#: The number of deadlines that are called back for in one turn of the event loop: to end a game on time takes a tenth
#: of a millisecond. The deadlines of thousands of games may come at the same moment.
PORTION = 16


class Deadlines:
    """At most one deadline for each game, in the event loop's time (:mod:`gmd.net.loop_time`).

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


#: Seconds of backoff for a game whose deadline has come but that cannot be loaded or written: FIRST_RETRY at first,
#: then twice as long each time, up to LAST_RETRY.
FIRST_RETRY = 1.0
LAST_RETRY = 60.0


class Reloads:
    """The queue of games to load, and the backoff of those that cannot be loaded or written."""

    def __init__(self) -> None:
        #: When to retry loading a game that could not be loaded; and the backoff of each, in seconds.
        self._retries = Deadlines(self._retry)
        self._delays: dict[int, float] = {}
        #: Games whose last write failed, with the backoff in seconds before each is loaded again; 0 for none.
        self._lost: dict[int, float] = {}
        self._wanted, self._to_load = trio.open_memory_channel[int](inf)

    def want(self, game_id: int) -> None:
        """Have a game loaded."""
        self._wanted.send_nowait(game_id)

    async def next(self) -> int:
        """Return the next game to load."""
        return await self._to_load.receive()

    def loaded(self, game_id: int) -> None:
        """Note that a game was loaded, or need not be."""
        self._delays.pop(game_id, None)

    def failed(self, game_id: int) -> None:
        """Note that a game could not be loaded: it is tried again, with backoff."""
        delay = self._delays[game_id] = _longer(self._delays.get(game_id, 0.0))
        self._retries.set(game_id, loop_time.now() + delay)

    def lose(self, game_id: int) -> None:
        """Have a game whose write failed loaded again: at once, then with backoff until a write succeeds.

        The flag of a game with no time left falls as soon as it is loaded; while writing fails, it is dropped again.
        """
        put_off = self._lost.get(game_id)
        if put_off is None:
            self._lost[game_id] = 0.0
            self.want(game_id)
        else:
            delay = self._lost[game_id] = _longer(put_off)
            self._retries.set(game_id, loop_time.now() + delay)

    def written(self, game_id: int) -> None:
        """Note that a game was written."""
        if self._lost:
            self._lost.pop(game_id, None)

    async def run(self) -> None:
        """Queue games again when their backoff is over, until cancelled."""
        await self._retries.run()

    def _retry(self, game_id: int) -> None:
        self._retries.clear(game_id)
        self.want(game_id)


def _longer(delay: float) -> float:
    """Return the backoff that follows a backoff, in seconds."""
    return min(2 * delay, LAST_RETRY) if delay else FIRST_RETRY
