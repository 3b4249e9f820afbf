"""The opening of an event log in a PostgreSQL database, to serve, to read and to import."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from typing import TYPE_CHECKING

from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError

from gmd.event_log.batch_delay import RETURN_SECONDS
from gmd.event_log.batching import BatchingLog
from gmd.event_log.directory import DatabaseLost, DataError
from gmd.event_log.interface import EventLog
from gmd.event_log.migrations import NewerSchema, OlderDaemons, migrate, problem_of_revision, stored_revision
from gmd.event_log.postgres_engine import UNSAFE_FLAG, check_server, open_engine, shown_url
from gmd.event_log.pruning_clock import PruningClock
from gmd.event_log.seen_time import SeenRow
from gmd.event_log.store import Fenced
from gmd.logger import get_logger
from gmd.net.metrics import Metrics
from gmd.version import VERSION

if TYPE_CHECKING:
    from gmd.event_log.lease import Lease
    from gmd.event_log.postgres import PostgresStore
    from gmd.event_log.server_lock import Server

logger = get_logger(__name__)


@contextmanager
def postgres_log(
    url: str,
    metrics: Metrics | None,
    gather_seconds: float,
    lease: Lease | None = None,
    *,
    trust_clock: bool,
    allow_unsafe: bool,
) -> Iterator[EventLog]:
    """Open the log in a database; block while its schema is brought up to date.

    :param lease: the right to serve the database; without it, this program takes it for as long as the log is open.
    :raises DataError: the database cannot be used.
    """
    with _opened(url, lease, allow_unsafe=allow_unsafe) as store:
        from gmd.event_log.postgres_committer import PostgresCommitter  # psycopg is there

        store.pruning_clock = PruningClock(
            SeenRow(store),
            store.newest_change,
            trusted=trust_clock,
            wall=store.database_time,
            source="the database's clock",
        )
        if allow_unsafe:
            logger.warning("games may be lost if the database crashes", reason=f"{UNSAFE_FLAG} is set")
        with explained(url):
            log = BatchingLog(store, metrics, PostgresCommitter(store), gather_seconds, return_seconds=RETURN_SECONDS)
        with closing(log):
            yield log


@contextmanager
def postgres_reader(url: str) -> Iterator[Engine]:
    """Open a database read-only; do not update its schema.

    :raises DataError: it cannot be reached, or this program cannot read it.
    """
    engine = open_engine(url)
    try:
        with explained(url):
            revision = stored_revision(engine)
        if (problem := problem_of_revision(revision)) is not None:
            raise DataError(f"database: {shown_url(url)} {problem}")
        yield engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
    finally:
        engine.dispose()


@contextmanager
def postgres_store(url: str) -> Iterator[PostgresStore]:
    """Open a database to write games without a daemon.

    :raises DataError: it cannot be used, or somebody serves it.
    """
    with _opened(url, None, allow_unsafe=True) as store, explained(url):
        yield store


def check_database(url: str, *, allow_unsafe: bool) -> None:
    """Check that a database can be used; block for a moment.

    :raises DataError: it cannot.
    """
    engine = open_engine(url)
    try:
        with explained(url):
            check_server(engine, allow_unsafe=allow_unsafe)
    finally:
        engine.dispose()


@contextmanager
def _opened(url: str, lease: Lease | None, *, allow_unsafe: bool) -> Iterator[PostgresStore]:
    """Open the store in a database with the current schema."""
    engine = open_engine(url)
    from gmd.event_log.postgres import PostgresStore  # psycopg is there, as open_engine has found

    try:
        with explained(url), ExitStack() as stack:
            if lease is not None:
                term, refused = lease.term, lease.lose
            else:
                check_server(engine, allow_unsafe=allow_unsafe)
                term, refused = stack.enter_context(_alone(url)), _ignore
            migrate(engine, term)
            held = stack.pop_all()
        with held, closing(PostgresStore(engine, term, refused)) as store:
            yield store
    finally:
        engine.dispose()


@contextmanager
def _alone(url: str) -> Iterator[int]:
    """Give a new term, under which this program writes while no daemon serves; block until all before it have ended.

    Its session may be silent: a program that was stopped keeps the database.

    :raises DataError: somebody serves the database.
    """
    from gmd.event_log.postgres_connection import plain_url
    from gmd.event_log.server_lock import ServerLock

    lock = ServerLock(plain_url(url), program_name(), VERSION, 0.0)
    with closing(lock):
        if not lock.acquire():
            raise DataError(f"database: {shown_url(url)} {served_by(lock.server())}; stop it first")
        before = lock.server()
        term = lock.raise_term()
        if before is not None and not before.released:
            time.sleep(before.lease)  # it may still answer from memory
        yield term
        lock.release(term)


def program_name() -> str:
    """Return the name of this process for others."""
    return f"{socket.gethostname()}/{os.getpid()}"


def served_by(server: Server | None) -> str:
    """Return who serves a database, as the end of a sentence."""
    if server is None or server.released or not server.name:
        return "is in use by another gmd"
    at = f" at {server.addresses}" if server.addresses else ""
    return f"is served by {server.name}{at} (gmd {server.version}, since {server.since})"


def _ignore() -> None:
    pass


@contextmanager
def explained(url: str) -> Iterator[None]:
    """Turn a database's errors into a :class:`DataError` for the operator."""
    try:
        yield
    except OlderDaemons as error:
        raise DataError(f"database: {shown_url(url)} {error}") from error
    except Fenced as error:
        raise DataError(f"database: {shown_url(url)} is served by another gmd by now") from error
    except NewerSchema as error:
        raise DataError(
            f"database: {shown_url(url)} was written by a newer gmd: {error}. Start the newer gmd, or name another "
            "--database"
        ) from error
    except Exception as error:
        import psycopg  # it is there, or this database could not have been opened

        from gmd.event_log.postgres_connection import why_lost

        cause = error.orig if isinstance(error, DBAPIError) else error
        if not isinstance(error, DBAPIError | psycopg.Error):
            raise
        words = " ".join(str(cause).split())  # libpq's have several lines
        kind = DataError if why_lost(cause) is None else DatabaseLost
        raise kind(f"database: {shown_url(url)} cannot be used: {words}") from error
