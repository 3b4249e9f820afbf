"""Rows of a whole table as a stream in the order of its key, and their writing in batches."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from sqlalchemy import Connection, Table, text

from gmd.event_log.damage import any_text
from gmd.event_log.tables import contests, events, games, players, retired, tokens

from .columns import Values

#: The tables of a log, in the order in which they are copied.
TABLES: tuple[Table, ...] = (players, contests, retired, tokens, games, events)
#: Those whose rows belong to a game: if one is damaged, all of the game is left out of a copy.
OF_GAMES = frozenset([games.name, events.name, tokens.name])
#: Rows fetched at once. An event has some hundred bytes; the longest has about a megabyte.
FETCHED_ROWS = 500
#: The most rows, and the approximate number of bytes, that one transaction writes.
BATCH_ROWS = 10_000
BATCH_BYTES = 8 << 20
#: A row's bytes apart from its texts.
_ROW_BYTES = 64


def rows_of(connection: Connection, table: Table, after: Values | None = None) -> Iterator[Sequence[Any]]:
    """Yield every row as stored, in the order of the keys. Only :data:`FETCHED_ROWS` of them are in memory.

    In SQLite there may be values of any type; text that is not UTF-8 comes as bytes.

    :param after: a key; only rows with higher keys are read.
    :raises sqlalchemy.exc.DBAPIError: the rows after some row cannot be read.
    """
    keys = key_names(table)
    names = ", ".join(table.c.keys())
    where, parameters = "", {}
    if after is not None:
        parameters = {f"after_{name}": value for name, value in zip(keys, after, strict=True)}
        bounds = ", ".join(f":{parameter}" for parameter in parameters)
        where = f"WHERE ({', '.join(keys)}) > ({bounds})"
    query = text(f"SELECT {names} FROM {table.name} {where} ORDER BY {', '.join(keys)}")
    driver = connection.connection.driver_connection
    if isinstance(driver, sqlite3.Connection):
        driver.text_factory = any_text
    options = {"stream_results": True, "yield_per": FETCHED_ROWS}
    with connection.execute(query, parameters, execution_options=options) as found:
        yield from found


def key_names(table: Table) -> list[str]:
    """Return the names of the columns of a table's key, in its order."""
    return list(table.primary_key.columns.keys())


def key_of(table: Table, row: Sequence[Any]) -> Values:
    """Return the key of a row."""
    positions = (table.c.keys().index(name) for name in key_names(table))
    return tuple(row[position] for position in positions)


def last_key(connection: Connection, table: Table) -> Values | None:
    """Return the highest key of a table; None if it is empty."""
    keys = key_names(table)
    order = ", ".join(f"{name} DESC" for name in keys)
    found = connection.execute(text(f"SELECT {', '.join(keys)} FROM {table.name} ORDER BY {order} LIMIT 1")).first()
    return None if found is None else tuple(found)


def batches(rows: Iterable[Values]) -> Iterator[list[Values]]:
    """Yield rows in lists that one transaction each may write."""
    batch: list[Values] = []
    size = 0
    for row in rows:
        batch.append(row)
        size += _ROW_BYTES + sum(len(value) for value in row if isinstance(value, (str, bytes)))
        if len(batch) >= BATCH_ROWS or size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def insert_rows(connection: Connection, table: Table, rows: Sequence[Values]) -> None:
    """Insert rows, as quickly as the database can.

    :raises sqlalchemy.exc.DBAPIError: SQLite refuses them.
    :raises psycopg.Error: PostgreSQL refuses them.
    """
    names = ", ".join(table.c.keys())
    if connection.dialect.name == "sqlite":
        marks = ", ".join("?" * len(table.columns))
        connection.exec_driver_sql(f"INSERT INTO {table.name} ({names}) VALUES ({marks})", list(rows))
        return
    driver: Any = connection.connection.driver_connection
    with driver.cursor() as cursor, cursor.copy(f"COPY {table.name} ({names}) FROM STDIN") as stream:
        for row in rows:
            stream.write_row(row)
