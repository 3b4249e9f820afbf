"""The opening of an event log in a PostgreSQL database, to serve, to read and to import."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError

from gmd.logger import get_logger
from gmd.metrics import Metrics

from .batching import BatchingLog
from .directory import DataError
from .interface import EventLog
from .migrations import NewerSchema, OlderDaemons, migrate, problem_of_revision, stored_revision
from .postgres_engine import UNSAFE_FLAG, check_server, open_engine, shown_url
from .pruning_clock import PruningClock
from .returning import RETURN_SECONDS
from .seen_time import SeenRow

if TYPE_CHECKING:
    from .postgres import PostgresStore

logger = get_logger(__name__)


@contextmanager
def postgres_log(
    url: str,
    metrics: Metrics | None,
    gather_seconds: float,
    *,
    trust_clock: bool,
    allow_unsafe: bool,
) -> Iterator[EventLog]:
    """Open the log in a database; block while its schema is brought up to date.

    :raises DataError: the database cannot be used.
    """
    with _opened(url, allow_unsafe=allow_unsafe) as store:
        from .postgres_committer import PostgresCommitter  # psycopg is there

        store.pruning_clock = PruningClock(
            SeenRow(store),
            store.newest_change,
            trusted=trust_clock,
            wall=store.database_time,
            source="the database's clock",
        )
        if allow_unsafe:
            logger.warning("games may be lost if the database crashes", reason=f"{UNSAFE_FLAG} is set")
        with _explained(url):
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
        with _explained(url):
            revision = stored_revision(engine)
        if (problem := problem_of_revision(revision)) is not None:
            raise DataError(f"database: {shown_url(url)} {problem}")
        yield engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
    finally:
        engine.dispose()


@contextmanager
def postgres_store(url: str) -> Iterator[PostgresStore]:
    """Open a database to write games without a daemon.

    :raises DataError: it cannot be used.
    """
    with _opened(url, allow_unsafe=True) as store:
        yield store


@contextmanager
def _opened(url: str, *, allow_unsafe: bool) -> Iterator[PostgresStore]:
    """Open the store in a database with the current schema."""
    engine = open_engine(url)
    from .postgres import PostgresStore  # psycopg is there, as open_engine has found

    try:
        with _explained(url):
            check_server(engine, allow_unsafe=allow_unsafe)
            migrate(engine)
        with closing(PostgresStore(engine)) as store:
            yield store
    finally:
        engine.dispose()


@contextmanager
def _explained(url: str) -> Iterator[None]:
    """Turn a database's errors into a :class:`DataError` for the operator."""
    try:
        yield
    except OlderDaemons as error:
        raise DataError(f"database: {shown_url(url)} {error}") from error
    except NewerSchema as error:
        raise DataError(
            f"database: {shown_url(url)} was written by a newer gmd: {error}. Start the newer gmd, or name another "
            "--database"
        ) from error
    except DBAPIError as error:
        reason = " ".join(str(error.orig).split())  # libpq's have several lines
        raise DataError(f"database: {shown_url(url)} cannot be used: {reason}") from error
