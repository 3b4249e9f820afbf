"""Writes batches to an SQLite file in a process of its own."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from .commit_process import CommitProcess, start_process
from .last_commit import Committed
from .rows import Missed
from .sqlite import BUSY_STEP, OPEN_WAL, PRAGMAS
from .sqlite_batch import PREPARATION, transaction_of
from .store import GameAppend, ResultDelivered

#: Where another process holds the file, this one does not wait: the store knows for how long to.
_SETTINGS = {**PRAGMAS, "busy_timeout": BUSY_STEP}


class SqliteCommitter:
    """A :class:`~gmd.event_log.store.Committer`.

    :ivar process: what does it.
    """

    def __init__(self, process: CommitProcess, committed: Committed) -> None:
        self.process = process
        self._committed = committed

    def put(self, appends: Sequence[GameAppend], delivered: Sequence[ResultDelivered]) -> bool:
        try:
            transaction = transaction_of(appends, delivered, time.time())
        except Missed:
            return False
        return self.process.put(transaction, self._committed.by(appends))

    async def run(self, answered: Callable[[bool], None]) -> None:
        await self.process.run(answered)


@contextmanager
def committer_of(file: Path, *locks: int, record: int | None = None) -> Iterator[SqliteCommitter | None]:
    """A committer to a file whose schema is up to date; None where there can be none.

    :param locks: descriptors that lock the file's directory, which stays locked until the committer has ended: a
        daemon that comes after one that was killed must not read while the last batch is being written.
    :param record: the descriptor of the file that has the last commit (:mod:`gmd.event_log.last_commit`).
    """
    pragmas = [f"PRAGMA {name} = {value}" for name, value in _SETTINGS.items()]
    process = start_process(file, [*pragmas, *PREPARATION, OPEN_WAL], *locks, record=record)
    if process is None:
        yield None
    else:
        with closing(process):
            yield SqliteCommitter(process, Committed())
