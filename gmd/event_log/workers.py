"""Threads for the database that end with the log: those that answer questions, and the one that writes.

trio keeps the threads of :func:`trio.to_thread.run_sync` alive for ten seconds after their last work, for the whole
process: a program would still have them after it has closed its daemon.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from threading import Thread
from typing import NoReturn, TypeVar

import trio

from gmd.event_log.keyed_locks import KeyedLocks

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


_Result = TypeVar("_Result")


class WriterThread:
    """A thread that does one piece of work after the other.

    Handing over work and getting back its result costs half as much as with ``trio.to_thread.run_sync``, which for a
    small batch costs as much as the disk.
    """

    def __init__(self) -> None:
        self._work: SimpleQueue[Callable[[], Callable[[], None]] | None] = SimpleQueue()

    def start(self) -> None:
        """Start the thread; called in trio's thread."""
        self._trio = trio.lowlevel.current_trio_token()
        # A daemon thread: a program that forgot to close its gmd daemon must still end, and closes it in atexit.
        self._thread = Thread(target=self._run, name="event log", daemon=True)
        self._thread.start()

    def put(self, work: Callable[[], _Result], done: Callable[[_Result], None]) -> None:
        """Queue a piece of work after those before.

        :param work: called in the thread; it must not raise, because nothing catches its exceptions.
        :param done: called in trio's thread with the result.
        """
        self._work.put(lambda: partial(done, work()))

    async def call(self, work: Callable[[], _Result]) -> _Result:
        """Run a piece of work and return its result, or raise its exception. Do not call after :meth:`stop`."""
        finished = trio.Event()
        results: list[Callable[[], _Result]] = []

        def attempt() -> Callable[[], _Result]:
            try:
                result = work()
            except Exception as error:
                return partial(_raise, error)
            return lambda: result

        def note(result: Callable[[], _Result]) -> None:
            results.append(result)
            finished.set()

        self.put(attempt, note)
        await finished.wait()
        return results[0]()

    def stop(self) -> None:
        """End the thread when all work is done; block until then."""
        self._work.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (work := self._work.get()) is not None:
            self._trio.run_sync_soon(work())


def _raise(error: Exception) -> NoReturn:
    raise error
