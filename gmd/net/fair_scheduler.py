"""Fair scheduling between addresses while the event loop is loaded.

Trio runs every runnable task before it looks for input again. So a client with thousands of connections that all send
a request at once would make one turn of the loop last for seconds. Here a turn should take :data:`TURN_SECONDS`:

- A connection with input passes at once while the present turn has taken less than that. Later connections are parked,
  unread, and let through a few at a time: as many in a turn of the loop as fill it.
- With epoll, an address with very many connections is a group (:mod:`gmd.net.epoll_group`): the loop learns only
  that some of them are readable, and wakes as many as it has time for.

Fair queueing decides which connection goes next. Every address is charged with the processor time of its connections'
tasks. The address charged least goes next, and of its connections the one that has waited longest. So a client with few
requests passes at once, however many the others send.
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

from gmd.net.connection_slots import ConnectionSlot
from gmd.net.epoll_group import EpollGroup

#: Target length of a turn of the event loop, in seconds.
TURN_SECONDS = 0.005
#: Expected cost of a connection, in seconds, before its address has been measured; and the lowest expected cost. An
#: address whose connections did little so far may ask for much with all of them: twenty at most pass in one turn.
FIRST_COST = 0.0005
LEAST_COST = 0.00025
#: Every so many turns, a collection of garbage includes the second generation.
OLDER_EVERY = 4
#: Weight of each measurement relative to the next, in the expected cost of an address's connections.
DECAY = 31 / 32
#: Addresses kept; beyond that, those are forgotten that are in the same state as a new address. If none is, further
#: addresses share a number of flows, so that each still gets about the share of one address.
MAX_FLOWS = 4_096
SHARED_FLOWS = 1_024
#: Connections of one address that make a group; and the most groups, each of which needs a descriptor.
GROUPED_FROM = 32
MAX_GROUPS = 64


class _Flow:
    """The connections of one address, and what they have been charged.

    :ivar tag: its virtual time, in seconds: the flow with the lowest goes next.
    :ivar cost: the expected cost of one of its connections once it is let through, in seconds.
    :ivar parked: tasks that wait to be let through, in order of arrival.
    :ivar group: its connections that wait for bytes; None while they are few.
    :ivar is_readable: whether a connection of the group is readable.
    :ivar is_queued: whether it is in the scheduler's queue.
    """

    __slots__ = (
        *("_let_through", "_passed", "_prepaid", "_spent", "_turn"),
        *("cost", "group", "drained", "is_queued", "is_readable", "parked", "tag"),
    )

    def __init__(self, tag: float) -> None:
        self.cost = FIRST_COST
        self.parked: OrderedDict[Task, None] = OrderedDict()
        self.group: EpollGroup | None = None
        self.is_readable = False
        self.drained = trio.Event()  # set when no connection of the group is readable any more
        self.is_queued = False
        self.forget(tag)

    def forget(self, tag: float) -> None:
        """Forget all charges and prepayments; start with a virtual time."""
        self.tag = tag
        self._prepaid = 0.0  # seconds by which the tag has advanced and which have not been used
        # The seconds used by its connections, and how many were let through: decaying sums, of which the latest
        # connections count most.
        self._spent, self._let_through = FIRST_COST, 1.0
        self._turn = self._passed = 0  # the latest turn of the loop that let some through, and their number

    def let_one_through(self, turn: int) -> bool:
        """Let the connection that has waited longest through; return whether there was one."""
        if self.parked:
            task, _ = self.parked.popitem(last=False)
            trio.lowlevel.reschedule(task)
        elif self.group is None or not self.is_readable or not self.group.wake_one():
            self.is_readable = False
            self.drained.set()
            return False
        self.prepay(turn)
        return True

    def prepay(self, turn: int) -> None:
        """Advance the tag by the expected cost of a connection that is let through.

        :param turn: the number of the loop's present turn.
        """
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
        """Charge the processor time of a connection's task, in seconds."""
        self._spent += seconds
        self._prepaid -= seconds
        if self._prepaid < 0:
            self.tag -= self._prepaid
            self._prepaid = 0.0


