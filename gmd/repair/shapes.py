"""The table of a row, found by its columns alone, because nothing else on its page names it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from sqlite3 import Connection
from typing import Any, NamedTuple

from .records import Record, Value

#: The tables whose rows are kept.
TABLES = ("games", "events", "tokens", "players", "retired", "contests")
#: The tables whose first column is the row's own number, and stored as null.
_NUMBERED = ("games", "players", "retired", "contests")
#: The number of columns that a table had at first: an old row may have only these.
_FIRST_COLUMNS = {"games": 15, "players": 10}
_DIGEST_SIZE = 32


class Column(NamedTuple):
    name: str
    #: The value for a row that is older than the column.
    default: Value
    #: Whether it holds floats; SQLite stores a float without a fraction as an integer.
    real: bool

    def value(self, stored: Value) -> Value:
        """Return the value that SQLite would return for a stored value."""
        return float(stored) if self.real and isinstance(stored, int) else stored


class Row(NamedTuple):
    """A row of a table, with all columns by their names; :class:`~gmd.repair.records.Record` says where it was."""

    table: str
    columns: Mapping[str, Value]
    record: Record


class Shapes:
    """The columns of a log's tables, as SQLite stores them."""

    def __init__(self, empty: Connection) -> None:
        """:param empty: an empty log with the same schema as the damaged one."""
        self._columns = {table: _columns_of(empty, table) for table in TABLES}

    def row_of(self, record: Record) -> Row | None:
        """Return a record as a row of the table that it fits; None if it fits none that is kept."""
        table = self._table_of(record.values)
        if table is None:
            return None
        columns = self._columns[table]
        values = [*record.values, *(column.default for column in columns[len(record.values) :])]
        if table in _NUMBERED:
            values[0] = record.rowid
        shown = {column.name: column.value(value) for column, value in zip(columns, values, strict=True)}
        return Row(table, shown, record)

    def _table_of(self, values: Sequence[Value]) -> str | None:
        for table in _NUMBERED:
            most = len(self._columns[table])
            if _FIRST_COLUMNS.get(table, most) <= len(values) <= most and values[0] is None:
                return table
        if len(values) == len(self._columns["events"]):
            first, second, third = values
            if isinstance(first, int) and isinstance(second, int):
                return "events"
            if isinstance(first, bytes) and len(first) == _DIGEST_SIZE and isinstance(third, bytes):
                return "tokens"
        return None


def _columns_of(connection: Connection, table: str) -> list[Column]:
    found: list[Any] = connection.execute(f"PRAGMA table_info({table})").fetchall()
    return [Column(name, _default(text), kind == "FLOAT") for _, name, kind, _, text, _ in found]


def _default(text: str | None) -> int | None:
    """Return a default from a schema, in which all are integers."""
    return None if text is None else int(text.strip("'"))
