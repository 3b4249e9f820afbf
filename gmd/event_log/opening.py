"""The opening of an event log from the settings ``data`` and ``database``."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from gmd.event_log.directory import DataError, locked_directory
from gmd.event_log.interface import EventLog
from gmd.event_log.last_commit import opened, read_last_commit, what_is_missing
from gmd.event_log.memory import MemoryLog
from gmd.logger import get_logger
from gmd.net.metrics import Metrics

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from gmd.event_log.lease import Lease
    from gmd.event_log.sql import SqlStore
    from gmd.event_log.sqlite import SqliteStore

logger = get_logger(__name__)

#: The value of ``data`` for a log in memory.
IN_MEMORY = ":memory:"
#: Seconds for which appends may gather while there are other requests to answer: the time of about ten requests. A
#: fuller batch is cheaper for all in it.
GATHER_SECONDS = 0.002
#: The file in the data directory.
FILE_NAME = "games.sqlite"


def data_directory(data: str) -> Path | None:
    """Return the directory that a value of ``data`` names; None for a log in memory."""
    return None if data == IN_MEMORY else Path(data).expanduser()


@contextmanager
def open_log(
    data: str,
    metrics: Metrics | None = None,
    database: str | None = None,
    *,
    trust_clock: bool = False,
    allow_unsafe: bool = False,
    lease: Lease | None = None,
) -> Iterator[EventLog]:
    """Open the log in a data directory, locked for this process; block while its schema is brought up to date.

    :param data: the directory, or ``:memory:``.
    :param metrics: counts commits.
    :param database: the URL of the database that has the log; the directory then has only what belongs to this daemon.
    :param allow_unsafe: use a database even if it may lose what it has acknowledged.
    :param lease: the right to serve the database; without it, this program takes it for as long as the log is open.
    :raises DataError: the directory or the database cannot be used.
    """
    path = data_directory(data)
    if path is None:
        if database is not None:
            raise DataError(
                f"database: games are kept in it or, with data = {IN_MEMORY}, in memory, not in both; name a directory "
                "with --data, for the operator's socket"
            )
        yield MemoryLog()
        return
    with locked_directory(path) as lock:
        if database is not None:
            from gmd.event_log.postgres_opening import postgres_log

            settings = {"trust_clock": trust_clock, "allow_unsafe": allow_unsafe}
            with postgres_log(database, metrics, GATHER_SECONDS, lease, **settings) as log:
                yield log
            return
        make_private(path / FILE_NAME)
        with _sqlite_log(path / FILE_NAME, metrics, lock, trust_clock=trust_clock) as log:
            yield log


@contextmanager
def open_reader(data: str, database: str | None = None) -> Iterator[Engine]:
    """Open the log in a data directory read-only, with or without a running daemon; do not update its schema.

    :param database: the URL of the database that has the log instead.
    :raises DataError: there is no log, or none that this program can read.
    """
    if database is not None:
        from gmd.event_log.postgres_opening import postgres_reader

        with postgres_reader(database) as engine:
            yield engine
        return
    from gmd.event_log.migrations import problem_of_revision, stored_revision
    from gmd.event_log.sqlite import open_read_only

    file = _existing(data)
    engine = open_read_only(file)
    try:
        with _explained(file):
            revision = stored_revision(engine)
        if (problem := problem_of_revision(revision)) is not None:
            raise DataError(f"data: {file} {problem}")
        yield engine
    finally:
        engine.dispose()


@contextmanager
def open_readable(data: str, database: str | None = None) -> Iterator[tuple[Engine, list[str]]]:
    """Open the log as :func:`open_reader` does, or, if its file is damaged, a temporary log with all readable rows.

    With the engine come the damages of the file; none if the log itself is open. The whole file is read first.

    :raises DataError: there is no log, or none that this program can read.
    """
    from gmd.event_log.recovery import recovered

    file = _existing(data) if database is None else None
    found = [] if file is None else _damages(file)
    if file is None or not found:
        with open_reader(data, database) as engine:
            yield engine, []
        return
    try:
        with recovered(file) as engine:
            yield engine, found
    except OSError as error:
        raise DataError(f"data: {file} cannot be read: {error.strerror}") from error


def _existing(data: str) -> Path:
    """Return the file of the log in a data directory.

    :raises DataError: there is none.
    """
    file = Path(data).expanduser() / FILE_NAME
    try:
        if file.exists():
            return file
    except OSError as error:
        raise DataError(f"data: {file} cannot be read: {error.strerror}") from error
    raise DataError(f"data: there is no log of games: {file} does not exist")


def _damages(file: Path) -> list[str]:
    """Return what is damaged in a file's structure, or in the revision of its schema."""
    from sqlalchemy.exc import DatabaseError

    from gmd.event_log.damage import is_damage
    from gmd.event_log.migrations import is_revision, stored_revision
    from gmd.event_log.sqlite import damages, open_read_only

    engine = open_read_only(file)
    try:
        if found := damages(engine):
            return found
        revision = stored_revision(engine)
        return [] if revision is None or is_revision(revision) else [f"the revision of its schema is {revision!r:.80}"]
    except (DatabaseError, UnicodeDecodeError) as error:  # those that are no damage are explained when it is opened
        return [str(getattr(error, "orig", error))] if is_damage(error) else []
    finally:
        engine.dispose()


