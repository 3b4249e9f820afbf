"""The copy itself: the source is checked, its rows are written in batches, and then both sides are compared."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import closing, suppress
from hashlib import blake2b
from itertools import zip_longest
from typing import Any

import msgspec
from sqlalchemy import Table
from sqlalchemy.exc import DBAPIError

from gmd.event_log.directory import DataError

from .columns import DamagedRow, Values, reader_of
from .places import Place, reason_of
from .rows import OF_GAMES, TABLES, batches, insert_rows, key_of, last_key, rows_of

#: Rows between two reports of progress.
STEP = 1_000
#: The most damaged rows that are named. More are a case for gmd check.
MAX_DAMAGED = 10_000

_encode = msgspec.msgpack.Encoder().encode

#: Is called with the number of rows that were done since the last call.
Advance = Callable[[int], None]


class Differs(DataError):
    """A row that is not the same in both places after a copy."""


class Damage:
    """The damaged rows of a source, and what is left out of a copy because of them.

    :ivar said: a sentence for each damaged row.
    """

    def __init__(self) -> None:
        self.said: list[str] = []
        self._games: set[object] = set()

    def add(self, table: Table, row: Any, reason: DamagedRow) -> None:
        """Note a damaged row.

        :raises DataError: there are too many.
        """
        if len(self.said) >= MAX_DAMAGED:
            raise DataError(f"more than {MAX_DAMAGED:,} rows are damaged; run gmd check for details")
        if table.name in OF_GAMES:
            self._games.add(row[table.c.keys().index("game_id")])
        key = ", ".join(f"{value.hex() if isinstance(value, bytes) else value!r:.80}" for value in key_of(table, row))
        self.said.append(f"{table.name}, row {key}: {reason}")

    @property
    def games(self) -> int:
        """The number of games that are left out, with all of their rows."""
        return len(self._games)

    def leaves_out(self, game_id: object) -> bool:
        """Return whether a game is left out, because one of its rows is damaged."""
        return game_id in self._games


class Source:
    """The rows of the log that is copied.

    :ivar rows: the number of rows of each table, with those that are damaged, after :meth:`check`.
    """

    def __init__(self, place: Place) -> None:
        self._place = place
        self.damage = Damage()
        self.rows: dict[str, int] = {}

    @property
    def name(self) -> str:
        return self._place.name

    def check(self, advance: Advance) -> None:
        """Read every row once, and note the damaged ones.

        :raises DataError: the log cannot be read to its end.
        """
        for table in TABLES:
            read, count = reader_of(table), 0
            for row in _counting(self._stored(table, None), advance):
                count += 1
                try:
                    read(row)
                except DamagedRow as reason:
                    self.damage.add(table, row, reason)
            self.rows[table.name] = count

    def values(self, table: Table, after: Values | None = None) -> Generator[Values]:
        """Yield the rows of a table that are to be copied, in the order of their keys."""
        read = reader_of(table)
        of_game = table.c.keys().index("game_id") if table.name in OF_GAMES else None
        with closing(self._stored(table, after)) as stored:
            for row in stored:
                if of_game is not None and self.damage.leaves_out(row[of_game]):
                    continue
                with suppress(DamagedRow):  # noted by the check
                    yield read(row)

    def _stored(self, table: Table, after: Values | None) -> Generator[Any]:
        try:
            yield from rows_of(self._place.connection, table, after)
        except DBAPIError as error:
            raise DataError(
                f"{self.name} cannot be read to its end: {table.name}: {reason_of(error)}; run gmd check for details"
            ) from error


def write_rows(source: Source, target: Place, advance: Advance) -> None:
    """Write the rows that the target does not have yet; each transaction writes the next ones in the order of the keys.

    :raises DataError: the target cannot be written.
    """
    for table in TABLES:
        with target.connection.begin():
            last = last_key(target.connection, table)
        with closing(source.values(table, last)) as values:
            for batch in batches(values):
                try:
                    with target.connection.begin():
                        insert_rows(target.connection, table, batch)
                except DataError:
                    raise
                except Exception as error:  # the drivers' own have no common class
                    raise DataError(f"{target.name}: {table.name} cannot be written: {reason_of(error)}") from error
                advance(len(batch))


def compare(source: Source, target: Place, advance: Advance) -> str:
    """Compare every row of every table by its content, and return a digest of all rows, in hexadecimal digits.

    :raises Differs: a row is not the same in both; the message names it.
    """
    digest = blake2b(digest_size=16)
    with target.connection.begin():
        for table in TABLES:
            read = reader_of(table)
            digest.update(b"%b\n" % table.name.encode())
            pairs = zip_longest(source.values(table), rows_of(target.connection, table))
            for ours, stored in _counting(pairs, advance):
                if ours is None or stored is None or ours != _readable(read, stored):
                    raise Differs(_difference(table, source, target, ours, stored))
                digest.update(_encode(ours))
    return digest.hexdigest()


def _readable(read: Callable[[Any], Values], stored: Any) -> Values | None:
    try:
        return read(stored)
    except DamagedRow:
        return None


def _difference(table: Table, source: Source, target: Place, ours: Values | None, theirs: Any) -> str:
    keys = [key_of(table, row) for row in (ours, theirs) if row is not None]
    key, *_ = sorted(keys)
    said = ", ".join(value.hex() if isinstance(value, bytes) else str(value) for value in key)
    where = [
        place.name for place, row in ((source, ours), (target, theirs)) if row is not None and key_of(table, row) == key
    ]
    what = f"is in {where[0]} only" if len(where) == 1 else "is not the same in both"
    return (
        f"{table.name}: row {said} {what}: the source has changed since the copy began, or the target was written by "
        "others. Begin from an empty target: gmd copy --again"
    )


def _counting(rows: Iterator[Any], advance: Advance) -> Iterator[Any]:
    """Yield what an iterator yields, and report the progress."""
    count = 0
    for count, row in enumerate(rows, 1):
        yield row
        if count % STEP == 0:
            advance(STEP)
    advance(count % STEP)
