"""The thread that writes: one piece of work after the other, for as long as a log is open."""

from __future__ import annotations

from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread
from typing import Generic, TypeVar

import trio

_Work = TypeVar("_Work")
_Result = TypeVar("_Result")


class WriterThread(Generic[_Work, _Result]):
    """Calls a function again and again, always in the same thread.

    Handing work over and having its result back costs half of what ``trio.to_thread.run_sync`` does, which for a small
    batch is as much as the disk.
    """

    def __init__(self, write: Callable[[_Work], _Result], written: Callable[[_Work, _Result], None]) -> None:
        """:param write: called in the thread; what it raises ends the process's log for good, so it raises nothing.
        :param written: called in trio's thread with each piece of work and its result.
        """
        self._write = write
        self._written = written
        self._work: SimpleQueue[_Work | None] = SimpleQueue()

    def start(self) -> None:
        """Begin; called in trio's thread."""
        self._trio = trio.lowlevel.current_trio_token()
        self._thread = Thread(target=self._run, name="event log")
        self._thread.start()

    def put(self, work: _Work) -> None:
        """Have a piece of work done, after those before."""
        self._work.put(work)

    def stop(self) -> None:
        """End, when all work is done; blocks until then."""
        self._work.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (work := self._work.get()) is not None:
            self._trio.run_sync_soon(self._written, work, self._write(work))
