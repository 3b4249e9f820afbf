"""From the setting ``data`` to an event log."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .directory import DataError, locked_directory
from .interface import EventLog
from .memory import MemoryLog

#: The value of ``data`` that keeps nothing.
IN_MEMORY = ":memory:"
#: The file in the data directory.
FILE_NAME = "games.sqlite"


@contextmanager
def open_log(data: str) -> Iterator[EventLog]:
    """The log in a data directory, which is this process's alone for as long; blocks while it is brought up to date.

    :param data: the directory, or ``:memory:``.
    :raises DataError: it cannot be used.
    """
    if data == IN_MEMORY:
        yield MemoryLog()
        return
    path = Path(data).expanduser()
    with locked_directory(path), _sqlite_log(path / FILE_NAME) as log:
        yield log


@contextmanager
def _sqlite_log(file: Path) -> Iterator[EventLog]:
    # Imported here, for SQLAlchemy takes longer than everything else that a daemon in memory imports.
    from sqlalchemy.exc import DatabaseError

    from .batching import BatchingLog
    from .migrations import NewerSchema, migrate
    from .sqlite import SqliteStore, open_engine

    engine = open_engine(file)
    try:
        migrate(engine)
        store = SqliteStore(engine)
        log = BatchingLog(store)
    except NewerSchema as error:
        engine.dispose()
        raise DataError(
            f"data: {file} was written by a newer gmd: {error}. Start that, or name another --data"
        ) from error
    except DatabaseError as error:
        engine.dispose()
        raise DataError(f"data: {file} cannot be read as a log of games: {error.orig}") from error
    try:
        yield log
    finally:
        store.close()
