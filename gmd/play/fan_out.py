"""Notifying many without delaying others: in portions, one in each turn of the event loop."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar

import trio
from msgspec import Struct

_Member = TypeVar("_Member")


class Membership(Struct, Generic[_Member], gc=False, eq=False):
    """A member's place in a group. There may be a million: the garbage collector does not look at them.

    So a place that leads to others must not be dropped: a member is removed before its group is.
    """

    member: _Member
    previous: Membership[_Member] | None = None
    next: Membership[_Member] | None = None


class Group(Generic[_Member]):
    """Those who are notified together. Iteration yields the members, the least recently notified first.

    It is a linked list, because a dict is copied as it grows. A session that waits for a hundred games joins a hundred
    groups: if thousands wait for the same games, all these would grow in one call, of a fifth of a second.

    :ivar called: how many members, from the first on, are still to be notified.
    """

    __slots__ = ("_first", "_last", "_notify", "_size", "called")

    def __init__(self, notify: Callable[[_Member], None]) -> None:
        """:param notify: notifies a member, and adds or removes none."""
        self._first: Membership[_Member] | None = None
        self._last: Membership[_Member] | None = None
        self._size = 0
        self.called = 0
        self._notify = notify

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[_Member]:
        place = self._first
        while place is not None:
            following = place.next
            yield place.member
            place = following

    def add(self, member: _Member) -> Membership[_Member]:
        """Add a member as the last one; return its place, which removes it."""
        place = Membership(member)
        self._append(place)
        self._size += 1
        return place

    def remove(self, place: Membership[_Member]) -> None:
        """Remove a member."""
        self._unlink(place)
        self._size -= 1

    def notify_some(self, most: int) -> int:
        """Notify the next members, ``most`` of them at most; return their number.

        Each goes to the end, as it may wait again: one that is notified in vain must not delay the others.
        """
        count = self.called = min(self.called, self._size)
        count = min(count, most)
        for _ in range(count):
            place = self._first
            assert place is not None
            self._unlink(place)
            self._append(place)
            self._notify(place.member)
        self.called -= count
        return count

    def _append(self, place: Membership[_Member]) -> None:
        place.previous = self._last
        if self._last is None:
            self._first = place
        else:
            self._last.next = place
        self._last = place

    def _unlink(self, place: Membership[_Member]) -> None:
        before, after = place.previous, place.next
        if before is None:
            self._first = after
        else:
            before.next = after
        if after is None:
            self._last = before
        else:
            after.previous = before
        place.previous = place.next = None


class FanOut:
    """Notifies groups. Those that are called at the same time take turns, so a large one does not delay a small one."""

    def __init__(self, portion: int, at_once: int) -> None:
        """:param portion: the most members that are notified in one turn of the event loop.
        :param at_once: the most of a group before those of the next.
        """
        self._portion = portion
        self._at_once = at_once
        self._called: OrderedDict[Group[Any], None] = OrderedDict()
        self._some = trio.Event()
        self._left = portion  # how many may be notified until run() has had its next turn

    def call(self, group: Group[Any], *, first_now: bool = False) -> None:
        """Have all present members of a group notified.

        :param first_now: whether to notify now as many as the present portion has room for.
        """
        group.called = len(group)
        if first_now and self._left > 0:
            self._left -= group.notify_some(self._left)
            if self._left <= 0:
                self._some.set()  # for the next portion
        if group.called and group not in self._called:
            self._called[group] = None
            self._some.set()

    async def run(self) -> None:
        """Notify the members of the groups called, until cancelled."""
        while True:
            self._left = self._portion
            if not self._called:
                self._some = trio.Event()
                await self._some.wait()
                self._left = self._portion
            self._notify_portion()
            await trio.lowlevel.checkpoint()

    def _notify_portion(self) -> None:
        while self._left > 0 and self._called:
            group, _ = self._called.popitem(last=False)
            self._left -= group.notify_some(min(self._left, self._at_once))
            if group.called:
                self._called[group] = None
