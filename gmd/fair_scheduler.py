"""Turns between addresses while the event loop is loaded: nobody waits for more than its share of others' requests.

Trio runs every task that can run before it looks for input again. So whoever has thousands of connections that all ask
at once would make one turn of the loop last for seconds. Here a turn is to take :data:`TURN_SECONDS`:

- A connection that has something to be read passes at once as long as the present turn has not taken that long. Later
  ones are parked, unread, and let through a few at a time: as many in a turn of the loop as fill it.
- An address with very many connections is a crowd (:mod:`gmd.crowds`): the loop is told that some of them can be read,
  and wakes as many as it has time for.

Who goes next is decided by fair queueing. Every address is charged with the processor time of its connections' tasks;
the one charged least goes next, and within it the connection that has waited longest. So a client that asks
little passes at once, however much others ask.
"""

from __future__ import annotations

import gc
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from heapq import heappop, heappush, heapreplace
from itertools import count
from math import inf
from time import perf_counter, thread_time

import trio
from trio.lowlevel import Abort, Task

from .crowds import Crowd

#: Seconds that a turn of the event loop is to take.
TURN_SECONDS = 0.005
#: Seconds that a connection is expected to take before its address has been measured; and the least.
FIRST_COST = 0.0005
LEAST_COST = 0.0001
#: Turns after which garbage is looked for among what is older, too.
OLDER_EVERY = 4
#: How much less an earlier measurement counts in what a connection of an address is expected to take.
DECAY = 31 / 32
#: Addresses that are remembered; beyond that those are forgotten that a new one would be no different from.
MAX_FLOWS = 4_096
#: Connections of one address from which on they are a crowd; and the most crowds, each of which has a descriptor.
CROWD = 32
MAX_CROWDS = 64


class _Flow:
    """The connections of one address, and what they have been charged.

    :ivar tag: its virtual time, in seconds: whoever has the least goes next.
    :ivar cost: seconds that one of its connections usually takes once it is let through.
    :ivar parked: tasks that wait to be let through, in the order in which they came.
    :ivar crowd: its connections that wait for bytes, once they are many.
    :ivar is_readable: whether some of the crowd can be read.
    :ivar is_queued: whether it is among those that have somebody to be let through.
    """

    __slots__ = (
        *("_let_through", "_passed", "_prepaid", "_spent", "_turn"),
        *("cost", "crowd", "drained", "is_queued", "is_readable", "parked", "tag"),
    )

    def __init__(self, tag: float) -> None:
        self.cost = FIRST_COST
        self.parked: OrderedDict[Task, None] = OrderedDict()
        self.crowd: Crowd | None = None
        self.is_readable = False
        self.drained = trio.Event()  # set when nobody of the crowd can be read any more
        self.is_queued = False
        self.forget(tag)

    def forget(self, tag: float) -> None:
        """Owe nothing, and be owed nothing."""
        self.tag = tag
        self._prepaid = 0.0  # seconds that the tag has advanced by and that have not been used
        # What its connections have used, in seconds, and how many were let through: the latest count most.
        self._spent, self._let_through = FIRST_COST, 1.0
        self._turn = self._passed = 0  # the latest turn of the loop in which some were let through, and how many

    def let_one_through(self, turn: int) -> bool:
        """Let the connection that has waited longest through; whether there was one."""
        if self.parked:
            task, _ = self.parked.popitem(last=False)
            trio.lowlevel.reschedule(task)
        elif self.crowd is None or not self.is_readable or not self.crowd.wake_one():
            self.is_readable = False
            self.drained.set()
            return False
        self.prepay(turn)
        return True

    def prepay(self, turn: int) -> None:
        """Advance by what a connection is expected to take that is let through in a turn of the loop."""
        self.cost = max(LEAST_COST, self._spent / self._let_through)
        self._spent *= DECAY
        self._let_through = self._let_through * DECAY + 1
        self._passed = 1 + (self._passed if turn == self._turn else 0)
        self._turn = turn
        missing = self._passed * self.cost - self._prepaid
        if missing > 0:
            self.tag += missing
            self._prepaid += missing

    def charge(self, seconds: float) -> None:
        """Note that the task of a connection has taken some time."""
        self._spent += seconds
        self._prepaid -= seconds
        if self._prepaid < 0:
            self.tag -= self._prepaid
            self._prepaid = 0.0


