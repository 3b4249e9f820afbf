"""The event log in an SQLite file: what only SQLite has, and what it does faster."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from sqlite3 import Connection as RawConnection
from typing import Any
from urllib.parse import quote

import msgspec
from sqlalchemy import URL, Connection, Engine, create_engine, event

from .sql import SqlStore, check_count
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

#: What a connection begins with that only reads.
READER_PRAGMAS: Mapping[str, int | str] = {
    "busy_timeout": BUSY_SECONDS * 1_000,
    "query_only": "ON",
    "temp_store": "MEMORY",
}
#: Damages of a file after which SQLite's check stops looking for more.
MAX_DAMAGES = 20

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
UPDATE games SET status = 'over', termination = new.termination, ended = ?
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
        # To begin by reading and write then fails at once where another process writes, instead of waiting.
        immediate = connection.get_execution_options().get("writes", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if immediate else "BEGIN")

    return engine


def open_read_only(file: Path) -> Engine:
    """An engine that cannot write, beside a daemon or without one.

    Where there is no daemon SQLite leaves two files behind, which belong to its write-ahead log and hold nothing: what
    only reads may not remove them. In a directory that cannot be written it takes the file as it is, unless a
    write-ahead log is there, which it would have to prepare for reading.
    """
    query = {"uri": "true", "mode": "ro"}
    if not os.access(file.parent, os.W_OK) and not file.with_name(f"{file.name}-wal").exists():
        query["immutable"] = "1"
    engine = create_engine(URL.create("sqlite", database=f"file:{quote(str(file.absolute()))}", query=query))

    @event.listens_for(engine, "connect")
    def _prepare(connection: RawConnection, _record: object) -> None:
        connection.isolation_level = None
        for name, value in READER_PRAGMAS.items():
            connection.execute(f"PRAGMA {name} = {value}").close()

    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN"))
    return engine


def damages(engine: Engine) -> list[str]:
    """What SQLite's own check finds wrong with its file: the structure, not the games."""
    with engine.connect() as connection:
        found = connection.exec_driver_sql(f"PRAGMA integrity_check({MAX_DAMAGES})").scalars().all()
    return [] if found == ["ok"] else list(found)


class SqliteStore(SqlStore):
    """A store in an SQLite file whose schema is up to date."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine, engine.execution_options(writes=True))

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
        check_count(connection.exec_driver_sql(_ADVANCE, (now, _json(rows))).rowcount, len(rows))
        finished = [append for append in appends if append.standing.termination != "available_move"]
        if finished:
            ends = [(append.game_id, append.standing.termination) for append in finished]
            connection.exec_driver_sql(_FINISH, (now, _json(ends)))

    def _insert_events(self, connection: Connection, appends: Sequence[GameAppend]) -> None:
        rows = [
            (append.game_id, seq, event)
            for append in appends
            for seq, event in enumerate(append.events, append.expected)
        ]
        connection.exec_driver_sql(_INSERT_EVENTS, (_json(rows),))


def _json(rows: Sequence[Any]) -> str:
    return _encoder.encode(rows).decode()
