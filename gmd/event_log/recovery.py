"""The rows of a damaged SQLite file, read page by page, as the command ``.recover`` of SQLite's shell does.

Each leaf page of a table describes its own rows. So SQLite can read it as a small table of its own, without the file's
header, schema, trees and indexes, any of which may be damaged.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from sqlalchemy import Column, Engine, Table, func, select
from sqlalchemy.exc import DatabaseError

from gmd.event_log.checking import problem_of
from gmd.event_log.damage import any_text
from gmd.event_log.directory import DataError, locked_directory
from gmd.event_log.last_commit import read_last_commit
from gmd.event_log.migrations import HEAD, VERSION, is_revision, migrate
from gmd.event_log.reading import GameFilter, LogReader
from gmd.event_log.sqlite import open_engine, open_read_only
from gmd.event_log.store import LAST_GAME_ID
from gmd.event_log.tables import events, metadata, retired

#: The tables whose rows are recovered. A row belongs to the one whose columns have its types of values.
TABLES = [table for table in metadata.sorted_tables if table is not retired]
#: What SQLite stores in a column of each Python type; a float without a fraction is stored as an integer.
_STORED: dict[type, tuple[type, ...]] = {bool: (int,), int: (int,), float: (int, float), str: (str,), bytes: (bytes,)}

#: Removes events of damaged rows that are of no game, or of another one: a game's own row has the number of its events.
_REMOVE_SURPLUS = """
DELETE FROM events WHERE seq < 0 OR seq >= (SELECT games.events FROM games WHERE games.game_id = events.game_id)
"""

#: The format is https://www.sqlite.org/fileformat2.html. This byte begins the leaf page of a table.
_LEAF_OF_TABLE = 13
_PAGE_SIZES = {1 << power for power in range(9, 16)}
#: SQLite's own default, for a file whose page size is damaged.
_DEFAULT_PAGE_SIZE = 4_096
#: More columns than any table has.
_COLUMNS = 32
#: RecoveredRow numbers that are tried one by one between two damaged rows of a page, which has fewer rows.
_MAX_GAP = 1_000


class RecoveredRow(NamedTuple):
    """A row of some table: its page, its number, and its columns, filled up with None."""

    page: int
    rowid: int
    values: tuple[Any, ...]


@contextmanager
def recovered(file: Path) -> Iterator[Engine]:
    """Give a temporary log with all rows of a damaged one that can be read; the damaged file is not changed.

    :raises DataError: it has no rows of a log, or of another schema; or a daemon uses it.
    :raises OSError: the file cannot be read, or the disk for temporary files is full.
    """
    with TemporaryDirectory(prefix="gmd-") as directory:
        copy, new = Path(directory) / "damaged.sqlite", Path(directory) / file.name
        with locked_directory(file.parent):
            shutil.copyfile(file, copy)
            with suppress(FileNotFoundError):
                shutil.copyfile(_wal(file), _wal(copy))
        engine = open_engine(new, {"synchronous": "OFF"})
        try:
            migrate(engine)
            with closing(sqlite3.connect(new, isolation_level=None)) as connection:
                doubles = _insert(connection, rows_of(copy), file)
                connection.execute(_REMOVE_SURPLUS)
                for double in doubles:
                    _settle(connection, LogReader(engine), *double)
                connection.execute("INSERT INTO retired VALUES (?)", (_newest(file),))
            yield engine
        finally:
            engine.dispose()


def _newest(file: Path) -> int:
    """Return the highest id that a removed or lost game is known to have had: no other game gets it, or a lower one."""
    last = read_last_commit(file.parent)
    highest: int | None = None
    engine = open_read_only(file)
    with suppress(DatabaseError, UnicodeDecodeError), engine.connect() as connection:
        highest = connection.execute(
            select(func.max(retired.c.game_id)).where(retired.c.game_id <= LAST_GAME_ID)
        ).scalar()
    engine.dispose()
    return max(highest or 0, 0 if last is None else last.newest)


def _wal(file: Path) -> Path:
    return file.with_name(f"{file.name}-wal")


def _insert(connection: sqlite3.Connection, rows: Iterator[RecoveredRow], file: Path) -> list[tuple[int, int, str]]:
    """Insert each row into its table, unless another row has its key; return the events that were not inserted.

    :raises DataError: there is no row of a log, or one of another schema.
    """
    found = False
    doubles: list[tuple[int, int, str]] = []
    connection.execute("BEGIN")
    for row in rows:
        revision = row.values[0]
        if _fits(VERSION, row) and isinstance(revision, str) and is_revision(revision) and revision != HEAD:
            raise DataError(
                f"data: {file} is damaged, and at revision {revision} of its schema; this program reads {HEAD}. "
                "Export it with the gmd that wrote it"
            )
        table = table_of(row)
        if table is None:
            continue
        found = True
        values = {column.name: value for column, value in zip(table.c, row.values, strict=False) if value is not None}
        if row.values[0] is None:
            values[table.c[0].name] = row.rowid
        named, marks = ", ".join(values), ", ".join("?" * len(values))
        done = connection.execute(f"INSERT OR IGNORE INTO {table.name} ({named}) VALUES ({marks})", (*values.values(),))
        if table is events and not done.rowcount:
            doubles.append(row.values[:3])
    connection.execute("COMMIT")
    if not found:
        raise DataError(f"data: nothing in {file} belongs to a log of games")
    return doubles


def _settle(connection: sqlite3.Connection, reader: LogReader, game_id: int, seq: int, event: str) -> None:
    """Use an event instead of the one that has its place if the game is whole with it, and only with it."""

    def is_whole() -> bool:
        return all(problem_of(stored) is None for stored in reader.games(GameFilter(game_ids=[game_id])))

    if not is_whole():
        place = "WHERE game_id = ? AND seq = ?"
        (other,) = connection.execute(f"SELECT event FROM events {place}", (game_id, seq)).fetchone()
        for text in (event, other):
            connection.execute(f"UPDATE events SET event = ? {place}", (text, game_id, seq))
            if is_whole():
                return


def table_of(row: RecoveredRow) -> Table | None:
    """Return the table that a row belongs to; None if it is damaged, or of a table that is not recovered."""
    return next((table for table in TABLES if _fits(table, row)), None)


def _fits(table: Table, row: RecoveredRow) -> bool:
    """Return whether a row may be one of a table; old rows lack the columns that were added later."""
    columns: Sequence[Column[Any]] = list(table.c)
    if any(value is not None for value in row.values[len(columns) :]):
        return False
    return all(_may_be(column, value) for column, value in zip(columns, row.values, strict=False))


def _may_be(column: Column[Any], value: object) -> bool:
    if value is None:  # in the place of a key that is the row's own number, SQLite stores null
        return bool(column.nullable or column.server_default is not None or column is column.table.c[0])
    return isinstance(value, _STORED[column.type.python_type])


def rows_of(copy: Path) -> Iterator[RecoveredRow]:
    """Yield every row on the leaf pages of tables. The file and its write-ahead log are changed.

    Free pages are left out: their rows were removed.
    """
    size = _page_size(copy)
    _merge_wal(copy, _blank_page(copy, size))
    blank = _blank_page(copy, size)
    count = -(-copy.stat().st_size // size)
    os.truncate(copy, count * size)
    with copy.open("r+b") as pages:
        free = _free_pages(pages.fileno(), size, count)
        kinds = {number: os.pread(pages.fileno(), 1, (number - 1) * size)[0] for number in range(2, count + 1)}
        leaves = [number for number, kind in kinds.items() if kind == _LEAF_OF_TABLE and number not in free]
        os.pwrite(pages.fileno(), blank, 0)
    with closing(sqlite3.connect(copy, isolation_level=None)) as connection:
        connection.text_factory = any_text
        for pragma in ("journal_mode = OFF", "synchronous = OFF", "writable_schema = ON"):
            connection.execute(f"PRAGMA {pragma}").close()
        for number in leaves:
            yield from (RecoveredRow(number, rowid, tuple(values)) for rowid, *values in _on_leaf(connection, number))


def _page_size(file: Path) -> int:
    with file.open("rb") as opened:
        size = int.from_bytes(opened.read(18)[16:], "big")
    return size if size in _PAGE_SIZES else _DEFAULT_PAGE_SIZE


def _blank_page(copy: Path, size: int) -> bytes:
    """Return a first page for a file, with one table, ``leaf``, of unnamed columns of any type."""
    blank = copy.with_name("blank.sqlite")
    with closing(sqlite3.connect(blank)) as connection:
        connection.execute(f"PRAGMA page_size = {size}")
        connection.execute(f"CREATE TABLE leaf ({', '.join(f'c{number}' for number in range(_COLUMNS))})")
    page = blank.read_bytes()[:size]
    blank.unlink()
    count = -(-copy.stat().st_size // size)
    return page[:28] + count.to_bytes(4, "big") + page[32:]


def _merge_wal(copy: Path, blank: bytes) -> None:
    """Move the committed pages of the write-ahead log into the file, also if the file's own first page is damaged."""
    if not _wal(copy).exists():
        return
    for first_page in (b"", blank):
        with copy.open("r+b") as opened:
            opened.write(first_page)
        with suppress(sqlite3.DatabaseError, UnicodeDecodeError), closing(sqlite3.connect(copy)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            return


def _free_pages(descriptor: int, size: int, count: int) -> set[int]:
    """Return the numbers of the pages in the file's list of free pages."""

    def numbers(start: int, many: int) -> list[int]:
        data = os.pread(descriptor, 4 * many, start)
        return [int.from_bytes(data[place : place + 4], "big") for place in range(0, len(data), 4)]

    found: set[int] = set()
    (trunk,) = numbers(32, 1)
    while 0 < trunk <= count and trunk not in found:
        found.add(trunk)
        trunk, many, *leaves = numbers((trunk - 1) * size, size // 4)
        found.update(leaves[:many])
    return found


def _on_leaf(connection: sqlite3.Connection, number: int) -> Iterator[tuple[Any, ...]]:
    """Return the rows of a page, each after its number. SQLite stops at a damaged row; then others are looked up."""
    connection.execute("UPDATE sqlite_schema SET rootpage = ?", (number,))
    for pragma in ("writable_schema = RESET", "writable_schema = ON"):  # reads the schema again
        connection.execute(f"PRAGMA {pragma}").close()
    found: dict[tuple[Any, ...], None] = {}
    with suppress(sqlite3.DatabaseError):
        for row in connection.execute("SELECT rowid, * FROM leaf"):
            found[row] = None
        return iter(found)
    below = max((row[0] for row in found), default=None)
    with suppress(sqlite3.DatabaseError):
        for row in connection.execute("SELECT rowid, * FROM leaf ORDER BY rowid DESC"):
            found[row] = None
    above = min((row[0] for row in found if below is None or row[0] > below), default=None)
    if below is not None and above is not None:
        for rowid in range(below + 1, min(above, below + _MAX_GAP)):
            with suppress(sqlite3.DatabaseError):
                found.update(dict.fromkeys(connection.execute("SELECT rowid, * FROM leaf WHERE rowid = ?", (rowid,))))
    return iter(found)
