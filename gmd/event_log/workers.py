"""Threads for the database, which end with the log.

trio keeps the threads of :func:`trio.to_thread.run_sync` for ten seconds after their last work, in the whole process's
name: a program that has closed its daemon would find them there still.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TypeVar

import trio

_T = TypeVar("_T")


class Workers:
    """At most so many threads, begun when they are needed."""

    def __init__(self, count: int, name: str) -> None:
        self._pool = ThreadPoolExecutor(count, thread_name_prefix=name)

    async def run(self, function: Callable[..., _T], *args: object) -> _T:
        """Call a function in a thread.

        Where this is cancelled before a thread has begun with it, it is not called. After that, as with trio's own, a
        cancellation waits for it to return, and is not told then.
        """
        await trio.lowlevel.checkpoint_if_cancelled()
        token, done = trio.lowlevel.current_trio_token(), trio.Event()

        def tell(_: object) -> None:
            with suppress(trio.RunFinishedError):
                token.run_sync_soon(done.set)

        future = self._pool.submit(function, *args)
        future.add_done_callback(tell)
        try:
            await done.wait()
        except trio.Cancelled:
            if future.cancel():
                raise
            with trio.CancelScope(shield=True):
                await done.wait()
        return future.result()

    def close(self) -> None:
        """End the threads, which have nothing to do any more."""
        self._pool.shutdown()