@contextmanager
def open_store(data: str, database: str | None = None) -> Iterator[SqlStore]:
    """Open the store in a data directory, locked for this process, to write games without a daemon.

    :param database: the URL of the database that has the store instead.
    :raises DataError: the directory or the database cannot be used.
    """
    if database is not None:
        from gmd.event_log.postgres_opening import postgres_store

        with postgres_store(database) as store:
            yield store
        return
    from gmd.event_log.migrations import migrate
    from gmd.event_log.sqlite import SqliteStore, open_engine

    path = Path(data).expanduser()
    with locked_directory(path):
        make_private(path / FILE_NAME)
        engine = open_engine(path / FILE_NAME)
        try:
            with _explained(path / FILE_NAME):
                migrate(engine)
            with closing(SqliteStore(engine)) as file_store:
                yield file_store
        finally:
            engine.dispose()


def make_private(file: Path) -> None:
    """Create the file if it does not exist, readable by its owner only: it shows what players must not see.

    SQLite gives its accompanying files the same permissions. The permissions of an existing file are not changed.

    :raises DataError: it cannot be created.
    """
    if file.exists():
        return
    try:
        os.close(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))
    except OSError as error:
        raise DataError(f"data: {file} cannot be created: {error.strerror}") from error


@contextmanager
def _sqlite_log(file: Path, metrics: Metrics | None, lock: int, *, trust_clock: bool) -> Iterator[EventLog]:
    # Imported here, because SQLAlchemy takes longer than all other imports of a daemon with a log in memory.
    from gmd.event_log.batching import READERS, BatchingLog
    from gmd.event_log.migrations import migrate
    from gmd.event_log.pruning_clock import PruningClock
    from gmd.event_log.seen_time import FILE_NAME as LAST_SEEN
    from gmd.event_log.seen_time import SeenFile
    from gmd.event_log.sqlite import SqliteStore, committer_of, open_engine

    engine = open_engine(file)
    try:
        with _explained(file):
            migrate(engine)
            store = SqliteStore(engine)
            store.connect(READERS)
        seen = SeenFile(file.with_name(LAST_SEEN))
        store.pruning_clock = PruningClock(seen, store.newest_change, trusted=trust_clock)
        with closing(store), _record_of(store, file) as record, committer_of(file, lock, record=record) as committer:
            with _explained(file):
                last = _look_for_last_commit(store, file)
                log = BatchingLog(store, metrics, committer, GATHER_SECONDS, newest_id=last)
            with closing(log):
                yield log
    finally:
        engine.dispose()


@contextmanager
def _record_of(store: SqliteStore, file: Path) -> Iterator[int | None]:
    """Open the file that records the last commit, and give its descriptor; None if it cannot be opened."""
    try:
        store.record = opened(file.parent)
    except OSError as error:
        logger.warning("the last commit cannot be noted", directory=str(file.parent), reason=error.strerror)
        yield None
        return
    try:
        yield store.record
    finally:
        os.close(store.record)


def _look_for_last_commit(store: SqliteStore, file: Path) -> int:
    """Log what is missing of the last commit, if anything; return the highest id that a game had at that time."""
    last = read_last_commit(file.parent)
    missing = what_is_missing(last, store.events_of)
    if missing is not None:
        logger.error(
            "commits are missing: the write-ahead log was deleted, or the file is an older one",
            file=str(file),
            missing=missing,
            advice=f"stop the daemon, and put back {file.name} with the {file.name}-wal that belongs to it",
        )
    return 0 if last is None else last.newest


@contextmanager
def _explained(file: Path) -> Iterator[None]:
    """Turn a database's errors into a :class:`DataError` for the operator."""
    from sqlalchemy.exc import DatabaseError

    from gmd.event_log.damage import export_advice, is_damage
    from gmd.event_log.migrations import NewerSchema

    try:
        yield
    except NewerSchema as error:
        raise DataError(
            f"data: {file} was written by a newer gmd: {error}. Start the newer gmd, or name another --data"
        ) from error
    except (DatabaseError, sqlite3.DatabaseError, UnicodeDecodeError) as error:
        advice = f". {export_advice(file.parent)}" if is_damage(error) else ""
        raise DataError(
            f"data: {file} cannot be read as a log of games: {getattr(error, 'orig', error)}{advice}"
        ) from error
