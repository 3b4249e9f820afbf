"""Fair turns between addresses while the event loop is loaded.

Trio runs every runnable task before it looks for input again. So thousands of connections that all send a request at
once would make one turn of the loop last for seconds. Here a turn should take :data:`TURN_SECONDS`. A connection with
input passes at once while the present turn has taken less than that. Later ones wait, unread, and pass in the turns
that follow: the addresses one after the other, and of an address the connection that has waited longest. So a client
with few requests waits for one pass of every other address, however many those send. As many pass in a turn as fill it
at :data:`COST_SECONDS` each, for which a session answers what it has read before it waits again.

Trio wakes every task whose socket is readable, if only to wait here. What bounds that is the number of connections that
an address may have (:mod:`gmd.net.connection_slots`).
"""

from __future__ import annotations

import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from math import inf
from time import perf_counter

import trio
from trio.lowlevel import Abort, Task

from gmd.net.round_robin import RoundRobin

#: Target length of a turn of the event loop, in seconds.
TURN_SECONDS = 0.005
#: Seconds for which a connection that passes is expected to be answered: one request, or a few small ones. What takes
#: longer by itself, such as a history, is done in slices of its own.
COST_SECONDS = 0.0005
#: Every so many turns, a collection of garbage includes the second generation.
OLDER_EVERY = 4


class FairScheduler:
    """Lets the connections of all ports through in fair turns by address. Outside :meth:`running` all pass at once.

    :ivar parked: how many readable connections have had to wait so far.
    :ivar collects_garbage: whether it runs the garbage collector between turns. Python's own collections are rare: they
        count new containers less those that are gone. When thousands of sessions end a wait and begin another, this
        number stays low, and half a million new containers once took a collection 0.1 s. A program that embeds the
        daemon has the collector to itself, so only ``gmd serve`` sets it.
    """

    def __init__(self, turn_seconds: float = TURN_SECONDS) -> None:
        """:param turn_seconds: with 0 all have to wait, and one passes in each turn."""
        self.turn_seconds = turn_seconds
        self.collects_garbage = False
        self.parked = 0
        self._nursery: trio.Nursery | None = None
        self._turn_ends = inf  # when the present turn of the loop will have taken turn_seconds, by perf_counter
        self._waiting = RoundRobin[Task]()  # by address
        self._is_passing = False  # whether the task that lets them through runs
        self._turns = count()  # of the loop

    @property
    def is_loaded(self) -> bool:
        """Whether connections must wait for their turns."""
        return self._is_passing or perf_counter() >= self._turn_ends

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Keep the turns of the event loop short for as long as the context is open."""
        watch = _TurnStarts(self)
        async with trio.open_nursery() as self._nursery:
            trio.lowlevel.add_instrument(watch)
            try:
                yield
            finally:
                trio.lowlevel.remove_instrument(watch)
                self._nursery.cancel_scope.cancel()
                self._nursery, self._turn_ends, self._is_passing = None, inf, False
                while self._waiting:
                    trio.lowlevel.reschedule(self._waiting.pop())

    def begin_turn(self) -> None:
        """Note that a turn of the loop begins, after it has looked for input; collect garbage."""
        if self.collects_garbage:
            gc.collect(1 if next(self._turns) % OLDER_EVERY == 0 else 0)
        self._turn_ends = perf_counter() + self.turn_seconds

    async def wait_turn(self, source: str) -> None:
        """Return when a connection may be read and answered. It is a checkpoint only if the connection has to wait.

        :param source: the connection's address.
        """
        if self._nursery is None or not self.is_loaded:
            return
        task = trio.lowlevel.current_task()
        self._waiting.add(source, task)
        self.parked += 1
        if not self._is_passing:
            self._is_passing = True
            self._nursery.start_soon(self._let_through)

        def abort(_: object) -> Abort:
            self._waiting.remove(source, task)
            return Abort.SUCCEEDED

        await trio.lowlevel.wait_task_rescheduled(abort)

    async def _let_through(self) -> None:
        """Let waiting connections through, some in each turn of the loop, until none is left."""
        passes = max(1, round(self.turn_seconds / COST_SECONDS))
        while self._waiting:
            for _ in range(passes):
                if self._waiting:
                    trio.lowlevel.reschedule(self._waiting.pop())
            await trio.lowlevel.checkpoint()
        self._is_passing = False


class _TurnStarts(trio.abc.Instrument):
    """A trio instrument that notifies a scheduler at the beginning of each turn of the event loop."""

    def __init__(self, scheduler: FairScheduler) -> None:
        self._scheduler = scheduler

    def after_io_wait(self, timeout: float) -> None:
        self._scheduler.begin_turn()
