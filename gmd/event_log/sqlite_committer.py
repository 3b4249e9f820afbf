"""The committer that writes batches to an SQLite file in another process."""

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

#: The process hardly waits for another process that holds the file; the store then retries for longer.
_SETTINGS = {**PRAGMAS, "busy_timeout": BUSY_STEP}


class SqliteCommitter:
    """A :class:`~gmd.event_log.store.Committer`.

    :ivar process: the process that commits.
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
    """Start a committer for a file with the current schema; give None if its process cannot be started.

    :param locks: descriptors that lock the file's directory. It stays locked until the committer has ended, so that the
        next daemon after one that was killed does not read while the last batch is being written.
    :param record: the descriptor of the file that records the last commit (:mod:`gmd.event_log.last_commit`).
    """
    pragmas = [f"PRAGMA {name} = {value}" for name, value in _SETTINGS.items()]
    process = start_process(file, [*pragmas, *PREPARATION, OPEN_WAL], *locks, record=record)
    if process is None:
        yield None
    else:
        with closing(process):
            yield SqliteCommitter(process, Committed())
