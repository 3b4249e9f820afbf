"""The event log in an SQLite file: what only SQLite has, and what it does faster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from sqlite3 import Connection as RawConnection
from sqlite3 import IntegrityError
from typing import Any

import msgspec
from sqlalchemy import URL, Connection, Engine, create_engine, event

from .sql import Missed, SqlStore, check_count
from .store import GameAppend

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

# One statement for a whole batch: each row of its own would have this thread wait for the interpreter again.
_INSERT_EVENTS = """
INSERT INTO events (game_id, seq, event)
SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]'), json_extract(value, '$[2]') FROM json_each(?)
"""
_ADVANCE = """
UPDATE games SET events = new.events, turn = new.turn, ply_index = new.ply_index, seconds_left = new.seconds_left,
    changed = ?
FROM (
    SELECT json_extract(value, '$[0]') AS game_id, json_extract(value, '$[1]') AS expected,
        json_extract(value, '$[2]') AS events, json_extract(value, '$[3]') AS turn,
        json_extract(value, '$[4]') AS ply_index, json_extract(value, '$[5]') AS seconds_left
    FROM json_each(?)
) AS new
WHERE games.game_id = new.game_id AND games.events = new.expected
"""
_FINISH = """
UPDATE games SET status = 'over', termination = new.termination
FROM (
    SELECT json_extract(value, '$[0]') AS game_id, json_extract(value, '$[1]') AS termination FROM json_each(?)
) AS new
WHERE games.game_id = new.game_id
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
        if connection.get_execution_options().get("begins", True):
            connection.exec_driver_sql("BEGIN")

    return engine


class SqliteStore(SqlStore):
    """A store in an SQLite file whose schema is up to date.

    All writing is done on one connection, whose cache stays warm. What a game's every move writes goes to Python's own
    module: SQLAlchemy would take longer over a small batch than the database and the disk together, and it is time in
    which no other thread runs.
    """

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        self._connection: Connection | None = None

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
        super().close()

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        if self._connection is None:  # its transactions are none of SQLAlchemy's business
            self._connection = self._engine.execution_options(begins=False).connect()
        connection, driver = self._connection, _driver(self._connection)
        # Not BEGIN alone: that would fail at once, instead of waiting, where another process writes.
        driver.execute("BEGIN IMMEDIATE")
        try:
            yield connection
            driver.commit()
        except IntegrityError as error:
            driver.rollback()
            raise Missed(str(error)) from error
        except BaseException:
            driver.rollback()
            raise

    def _advance(self, connection: Connection, appends: Sequence[GameAppend], now: float) -> None:
        rows = [
            (
                append.game_id,
                append.expected,
                append.expected + len(append.events),
                append.standing.turn,
                append.standing.ply_index,
                append.standing.seconds_left,
            )
            for append in appends
        ]
        check_count(_driver(connection).execute(_ADVANCE, (now, _json(rows))).rowcount, len(rows))
        finished = [append for append in appends if append.standing.termination != "available_move"]
        if finished:
            ends = [(append.game_id, append.standing.termination) for append in finished]
            _driver(connection).execute(_FINISH, (_json(ends),))

    def _insert_events(self, connection: Connection, appends: Sequence[GameAppend]) -> None:
        rows = [
            (append.game_id, seq, event)
            for append in appends
            for seq, event in enumerate(append.events, append.expected)
        ]
        _driver(connection).execute(_INSERT_EVENTS, (_json(rows),))


def _driver(connection: Connection) -> RawConnection:
    driver = connection.connection.driver_connection
    assert isinstance(driver, RawConnection)
    return driver


def _json(rows: Sequence[Any]) -> str:
    return _encoder.encode(rows).decode()
