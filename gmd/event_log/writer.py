"""The thread that writes: one piece of work after the other, for as long as a log is open."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from queue import SimpleQueue
from threading import Thread
from typing import NoReturn, TypeVar

import trio

_Result = TypeVar("_Result")


class WriterThread:
    """Does one thing after the other, always in the same thread.

    Handing work over and having its result back costs half of what ``trio.to_thread.run_sync`` does, which for a small
    batch is as much as the disk.
    """

    def __init__(self) -> None:
        self._work: SimpleQueue[Callable[[], Callable[[], None]] | None] = SimpleQueue()

    def start(self) -> None:
        """Begin; called in trio's thread."""
        self._trio = trio.lowlevel.current_trio_token()
        # A daemonic one: a program that forgot to close its daemon is to end, and closes it in atexit.
        self._thread = Thread(target=self._run, name="event log", daemon=True)
        self._thread.start()

    def put(self, work: Callable[[], _Result], done: Callable[[_Result], None]) -> None:
        """Have something done, after what was put before.

        :param work: called in the thread; nothing catches what it raises, so it raises nothing.
        :param done: called in trio's thread with the result.
        """
        self._work.put(lambda: partial(done, work()))

    async def call(self, work: Callable[[], _Result]) -> _Result:
        """Have something done, and wait for it; what it raises is raised here. Not to be called once it is stopped."""
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
        """End, when all work is done; blocks until then."""
        self._work.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (work := self._work.get()) is not None:
            self._trio.run_sync_soon(work())


def _raise(error: Exception) -> NoReturn:
    raise error
