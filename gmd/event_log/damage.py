"""Damaged rows: they are left out and said, so that the games and players that are whole are served."""

from __future__ import annotations

import shlex
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Table
from sqlalchemy.exc import DBAPIError

from gmd.logger import get_logger

logger = get_logger(__name__)

#: Damaged rows that this process has named; of more no line is of use.
_said: set[tuple[str, str, object]] = set()
MAX_SAID = 1_000


def repair_command(directory: Path | str) -> str:
    """Return what an operator types to have a log repaired."""
    return f"gmd check --repair --data {shlex.quote(str(directory))}"


def is_damage(error: BaseException) -> bool:
    """Return whether an error of a database says that its file is damaged, rather than locked, or its disk full."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    if not isinstance(cause, sqlite3.Error):
        return False
    code = getattr(cause, "sqlite_errorcode", None)  # Python itself found that a text is no UTF-8: there is none
    return code is None or code & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)


def unreadable(what: str, directory: Path | str, error: Exception) -> str:
    """Return what is said of data that cannot be read, where an error wraps the database's own."""
    cause = error.__cause__
    if cause is None or not is_damage(cause):
        return f"data: {what} cannot be read, as the log says"
    return (
        f"data: {what} cannot be read ({getattr(cause, 'orig', cause)}). "
        f"`{repair_command(directory)}` puts what is whole into a new file, and keeps the damaged one"
    )


def note_damage(connection: Connection, table: str, row: object, reason: str) -> None:
    """Say, once, that a row is damaged and left out, and what to do."""
    file = connection.engine.url.database or ""
    if (file, table, row) in _said or len(_said) >= MAX_SAID:
        return
    _said.add((file, table, row))
    logger.error(
        "a row is damaged, and is left out",
        file=file,
        table=table,
        row=row,
        reason=reason,
        advice=f"stop the daemon, and run {repair_command(Path(file).parent)}",
    )


def stored_rows(connection: Connection, table: Table) -> Iterator[dict[str, Any]]:
    """Every row of a table by its key, as the database stores it: of whatever type, text that is no UTF-8 as bytes.

    :raises sqlalchemy.exc.DBAPIError: the rows behind some row cannot be read.
    """
    names = list(table.c.keys())
    keys = ", ".join(table.primary_key.columns.keys())
    with _any_text(connection):
        for row in connection.exec_driver_sql(f"SELECT {', '.join(names)} FROM {table.name} ORDER BY {keys}"):
            yield dict(zip(names, row, strict=True))


@contextmanager
def _any_text(connection: Connection) -> Iterator[None]:
    driver = connection.connection.driver_connection
    if not isinstance(driver, sqlite3.Connection):
        yield
        return
    driver.text_factory = any_text
    try:
        yield
    finally:
        driver.text_factory = str


def any_text(data: bytes) -> str | bytes:
    """Return text, or the bytes that are none."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data
