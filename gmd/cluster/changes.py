"""A daemon's changes of the map of shards, one after another, on a connection that is not the one of renewals.

A change may take seconds: a takeover waits for commits that are under way in each of the shards. The lease is renewed
meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import psycopg
import trio

from .lease_thread import LeaseThread
from .leases import Leases

_T = TypeVar("_T")


class Changes:
    """Makes changes of the map, each in a short transaction of its own, in a thread."""

    def __init__(self, leases: Leases, thread: LeaseThread) -> None:
        """:param leases: the access to the tables by which changes are made, and nothing else meanwhile.
        :param thread: sees the map, and tells the event loop, in the order in which the database says it.
        """
        self._leases = leases
        self._thread = thread
        self._one_at_a_time = trio.CapacityLimiter(1)

    async def make(self, change: Callable[[], _T]) -> _T:
        """Make a change, and return its result once the map with it is seen.

        A cancelled caller waits until a change that has begun is made.

        :param change: a method of the leases given, with its arguments; it blocks.
        :raises psycopg.Error: the database failed.
        :raises Fenced: the lease has run out.
        """
        result = await self.make_unseen(change)
        await self._thread.look()
        return result

    async def make_unseen(self, change: Callable[[], _T]) -> _T:
        """Make a change, and return its result, whatever is seen of it; errors are those of :meth:`make`."""
        return await trio.to_thread.run_sync(self._closing_after_errors, change, limiter=self._one_at_a_time)

    def _closing_after_errors(self, change: Callable[[], _T]) -> _T:
        try:
            return change()
        except psycopg.Error:
            self._leases.close()
            raise

    async def close(self) -> None:
        """Close the connection, after the last change."""
        with trio.CancelScope(shield=True):
            await trio.to_thread.run_sync(self._leases.close, limiter=self._one_at_a_time)
