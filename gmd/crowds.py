"""Sockets of one address that wait for bytes: however many become readable, nobody is woken until it is asked for."""

from __future__ import annotations

import select

import trio
from trio.lowlevel import Abort, Task


class Crowd:
    """Tasks that each wait for a socket to become readable, and are woken one by one.

    Trio wakes all tasks whose sockets are readable in one turn of the event loop. These sockets are in a set of their
    own (epoll), which trio sees as one descriptor.
    """

    def __init__(self) -> None:
        """:raises OSError: there is no descriptor left."""
        self._epoll = select.epoll()
        self._waiting: dict[int, Task] = {}

    def __len__(self) -> int:
        """How many tasks wait."""
        return len(self._waiting)

    async def wait(self, descriptor: int) -> None:
        """Return when the descriptor is readable and :meth:`wake_one` has come to it."""
        try:
            self._epoll.modify(descriptor, select.EPOLLIN | select.EPOLLONESHOT)
        except FileNotFoundError:  # it is new here
            self._epoll.register(descriptor, select.EPOLLIN | select.EPOLLONESHOT)
        self._waiting[descriptor] = trio.lowlevel.current_task()

        def abort(_: object) -> Abort:
            del self._waiting[descriptor]  # the set tells of it once more, and that is ignored
            return Abort.SUCCEEDED

        await trio.lowlevel.wait_task_rescheduled(abort)

    def wake_one(self) -> bool:
        """Wake the task whose socket has been readable for longest; whether there was one."""
        while events := self._epoll.poll(0, 1):
            task = self._waiting.pop(events[0][0], None)
            if task is not None:
                trio.lowlevel.reschedule(task)
                return True
        return False

    async def wait_readable(self) -> None:
        """Return when a socket is readable."""
        await trio.lowlevel.wait_readable(self._epoll.fileno())

    def close(self) -> None:
        """Give the descriptor back; nobody may be waiting."""
        self._epoll.close()
