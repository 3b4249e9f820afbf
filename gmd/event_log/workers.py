"""Threads for the database that end with the log.

trio keeps the threads of :func:`trio.to_thread.run_sync` alive for ten seconds after their last work, for the whole
process: a program would still have them after it has closed its daemon.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TypeVar

import trio

from gmd.keyed_locks import KeyedLocks

_T = TypeVar("_T")


class Workers:
    """A pool of at most ``count`` threads, started when needed."""

    def __init__(self, count: int, name: str) -> None:
        self._pool = ThreadPoolExecutor(count, thread_name_prefix=name)
        self._turns = KeyedLocks()

    async def run_in_turn(self, source: str, function: Callable[..., _T], *args: object) -> _T:
        """Call a function as :meth:`run` does: one call of each source at a time, so that sources take turns.

        :param source: stands for the client's address; an empty one has no limit.
        """
        if not source:
            return await self.run(function, *args)
        async with self._turns.hold(source):
            return await self.run(function, *args)

    async def run(self, function: Callable[..., _T], *args: object) -> _T:
        """Call a function in a thread, and return its result.

        A cancellation before a thread has begun prevents the call. After that, as with trio's own threads, a
        cancellation waits until the function returns, and its result is returned without raising Cancelled.
        """
        await trio.lowlevel.checkpoint_if_cancelled()
        token, done = trio.lowlevel.current_trio_token(), trio.Event()

        def notify(_: object) -> None:
            with suppress(trio.RunFinishedError):
                token.run_sync_soon(done.set)

        future = self._pool.submit(function, *args)
        future.add_done_callback(notify)
        try:
            await done.wait()
        except trio.Cancelled:
            if future.cancel():
                raise
            with trio.CancelScope(shield=True):
                await done.wait()
        return future.result()

    def close(self) -> None:
        """End the threads, once their work is done."""
        self._pool.shutdown()
