"""Scheduling and rate limits for expensive requests, by processor time.

The event loop has one thread. Work that takes longer than a few milliseconds is a generator that yields often. It is
run in slices, at most one slice in a turn of the loop, so that a move waits for one slice and not for all of the work.
Each address has one piece of work in progress; its further work queues behind that. Addresses take turns slice by
slice. Processor time is charged after it was used.

Threads would not help: the work is pure Python, so a thread would hold the interpreter lock for five milliseconds at a
time; in a test, forty threads blocked the loop for seconds.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Generator
from contextlib import asynccontextmanager
from typing import TypeVar

import trio

from gmd.event_log.keyed_locks import KeyedLocks
from gmd.net.addresses import source_of
from gmd.players.rate_limiter import RateLimiter

_T = TypeVar("_T")

#: Seconds of processor time in a slice. A slice exceeds this by up to one step of its generator, which should take well
#: below a millisecond.
SLICE_SECONDS = 0.001
#: The period of the budgets, in seconds.
PERIOD = 60.0
#: A connection may use one part in so many of its address's budget: in a class behind one address, one bot leaves half
#: to the others.
CONNECTION_SHARE = 2


class Budget:
    """Processor time that expensive requests may take, for each address and each connection."""

    def __init__(self, milliseconds: int) -> None:
        """:param milliseconds: processor time that an address may use in a minute, at once or spread out."""
        name, unit = "max_work_per_minute", "milliseconds of processor time"
        share = max(1, milliseconds // CONNECTION_SHARE)
        self._addresses = RateLimiter(name, milliseconds, PERIOD, unit=unit)
        self._connections = RateLimiter(name, share, PERIOD, unit=unit, whose="connection", key=str)

    def check(self, peer: str) -> None:
        """Check that some budget is left.

        :param peer: the client, as host:port; an empty one has no limit.
        :raises TooMany: the budget is used up. Work is never stopped halfway: the work that used it up was finished.
        """
        self._addresses.check(peer)
        self._connections.check(peer)

    def charge(self, peer: str, seconds: float) -> None:
        """Charge a client for seconds of processor time, if need be more than is left."""
        self._addresses.charge(peer, seconds * 1_000)
        self._connections.charge(peer, seconds * 1_000)


class CpuQueue:
    """Runs long work, a slice at a time."""

    def __init__(self, budget: Budget | None = None, slice_seconds: float = SLICE_SECONDS) -> None:
        """:param budget: charged for the work; None for no limit.
        :param slice_seconds: processor time of a slice; with 0 a slice is one step of the generator.
        """
        self.budget = budget
        self.slice_seconds = slice_seconds
        self._slots = KeyedLocks()  # a lock for each address that has work
        self._slices = trio.StrictFIFOLock()  # makes addresses take turns: one task of each waits for it
        #: The number of slices run so far.
        self.slices = 0

    @asynccontextmanager
    async def slot(self, peer: str, *, paid: bool = False) -> AsyncIterator[None]:
        """Hold the address's slot, in which :meth:`run` may be called; earlier work of the address comes first.

        An address has a second slot for unpaid work, so that loading a player's game does not wait for histories.

        :param peer: the client, as host:port. All clients with an empty one (in-process, the operator) share a slot.
        :param paid: whether the work is refused if the budget is used up.
        :raises TooMany: the budget is used up.
        """
        if paid:
            self._check(peer)  # so that no request waits only to be refused
        async with self._slots.hold((source_of(peer) if peer else "", paid)):
            if paid:
                self._check(peer)
            yield

    async def run(self, steps: Generator[None, None, _T], peer: str) -> _T:
        """Run a generator to its end, in slices, and return its value. Its exceptions pass through unchanged.

        The caller must hold a slot.
        """
        while True:
            async with self._slices:  # a checkpoint: the next slice, whoever runs it, comes in a later turn of the loop
                done, result = self._slice(steps, peer)
            if done:
                assert result is not None
                return result[0]

    def _slice(self, steps: Generator[None, None, _T], peer: str) -> tuple[bool, tuple[_T] | None]:
        """Run one slice; return whether it was the last, and the generator's value."""
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
