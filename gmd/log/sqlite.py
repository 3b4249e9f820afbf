"""The event log in an SQLite file: what only SQLite has, and what it does faster."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from sqlite3 import Connection as RawConnection
from sqlite3 import IntegrityError

import msgspec
from sqlalchemy import URL, Connection, Engine, create_engine, event

from .sql import Missed, SqlStore
from .store import GameAppend, Told

#: Seconds to wait for another process, such as an operator's shell, that holds the file.
BUSY_SECONDS = 5
#: WAL pages between two checkpoints, 16 MiB: each costs two more syncs, and the pages of games being played change
#: again and again.
CHECKPOINT_PAGES = 4_096

#: What every connection begins with. FULL: a commit has reached the disk when it returns.
PRAGMAS: Mapping[str, int | str] = {
    "busy_timeout": BUSY_SECONDS * 1_000,
    "journal_mode": "WAL",
    "synchronous": "FULL",
    "wal_autocheckpoint": CHECKPOINT_PAGES,
    "temp_store": "MEMORY",
}

# A batch of moves is one statement, and that a transaction of its own: after each statement this thread waits for
# Python's lock again, and beside a busy server that takes longer than the statement. So the rows come out of a JSON
# text, and a trigger does what is to be done for each of them.
_BATCH = """
CREATE TEMP VIEW batch (game_id, expected, events, turn, ply_index, seconds_left, termination, changed)
    AS SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
"""
_WRITE_BATCH = """
CREATE TEMP TRIGGER write_batch INSTEAD OF INSERT ON batch BEGIN
    UPDATE games
        SET events = new.expected + json_array_length(new.events), turn = new.turn, ply_index = new.ply_index,
            seconds_left = new.seconds_left, changed = iif(ply_index = new.ply_index, changed, new.changed)
        WHERE game_id = new.game_id AND events = new.expected;
    SELECT raise(ABORT, 'a game is not as it was expected') WHERE changes() = 0;
    UPDATE games SET status = 'over', termination = new.termination, changed = new.changed
        WHERE new.termination != 'available_move' AND game_id = new.game_id;
    INSERT INTO events SELECT new.game_id, new.expected + key, value FROM json_each(new.events);
END
"""
_INSERT_BATCH = """
INSERT INTO batch
    SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]'), json_extract(value, '$[2]'),
        json_extract(value, '$[3]'), json_extract(value, '$[4]'), json_extract(value, '$[5]'),
        json_extract(value, '$[6]'), ?
    FROM json_each(?)
"""

_encoder = msgspec.json.Encoder()


def open_engine(file: Path, pragmas: Mapping[str, int | str] | None = None) -> Engine:
    """An engine whose transactions begin where they say they do.

    :param pragmas: more of them, or other values, for every connection.
    """
    engine = create_engine(URL.create("sqlite", database=str(file)))
    settings = {**PRAGMAS, **(pragmas or {})}

    @event.listens_for(engine, "connect")
    def _prepare(connection: RawConnection, _record: object) -> None:
        connection.isolation_level = None  # else Python's module begins transactions, and not for every statement
        for name, value in settings.items():
            connection.execute(f"PRAGMA {name} = {value}").close()

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        # To begin by reading and write then fails at once where another process writes, instead of waiting.
        immediate = connection.get_execution_options().get("writes", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if immediate else "BEGIN")

    return engine


class SqliteStore(SqlStore):
    """A store in an SQLite file whose schema is up to date.

    All writing is done on one connection, whose cache stays warm. Moves are written past SQLAlchemy, which would take
    longer over a small batch than the database and the disk together, and all other threads would wait for it.
    """

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine, engine.execution_options(writes=True))
        self._connection: Connection | None = None

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
        super().close()

    def _write(self, appends: Sequence[GameAppend], told: Sequence[Told]) -> None:
        if told or not all(append.expected for append in appends):
            super()._write(appends, told)
        else:
            self._advance(self._connected(), appends, time.time())

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        with self._connected().begin():
            yield self._connected()

    def _connected(self) -> Connection:
        """The connection for writing."""
        if self._connection is None:
            self._connection = self._writer.connect()
            _driver(self._connection).execute(_BATCH)
            _driver(self._connection).execute(_WRITE_BATCH)
        return self._connection

    def _advance(self, connection: Connection, appends: Sequence[GameAppend], now: float) -> None:
        rows = [
            (
                append.game_id,
                append.expected,
                append.events,
                append.standing.turn,
                append.standing.ply_index,
                append.standing.seconds_left,
                append.standing.termination,
            )
            for append in appends
        ]
        try:
            _driver(connection).execute(_INSERT_BATCH, (now, _encoder.encode(rows).decode()))
        except IntegrityError as error:
            raise Missed(str(error)) from error


def _driver(connection: Connection) -> RawConnection:
    driver = connection.connection.driver_connection
    assert isinstance(driver, RawConnection)
    return driver
