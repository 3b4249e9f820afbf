"""The two places of a copy: the source, which nobody may write meanwhile, and the empty target."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import Connection, Engine, Table, func, select, text, update
from sqlalchemy.exc import DBAPIError

from gmd.cluster.tables import daemons
from gmd.event_log.directory import DataError, locked_directory
from gmd.event_log.last_commit import FILE_NAME as LAST_COMMIT
from gmd.event_log.last_commit import read_last_commit
from gmd.event_log.migrations import HEAD, UNFINISHED, VERSION, NewerSchema, migrate, stored_revision
from gmd.event_log.opening import FILE_NAME, make_private, open_reader
from gmd.event_log.postgres_engine import check_server, shown_url
from gmd.event_log.postgres_engine import open_engine as open_postgres
from gmd.event_log.sqlite import open_engine as open_sqlite

from .rows import TABLES

#: The key of the lock of a database that a copy writes.
_COPYING = int.from_bytes(b"gmdcopy", "big")


class Place(NamedTuple):
    """A place of a log with an open connection."""

    #: The place as messages show it, without a password.
    name: str
    engine: Engine
    connection: Connection


class Target(NamedTuple):
    """The place that a log is copied to.

    :ivar is_begun: whether a copy that was stopped has left rows there.
    """

    place: Place
    is_begun: bool


def is_database(place: str) -> bool:
    """Return whether a place is a database's URL; otherwise it is a directory."""
    return "://" in place


def shown(place: str) -> str:
    """Return a place as messages show it: a database without its password.

    :raises DataError: the URL is none.
    """
    return shown_url(place) if is_database(place) else str(Path(place).expanduser())


@contextmanager
def opened_source(place: str) -> Iterator[Place]:
    """Open a place to read one state of its log, which nobody can write until the end.

    :raises DataError: there is no log, it cannot be read, or it is in use.
    """
    with _explained(place), _source(place) as engine, engine.connect() as connection:
        if is_database(place):
            connection.execute(text("SET idle_in_transaction_session_timeout = 0"))
            connection.commit()
            # Before the first query: that is the one whose moment counts.
            connection.execute(text(f"LOCK TABLE {', '.join(table.name for table in TABLES)} IN SHARE MODE"))
            _refuse_daemons(connection, place)
        yield Place(shown(place), engine, connection)


@contextmanager
def _source(place: str) -> Iterator[Engine]:
    if is_database(place):
        with open_reader("", place) as engine:  # its transactions read only, which refuses the lock
            yield engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=False)
        return
    path = Path(place).expanduser()
    if not (path / FILE_NAME).is_file():
        raise DataError(f"data: there is no log of games: {path / FILE_NAME} does not exist")
    with locked_directory(path), open_reader(place) as engine:
        yield engine


@contextmanager
def opened_target(place: str, *, again: bool) -> Iterator[Target]:
    """Open a place to write a log; create it if it does not exist. No daemon starts with it until it is finished.

    :param again: remove what a copy that was stopped has left there.
    :raises DataError: there is a log already, or it cannot be written, or it is in use.
    """
    with _explained(place), _target_engine(place) as engine:
        is_begun = stored_revision(engine) == UNFINISHED
        if not is_begun:
            migrate(engine)
        with engine.connect() as connection:
            if is_database(place):
                _lock_database(connection, place)
            with connection.begin():
                if is_begun and again:
                    for table in TABLES:
                        connection.execute(table.delete())
                elif not is_begun:
                    _refuse_content(connection, place)
                    connection.execute(update(VERSION).values(version_num=UNFINISHED))
            yield Target(Place(shown(place), engine, connection), is_begun and not again)


@contextmanager
def _target_engine(place: str) -> Iterator[Engine]:
    if is_database(place):
        engine = open_postgres(place)
        try:
            check_server(engine, allow_unsafe=True)
            yield engine
        finally:
            engine.dispose()
        return
    path = Path(place).expanduser()
    with locked_directory(path):
        if not (path / FILE_NAME).exists() and read_last_commit(path) is not None:
            raise DataError(
                f"data: {path} has the file {LAST_COMMIT} of a log whose games are gone; name another directory, or "
                "remove that file"
            )
        make_private(path / FILE_NAME)
        engine = open_sqlite(path / FILE_NAME)
        try:
            yield engine.execution_options(writes=True)
        finally:
            engine.dispose()


def finish(target: Place) -> None:
    """Let daemons start with a place whose rows are all there.

    :raises DataError: a daemon has started meanwhile.
    """
    with target.connection.begin():
        if target.connection.dialect.name == "postgresql":
            _refuse_daemons(target.connection, target.name)
        target.connection.execute(update(VERSION).values(version_num=HEAD))


def content(connection: Connection) -> dict[str, int]:
    """Return the number of rows of each table that is not empty, by its name."""
    counts = {table.name: _count(connection, table) for table in TABLES}
    return {name: count for name, count in counts.items() if count}


def _count(connection: Connection, table: Table) -> int:
    return connection.execute(select(func.count()).select_from(table)).scalar_one()


def _refuse_content(connection: Connection, place: str) -> None:
    """Check that a place has no log.

    :raises DataError: it has one.
    """
    if is_database(place):
        _refuse_daemons(connection, place)
    if found := content(connection):
        what = ", ".join(
            f"{count:,} rows of {name}" if count > 1 else f"a row of {name}" for name, count in found.items()
        )
        raise DataError(f"{shown(place)} is not empty: it has {what}; name another place with --to")


def _refuse_daemons(connection: Connection, place: str) -> None:
    """Check that no daemon uses a database.

    :raises DataError: one does.
    """
    living = daemons.c.until > func.clock_timestamp()
    count = connection.execute(select(func.count()).select_from(daemons).where(living)).scalar_one()
    if count:
        raise DataError(f"{shown(place)} is in use by {count} daemon{'s' if count > 1 else ''}; stop them first")


def _lock_database(connection: Connection, place: str) -> None:
    """Keep other copies out of a database for as long as the connection is open.

    :raises DataError: one is at work.
    """
    connection.execute(text("SET idle_in_transaction_session_timeout = 0"))
    locked = connection.execute(text("SELECT pg_try_advisory_lock(:key)"), {"key": _COPYING}).scalar_one()
    connection.commit()
    if not locked:
        raise DataError(f"{shown(place)} is in use by another gmd copy")


@contextmanager
def _explained(place: str) -> Iterator[None]:
    """Turn a database's errors into a :class:`DataError` for the operator."""
    try:
        yield
    except NewerSchema as error:
        raise DataError(f"{shown(place)} was written by a newer gmd: {error}; name another place with --to") from error
    except DBAPIError as error:
        raise DataError(f"{shown(place)} cannot be used: {reason_of(error)}") from error


def reason_of(error: Exception) -> str:
    """Return what a database says, in one line; libpq says it in several."""
    return " ".join(str(getattr(error, "orig", None) or error).split())
