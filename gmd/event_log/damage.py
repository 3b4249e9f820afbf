"""Damaged rows: they are left out and logged, so that whole games and players are still served."""

from __future__ import annotations

import shlex
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote

from sqlalchemy import Connection, Table
from sqlalchemy.exc import DBAPIError

from gmd.logger import get_logger

logger = get_logger(__name__)

#: The advice about a row of a database that is no file of ours.
RESTORE_ADVICE = "gmd check says what else is damaged; restore that from a backup of the database"
#: Damaged rows that this process has logged; more than MAX_SAID lines are of no use.
_said: set[tuple[str, str, object]] = set()
MAX_SAID = 1_000


_T = TypeVar("_T")


class DamagedRow(Exception):
    """A row with a value that was never written to it; the message names the first such column, with its value."""


class OutOfOrder(Exception):
    """A table of games that does not give them in the order of their ids, since the file is damaged."""


def export_advice(directory: Path | str) -> str:
    """Return what an operator does about a damaged log, as a sentence without its full stop."""
    command = f"gmd export --data {shlex.quote(str(directory))} --all whole.jsonl --replay"
    return f"`{command}` exports what is whole, for `gmd import` into a new directory"


def is_damage(error: BaseException) -> bool:
    """Return whether a database's error means a damaged file, rather than a locked file or a full disk."""
    if isinstance(error, OutOfOrder | UnicodeDecodeError):  # SQLite's own message may have damaged text
        return True
    cause = error.orig if isinstance(error, DBAPIError) else error
    if not isinstance(cause, sqlite3.Error):
        return False
    code = getattr(cause, "sqlite_errorcode", None)  # None where Python itself found a text that is not UTF-8
    return code is None or code & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)


def unreadable(what: str, directory: Path | str, database: str | None, error: Exception) -> str:
    """Return the error sentence for data that cannot be read; the error wraps the database's own."""
    if database is not None:
        from gmd.event_log.postgres_engine import shown_url

        return f"database: {what} in {shown_url(database)} cannot be read, as the log says"
    cause = error.__cause__
    what = f"{what} in {directory}"
    if cause is None or not is_damage(cause):
        return f"data: {what} cannot be read, as the log says"
    return f"data: {what} cannot be read ({getattr(cause, 'orig', cause)}). {export_advice(directory)}"


def note_damage(connection: Connection, table: str, row: object, reason: str) -> None:
    """Log, once, that a row is damaged and left out, and what to do."""
    url = connection.engine.url
    is_file = url.get_backend_name() == "sqlite"
    file = url.database or ""
    if "uri" in url.query:
        file = unquote(file.removeprefix("file:"))
    if (file, table, row) in _said or len(_said) >= MAX_SAID:
        return
    _said.add((file, table, row))
    logger.error(
        "a row is damaged, and is left out",
        file=file,
        table=table,
        row=row,
        reason=reason,
        advice=f"stop the daemon; {export_advice(Path(file).parent)}" if is_file else RESTORE_ADVICE,
    )


def stored_rows(connection: Connection, table: Table) -> Iterator[dict[str, Any]]:
    """Yield every row of a table by its key, as stored: values of any type, text that is not UTF-8 as bytes.

    :raises sqlalchemy.exc.DBAPIError: the rows after some row cannot be read.
    """
    names = list(table.c.keys())
    keys = ", ".join(table.primary_key.columns.keys())
    with _any_text(connection):
        for row in connection.exec_driver_sql(f"SELECT {', '.join(names)} FROM {table.name} ORDER BY {keys}"):
            yield dict(zip(names, row, strict=True))


def checked_rows(
    connection: Connection, table: Table, read: Callable[[Mapping[str, Any]], _T]
) -> Iterator[tuple[object, _T | DamagedRow]]:
    """Yield the key of every row of a table with what was read from it, or with the damage found, in their order.

    :param table: one whose key is one column.
    :param read: takes all columns by their names, as stored; raises :exc:`DamagedRow`.
    """
    (key,) = table.primary_key.columns.keys()
    for columns in stored_rows(connection, table):
        try:
            yield columns[key], read(columns)
        except DamagedRow as damaged:
            yield columns[key], damaged


def intact_rows(connection: Connection, table: Table, read: Callable[[Mapping[str, Any]], _T]) -> list[_T]:
    """Return what :func:`checked_rows` reads from all intact rows; log the others."""
    found = []
    for key, row in checked_rows(connection, table, read):
        if isinstance(row, DamagedRow):
            note_damage(connection, table.name, key, str(row))
        else:
            found.append(row)
    return found


@contextmanager
def _any_text(connection: Connection) -> Iterator[None]:
    driver = connection.connection.driver_connection
    if not isinstance(driver, sqlite3.Connection):
        yield
        return
    before = driver.text_factory
    driver.text_factory = any_text
    try:
        yield
    finally:
        driver.text_factory = before


def any_text(data: bytes) -> str | bytes:
    """Return data as text, or unchanged if it is not UTF-8."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data
