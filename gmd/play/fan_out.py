"""Notifying many without delaying others: in portions, one in each turn of the event loop."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import trio

_Member = TypeVar("_Member")


class Group(Generic[_Member]):
    """Those who are notified together.

    :ivar members: the least recently notified first.
    :ivar called: how many members, from the first on, are still to be notified.
    """

    __slots__ = ("_notify", "called", "members")

    def __init__(self, notify: Callable[[_Member], None]) -> None:
        """:param notify: notifies a member, and adds or removes none."""
        self.members: OrderedDict[_Member, None] = OrderedDict()
        self.called = 0
        self._notify = notify

    def notify_some(self, most: int) -> int:
        """Notify the next members, ``most`` of them at most; return their number.

        Each goes to the end, as it may wait again: one that is notified in vain must not delay the others.
        """
        count = self.called = min(self.called, len(self.members))
        count = min(count, most)
        for _ in range(count):
            member = next(iter(self.members))
            self.members.move_to_end(member)
            self._notify(member)
        self.called -= count
        return count


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
        group.called = len(group.members)
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