class FairScheduler:
    """Lets the connections of all ports through in turns by address. Without :meth:`running` everybody passes.

    :ivar parked: how many connections had to wait so far though they could be read.
    """

    def __init__(self, turn_seconds: float = TURN_SECONDS, used: Callable[[], float] = thread_time) -> None:
        """:param turn_seconds: in place of :data:`TURN_SECONDS`; with 0 everybody has to wait, and one passes a turn.
        :param used: the seconds that the event loop's thread has used so far, by which addresses are charged.
        """
        self.turn_seconds = turn_seconds
        self._used = used
        self.parked = 0
        self._nursery: trio.Nursery | None = None
        self._turn_ends = inf  # when the present turn of the loop has taken long, by perf_counter
        self._turn = 0
        self._flows: dict[str, _Flow] = {}
        self._crowds = 0
        self._queue: list[tuple[float, int, _Flow]] = []  # a heap of those that have somebody to be let through
        self._numbers = count()
        self._virtual = 0.0  # the virtual time of whoever was last let through
        self._is_running = False  # whether there is a task that lets them through
        self._meter: _Meter | None = None  # while more wait than pass in a turn

    @property
    def is_loaded(self) -> bool:
        """Whether connections have to ask for their turns."""
        return perf_counter() >= self._turn_ends or self._is_running

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Watch the event loop, whose turns are to be short, for as long as this is entered."""
        watch = _Watch(self)
        async with trio.open_nursery() as self._nursery:
            trio.lowlevel.add_instrument(watch)
            try:
                yield
            finally:
                trio.lowlevel.remove_instrument(watch)
                self._turn_ends = inf
                self._nursery.cancel_scope.cancel()
                self._nursery = None

    def begin_turn(self) -> None:
        """A turn of the loop begins: it has looked for input."""
        self._turn_ends = perf_counter() + self.turn_seconds

    async def wait_turn(self, source: str) -> None:
        """Return when a connection may be read and answered: at once, and as no checkpoint, unless it has to wait.

        :param source: the address that it counts for.
        """
        if self._nursery is None or not self.is_loaded:
            return
        task, flow = trio.lowlevel.current_task(), self._flow(source)
        if self._meter is not None:
            self._meter.watch(task, flow)
        if self._is_running and flow.tag <= self._virtual and not flow.is_queued:
            flow.tag = self._virtual
            flow.prepay(self._turn)  # or all its connections would pass before the first of them is charged
            return  # it has used less than its share
        await self._park(task, flow)

    def crowd_of(self, source: str) -> Crowd | None:
        """Where the connections of an address wait that has very many; None where there is no room for one more."""
        flow = self._flow(source)
        if flow.crowd is None and self._nursery is not None and self._crowds < MAX_CROWDS:
            try:
                flow.crowd = Crowd()
            except OSError:  # no descriptor is left
                return None
            self._crowds += 1
            self._nursery.start_soon(self._watch_crowd, flow, flow.crowd)
        return flow.crowd

    def begin(self, source: str) -> None:
        """Charge an address with what the present task takes, which has waited in its crowd and can be read."""
        if self._meter is not None:
            self._meter.watch(trio.lowlevel.current_task(), self._flow(source))

    async def _watch_crowd(self, flow: _Flow, crowd: Crowd) -> None:
        """Queue an address whenever some of its crowd can be read."""
        try:
            while True:
                await crowd.wait_readable()
                flow.is_readable, flow.drained = True, trio.Event()
                self._enqueue(flow)
                await flow.drained.wait()
        finally:
            flow.crowd = None
            self._crowds -= 1
            crowd.close()

    def _flow(self, source: str) -> _Flow:
        flow = self._flows.get(source)
        if flow is None:
            if len(self._flows) >= MAX_FLOWS:
                self._forget_settled()
            flow = self._flows[source] = _Flow(self._virtual)
        return flow

    def _forget_settled(self) -> None:
        """Forget the addresses that a new one would be no different from."""
        for source, flow in list(self._flows.items()):
            if flow.crowd is None and not flow.is_queued and flow.tag <= self._virtual:
                del self._flows[source]

    async def _park(self, task: Task, flow: _Flow) -> None:
        flow.parked[task] = None
        self.parked += 1
        self._enqueue(flow)

        def abort(_: object) -> Abort:
            del flow.parked[task]
            return Abort.SUCCEEDED

        await trio.lowlevel.wait_task_rescheduled(abort)

    def _enqueue(self, flow: _Flow) -> None:
        """An address has somebody to be let through."""
        if flow.is_queued:
            return
        flow.is_queued = True
        flow.tag = max(flow.tag, self._virtual)
        heappush(self._queue, (flow.tag, next(self._numbers), flow))
        if not self._is_running and self._nursery is not None:
            self._is_running = True
            self._nursery.start_soon(self._let_through)

    async def _let_through(self) -> None:
        """Let those who wait through, some in each turn of the loop, until nobody waits."""
        while self._queue:
            self._let_some_through()
            if self._queue and self._meter is None:
                self._meter = _Meter(self._used)
                trio.lowlevel.add_instrument(self._meter)
            if self._meter is not None:
                gc.collect(1 if self._turn % OLDER_EVERY == 0 else 0)
            await trio.lowlevel.checkpoint()
        self._end_load()

    def _end_load(self) -> None:
        """Everybody has had a turn: at the next load all addresses are equal."""
        self._is_running = False
        if self._meter is not None:
            trio.lowlevel.remove_instrument(self._meter)
            self._meter.stop()
            self._meter = None
        self._virtual = 0.0
        self._flows = {source: flow for source, flow in self._flows.items() if flow.crowd is not None}
        for flow in self._flows.values():
            flow.forget(0.0)

    def _let_some_through(self) -> None:
        """Let as many through as are expected to fill a turn of the loop, at least one."""
        seconds = self.turn_seconds
        self._turn += 1
        while self._queue:
            tag, _, flow = self._queue[0]
            if flow.tag > tag:  # it was charged meanwhile
                heapreplace(self._queue, (flow.tag, next(self._numbers), flow))
                continue
            if not flow.let_one_through(self._turn):
                heappop(self._queue)
                flow.is_queued = False
                continue
            self._virtual = tag
            seconds -= flow.cost
            if seconds <= 0:
                return


class _Watch(trio.abc.Instrument):
    """Tells a scheduler when a turn of the event loop begins."""

    def __init__(self, scheduler: FairScheduler) -> None:
        self._scheduler = scheduler

    def after_io_wait(self, timeout: float) -> None:
        self._scheduler.begin_turn()


class _Meter(trio.abc.Instrument):
    """Charges addresses with what their connections' tasks take. It watches every step: only while many wait.

    :ivar flows: the tasks that have come for a turn, and what they are charged to.
    """

    def __init__(self, used: Callable[[], float]) -> None:
        self.flows: dict[Task, _Flow] = {}
        self._used = used
        self._began = used()
        self._collection_began = 0.0
        gc.callbacks.append(self._note_collection)

    def stop(self) -> None:
        """Charge nobody any more."""
        gc.callbacks.remove(self._note_collection)

    def _note_collection(self, phase: str, _: object) -> None:
        """Charge nobody with collecting what all have left behind: it takes a hundred times what a request does."""
        if phase == "start":
            self._collection_began = self._used()
        else:
            self._began += self._used() - self._collection_began

    def watch(self, task: Task, flow: _Flow) -> None:
        """Charge a flow with what the present task takes from here on."""
        if self.flows.get(task) is not flow:
            self.flows[task] = flow
            self._began = self._used()

    def before_task_step(self, task: Task) -> None:
        if task in self.flows:
            self._began = self._used()

    def after_task_step(self, task: Task) -> None:
        flow = self.flows.get(task)
        if flow is not None:
            flow.charge(self._used() - self._began)

    def task_exited(self, task: Task) -> None:
        self.flows.pop(task, None)
