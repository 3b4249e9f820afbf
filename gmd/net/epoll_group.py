"""Sockets of one address that wait for bytes: however many become readable, a task is woken only on demand."""

from __future__ import annotations

import select

import trio
from trio.lowlevel import Abort, Task

from gmd.net.descriptors import shortage


class EpollGroup:
    """Tasks that each wait for a socket to become readable, and are woken one by one.

    Trio by itself wakes all tasks with readable sockets in one turn of the event loop. Here the sockets are in a
    separate epoll set, which trio sees as one descriptor. Only Linux has epoll.
    """

    def __init__(self) -> None:
        """Open the epoll set.

        :raises OSError: no descriptor is left.
        """
        self._epoll = select.epoll()
        self._waiting: dict[int, Task] = {}
        self._watching = trio.CancelScope()

    @classmethod
    def opened(cls) -> EpollGroup | None:
        """Return a new group; None without epoll, or if the last descriptors are in use, which no group may take."""
        if not hasattr(select, "epoll"):
            return None
        try:
            group = cls()
        except OSError:
            return None
        if shortage(group._epoll.fileno()) is None:
            return group
        group.close()
        return None

    def __len__(self) -> int:
        """Return the number of waiting tasks."""
        return len(self._waiting)

    async def wait(self, descriptor: int) -> None:
        """Return when the descriptor is readable and :meth:`wake_one` has reached it."""
        try:
            self._epoll.modify(descriptor, select.EPOLLIN | select.EPOLLONESHOT)
        except FileNotFoundError:  # it is not in the set yet
            self._epoll.register(descriptor, select.EPOLLIN | select.EPOLLONESHOT)
        self._waiting[descriptor] = trio.lowlevel.current_task()

        def abort(_: object) -> Abort:
            del self._waiting[descriptor]  # the set reports it once more, which wake_one ignores
            return Abort.SUCCEEDED

        await trio.lowlevel.wait_task_rescheduled(abort)

    def wake_one(self) -> bool:
        """Wake the task whose socket has been readable for longest; return whether there was one."""
        while events := self._epoll.poll(0, 1):
            task = self._waiting.pop(events[0][0], None)
            if task is not None:
                trio.lowlevel.reschedule(task)
                return True
        return False

    async def wait_readable(self) -> None:
        """Return when at least one socket is readable, or when the group is disbanded."""
        with trio.CancelScope() as self._watching:
            await trio.lowlevel.wait_readable(self._epoll.fileno())

    def disband(self) -> None:
        """Wake all tasks: their sockets may not be readable, and they must wait for them elsewhere."""
        waiting, self._waiting = self._waiting, {}
        for task in waiting.values():
            trio.lowlevel.reschedule(task)
        self._watching.cancel()

    def close(self) -> None:
        """Close the epoll set's descriptor; no task may be waiting."""
        self._epoll.close()