class FairScheduler:
    """Lets the connections of all ports through in fair turns by address. Outside :meth:`running` all pass at once.

    :ivar parked: how many readable connections have had to wait so far.
    :ivar collects_garbage: whether it runs the garbage collector between turns under load. Python's own collections are
        rare then, and each takes many times as long as a turn. A program that embeds the daemon has the collector to
        itself, so only ``gmd serve`` sets it.
    """

    def __init__(self, turn_seconds: float = TURN_SECONDS, used: Callable[[], float] = thread_time) -> None:
        """:param turn_seconds: in place of :data:`TURN_SECONDS`; with 0 all have to wait, and one passes in each turn.
        :param used: returns the processor time that the event loop's thread has used so far, in seconds.
        """
        self.turn_seconds = turn_seconds
        self.collects_garbage = False
        self._used = used
        self.parked = 0
        self._nursery: trio.Nursery | None = None
        self._turn_ends = inf  # when the present turn of the loop will have taken turn_seconds, by perf_counter
        self._turn = 0
        self._in_advance = 0.0  # seconds that addresses may still pass in advance in the present turn
        self._may_forget = True  # whether settled flows may be looked for in the present turn: that takes a millisecond
        self._flows: dict[str | int, _Flow] = {}  # by address; those that addresses share by number
        self._groups: dict[_Flow, ConnectionSlot] = {}  # with one slot of each address
        self._queue: list[tuple[float, int, _Flow]] = []  # a heap of the flows with connections to let through
        self._numbers = count()
        self._virtual = 0.0  # the virtual time of the flow that was last let through
        self._is_running = False  # whether the task that lets them through runs
        self._meter: _Meter | None = None  # only while more connections wait than pass in a turn

    @property
    def is_loaded(self) -> bool:
        """Whether connections must wait for their turns."""
        return perf_counter() >= self._turn_ends or self._is_running

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Keep the turns of the event loop short for as long as the context is open."""
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
        """Note that a turn of the loop begins, after it has looked for input."""
        self._turn_ends = perf_counter() + self.turn_seconds
        self._in_advance = self.turn_seconds
        self._may_forget = True

    async def wait_turn(self, source: str) -> None:
        """Return when a connection may be read and answered. It is a checkpoint only if the connection has to wait.

        :param source: the address that the connection is charged to.
        """
        if self._nursery is None or not self.is_loaded:
            return
        task, flow = trio.lowlevel.current_task(), self._flow(source)
        if self._meter is not None:
            self._meter.watch(task, flow)
        if self._is_running and self._in_advance >= 0 and flow.tag <= self._virtual and not flow.is_queued:
            flow.tag = self._virtual
            flow.prepay(self._turn)  # otherwise all its connections would pass before the first one is charged
            self._in_advance -= flow.cost  # otherwise thousands of new addresses would pass in one turn
            return  # the address has used less than its share
        await self._park(task, flow)

    def group_of(self, slot: ConnectionSlot) -> EpollGroup | None:
        """Return the group of a slot's address, made if need be; None if there is no room for one more group."""
        flow = self._flow(slot.source)
        if self._flows.get(slot.source) is not flow:
            return None  # it is shared with other addresses
        if flow.group is None and self._nursery is not None:
            if len(self._groups) >= MAX_GROUPS:
                self._disband_groups()
            if len(self._groups) < MAX_GROUPS and (group := EpollGroup.opened()) is not None:
                flow.group = group
                self._nursery.start_soon(self._watch_group, flow, group)
        if flow.group is not None:
            self._groups[flow] = slot
        return flow.group

    def _disband_groups(self) -> None:
        """End the groups of addresses that have few connections by now; those wait as connections of others do."""
        for flow, slot in list(self._groups.items()):
            if flow.group is not None and slot.neighbours < GROUPED_FROM:
                flow.group.disband()
                self._end_group(flow)

    def _end_group(self, flow: _Flow) -> None:
        flow.group, flow.is_readable = None, False
        flow.drained.set()
        self._groups.pop(flow, None)

    def begin(self, source: str) -> None:
        """Charge an address for the present task from now on; its group has just woken it to read."""
        if self._meter is not None:
            self._meter.watch(trio.lowlevel.current_task(), self._flow(source))

    async def _watch_group(self, flow: _Flow, group: EpollGroup) -> None:
        """Queue an address whenever a connection of its group is readable."""
        try:
            while flow.group is group:
                await group.wait_readable()
                if flow.group is group:
                    flow.is_readable, flow.drained = True, trio.Event()
                    self._enqueue(flow)
                    await flow.drained.wait()
        finally:
            if flow.group is group:
                self._end_group(flow)
            group.close()

    def _flow(self, source: str) -> _Flow:
        flow = self._flows.get(source)
        if flow is None:
            key: str | int = source
            if not self._has_room():
                key = hash(source) % SHARED_FLOWS
                flow = self._flows.get(key)
            if flow is None:
                flow = self._flows[key] = _Flow(self._virtual)
        return flow

    def _has_room(self) -> bool:
        """Return whether one more address may have its own flow, after forgetting others if need be."""
        if len(self._flows) >= MAX_FLOWS and self._may_forget:
            self._may_forget = False
            self._forget_settled()
        return len(self._flows) < MAX_FLOWS

    def _forget_settled(self) -> None:
        """Forget the addresses that are in the same state as a new one."""
        for source, flow in list(self._flows.items()):
            if flow.group is None and not flow.is_queued and flow.tag <= self._virtual:
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
        """Queue an address that has a connection to let through."""
        if flow.is_queued:
            return
        flow.is_queued = True
        flow.tag = max(flow.tag, self._virtual)
        heappush(self._queue, (flow.tag, next(self._numbers), flow))
        if not self._is_running and self._nursery is not None:
            self._is_running = True
            self._nursery.start_soon(self._let_through)

    async def _let_through(self) -> None:
        """Let waiting connections through, some in each turn of the loop, until none is left."""
        while self._queue:
            self._let_some_through()
            if self._queue and self._meter is None:
                self._meter = _Meter(self._used)
                trio.lowlevel.add_instrument(self._meter)
            if self._meter is not None and self.collects_garbage:
                gc.collect(1 if self._turn % OLDER_EVERY == 0 else 0)
            await trio.lowlevel.checkpoint()
        self._end_load()

    def _end_load(self) -> None:
        """Reset all addresses when no connection waits any more: under the next load they start equal."""
        self._is_running = False
        if self._meter is not None:
            trio.lowlevel.remove_instrument(self._meter)
            self._meter.stop()
            self._meter = None
        self._virtual = 0.0
        self._flows = {source: flow for source, flow in self._flows.items() if flow.group is not None}
        for flow in self._flows.values():
            flow.forget(0.0)

    def _let_some_through(self) -> None:
        """Let as many connections through as are expected to fill a turn of the loop, at least one."""
        seconds = self.turn_seconds
        self._turn += 1
        while self._queue:
            tag, _, flow = self._queue[0]
            if flow.tag > tag:  # it was charged after it was queued
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
    """A trio instrument that notifies a scheduler at the beginning of each turn of the event loop."""

    def __init__(self, scheduler: FairScheduler) -> None:
        self._scheduler = scheduler

    def after_io_wait(self, timeout: float) -> None:
        self._scheduler.begin_turn()


class _Meter(trio.abc.Instrument):
    """A trio instrument that charges addresses for the processor time of their connections' tasks.

    It runs at every step of every task, so it is installed only while many wait.

    :ivar flows: the flow that each task is charged to, from its first turn on.
    """

    def __init__(self, used: Callable[[], float]) -> None:
        self.flows: dict[Task, _Flow] = {}
        self._used = used
        self._began = used()
        self._collection_began = 0.0
        gc.callbacks.append(self._note_collection)

    def stop(self) -> None:
        """Stop charging."""
        gc.callbacks.remove(self._note_collection)

    def _note_collection(self, phase: str, _: object) -> None:
        """Exclude garbage collection from the charges: it takes a hundred times as long as a request."""
        if phase == "start":
            self._collection_began = self._used()
        else:
            self._began += self._used() - self._collection_began

    def watch(self, task: Task, flow: _Flow) -> None:
        """Charge a flow for the present task from now on."""
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
