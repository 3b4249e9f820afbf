"""The price of expensive requests: who works for how long on the event loop, and in which order.

The loop has one thread. Work that takes longer than a few milliseconds is written as a generator that yields often, and
is run here: in slices, at most one in a turn of the loop, whoever waits; so a move that arrives waits for one slice and
not for all of them. Each address has one piece of work under way at a time, further ones queue behind it, and addresses
take turns slice by slice. What was used is charged afterwards, in processor time.

Threads would not help: the work is pure Python, so that they would take the interpreter from the loop for five
milliseconds at a time, and forty of them did so for seconds.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Generator
from contextlib import asynccontextmanager
from typing import TypeVar

import trio

from .addresses import source_of
from .keyed_locks import KeyedLocks
from .rate_limiter import RateLimiter

_T = TypeVar("_T")

#: Processor time after which work gives way, in seconds. What is between two yields of a generator comes on top of it,
#: which is to be well below a millisecond.
SLICE_SECONDS = 0.001
#: The period of the budgets, in seconds.
PERIOD = 60.0
#: A connection has this part of its address's budget: in a class behind one address, one bot leaves half to the others.
CONNECTION_SHARE = 2


class Budget:
    """Processor time that expensive requests may take, for each address and each connection."""

    def __init__(self, milliseconds: int) -> None:
        """:param milliseconds: of processor time that an address may use in a minute, all at once or spread."""
        name, unit = "max_work_per_minute", "milliseconds of processor time"
        share = max(1, milliseconds // CONNECTION_SHARE)
        self._addresses = RateLimiter(name, milliseconds, PERIOD, unit=unit)
        self._connections = RateLimiter(name, share, PERIOD, unit=unit, whose="connection", key=str)

    def check(self, peer: str) -> None:
        """See to it that there is some left.

        :param peer: whose, as host:port; what is empty has no limit.
        :raises TooMany: there is none; the work that used it up was allowed to end.
        """
        self._addresses.check(peer)
        self._connections.check(peer)

    def charge(self, peer: str, seconds: float) -> None:
        """Charge work that was done, if need be beyond what is left."""
        self._addresses.charge(peer, seconds * 1_000)
        self._connections.charge(peer, seconds * 1_000)


class Workbench:
    """Where long work is done, a slice at a time."""

    def __init__(self, budget: Budget | None = None, slice_seconds: float = SLICE_SECONDS) -> None:
        """:param budget: what work is charged to; None for no limit.
        :param slice_seconds: processor time after which work gives way; with 0 at every yield.
        """
        self.budget = budget
        self.slice_seconds = slice_seconds
        self._places = KeyedLocks()  # one for each address that has work here
        self._slices = trio.StrictFIFOLock()  # whose waiters, one for each address, take turns by it
        #: How many slices were worked off.
        self.slices = 0

    @asynccontextmanager
    async def place(self, peer: str, *, paid: bool = False) -> AsyncIterator[None]:
        """Have the address's place, behind whoever of the same address asked before. Inside, :meth:`run` works.

        An address has a second place, for what is not paid: a player's game is loaded without waiting for histories.

        :param peer: who asks, as host:port. All for whom it is empty (in-process, the operator) share one place.
        :param paid: refuse the work where the budget is used up.
        :raises TooMany: it is.
        """
        if paid:
            self._check(peer)  # so that nobody waits to be refused
        async with self._places.hold((source_of(peer) if peer else "", paid)):
            if paid:
                self._check(peer)
            yield

    async def run(self, steps: Generator[None, None, _T], peer: str) -> _T:
        """Run a generator to its end, in slices; what it returns.

        What it raises comes out as it is. Whoever calls this holds a place.
        """
        while True:
            async with self._slices:  # taking it is a checkpoint, and so is the next turn of who waits for it
                done, result = self._slice(steps, peer)
            if done:
                assert result is not None
                return result[0]

    def _slice(self, steps: Generator[None, None, _T], peer: str) -> tuple[bool, tuple[_T] | None]:
        """Work for a slice; whether that was the last, and what came of it."""
        self.slices += 1
        began = time.thread_time()
        until = began + self.slice_seconds
        try:
            next(steps)
            while time.thread_time() < until:
                next(steps)
        except StopIteration as stop:
            return True, (stop.value,)
        finally:
            if self.budget is not None:
                self.budget.charge(peer, time.thread_time() - began)
        return False, None

    def _check(self, peer: str) -> None:
        if self.budget is not None:
            self.budget.check(peer)
