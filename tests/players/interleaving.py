"""Scheduler for operations of one daemon: each operation stops wherever others may overtake it, and every order is
tried.

An operation stops before it begins, before each write of the players' store, and before it learns the result of a
password comparison. The scheduler releases one operation at a time, and the next one only when everything that follows
from it has happened. The sequence of choices therefore determines the whole order of events, and can be repeated.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import NamedTuple

import trio
from trio.testing import wait_all_tasks_blocked

from gmd.players.account import Account
from gmd.players.fair_queue import OURSELVES, QueuedClient
from gmd.players.passwords import Passwords
from gmd.players.store import PlayerStore


class Stops:
    """The points where operations wait to be released.

    :ivar holding: whether operations stop at all.
    """

    def __init__(self) -> None:
        self.holding = False
        self._waiting: list[trio.Event] = []
        self._busy = 0
        self._idle = trio.Event()

    async def stop(self) -> None:
        """Wait to be released."""
        if self.holding:
            event = trio.Event()
            self._waiting.append(event)
            await event.wait()

    @contextmanager
    def working(self) -> Iterator[None]:
        """Mark work by a thread, which must end before the next choice."""
        self._busy += 1
        try:
            yield
        finally:
            self._busy -= 1
            if not self._busy:
                self._idle.set()
                self._idle = trio.Event()

    async def settled(self) -> int:
        """Wait until nothing happens any more; return how many operations wait to be released."""
        while True:
            await wait_all_tasks_blocked()
            if not self._busy:
                return len(self._waiting)
            await self._idle.wait()

    def release(self, choice: int) -> None:
        """Release one operation, counted in the order in which they stopped."""
        self._waiting.pop(choice).set()


class StoppedStore:
    """Store of players that stops before each change is written."""

    def __init__(self, store: PlayerStore, stops: Stops) -> None:
        self._store = store
        self._stops = stops

    async def load(self) -> list[Account]:
        return await self._store.load()

    async def newest_id(self) -> int:
        return await self._store.newest_id()

    async def add(self, account: Account) -> None:
        await self._stops.stop()
        with self._stops.working():
            await self._store.add(account)

    async def change(self, account: Account) -> None:
        await self._stops.stop()
        with self._stops.working():
            await self._store.change(account)


class StoppedPasswords(Passwords):
    """Passwords with a cheap hash, which stop after each hash and comparison."""

    def __init__(self, stops: Stops) -> None:
        super().__init__(passes=1, memory_kib=64)
        self._stops = stops

    async def hash(self, password: str, client: QueuedClient = OURSELVES) -> str:
        with self._stops.working():
            hashed = await super().hash(password, client)
        await self._stops.stop()
        return hashed

    async def verify(self, stored: str | None, password: str, client: QueuedClient = OURSELVES) -> bool:
        with self._stops.working():
            matches = await super().verify(stored, password, client)
        await self._stops.stop()
        return matches


class Choice(NamedTuple):
    """The operation that was released, and the number of those that waited."""

    taken: int
    of: int


#: Function that runs the same operations in another order, given the first choices, and returns all choices.
Run = Callable[[Sequence[int]], Awaitable[list[Choice]]]


async def every_order(run: Run) -> AsyncIterator[list[Choice]]:
    """Run the operations in every possible order."""
    first: list[Choice] = []
    while True:
        choices = await run([choice.taken for choice in first])
        assert choices[: len(first)] == first, "the same choices led elsewhere"
        yield choices
        while choices and choices[-1].taken + 1 == choices[-1].of:
            choices.pop()
        if not choices:
            return
        first = [*choices[:-1], choices[-1]._replace(taken=choices[-1].taken + 1)]


@asynccontextmanager
async def scheduled(stops: Stops, first: Sequence[int], made: list[Choice]) -> AsyncIterator[trio.Nursery]:
    """Release the operations that the block starts in one order: as ``first`` says, then always the oldest.

    :param first: which waiting operation to release, one number for each choice, modulo the number that wait.
    :param made: the choices made.
    """
    stops.holding = True
    async with trio.open_nursery() as nursery:
        yield nursery
        while waiting := await stops.settled():
            taken = first[len(made)] % waiting if len(made) < len(first) else 0
            made.append(Choice(taken, waiting))
            stops.release(taken)
        stops.holding = False
