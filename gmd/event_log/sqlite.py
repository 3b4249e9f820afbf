"""The event log in an SQLite file: a batch of appends in one statement or a few, written by another process."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from sqlite3 import Connection as RawConnection
from sqlite3 import IntegrityError
from typing import Any, TypeVar
from urllib.parse import quote

import chess
import msgspec
from msgspec import Struct
from sqlalchemy import URL, Connection, Engine, create_engine, event, func, select
from sqlalchemy.exc import OperationalError

from gm_protocol.endings import ON
from gm_protocol.state import COLOR_NAMES
from gmd.event_log.commit_process import CommitProcess, start_process
from gmd.event_log.damage import any_text
from gmd.event_log.last_commit import Committed
from gmd.event_log.rows import NEW_COLUMNS, Missed, has_joined, new_row, seat_row, token_row
from gmd.event_log.sql import SqlStore
from gmd.event_log.sqlite_commits import OpenFiles, Statement, Transaction, execute
from gmd.event_log.store import GameAppend, ResultDelivered
from gmd.event_log.tables import games, retired
from gmd.games.game import GameSummary
from gmd.logger import get_logger


def _place(struct: type[Struct], name: str) -> int:
    """Return the index of a field in the JSON array of a struct."""
    return struct.__struct_fields__.index(name)


def _at(name: str, field: str | None = None) -> str:
    """Return the SQL for a field of a row, which is the JSON of a :class:`GameAppend`.

    :param field: a field of the game's summary, if ``name`` is that.
    """
    inner = "" if field is None else f"[{_place(GameSummary, field)}]"
    return f"json_extract(value, '$[{_place(GameAppend, name)}]{inner}')"


# A batch is one statement, which is its own transaction: after each statement a thread waits for Python's lock, and in
# a busy server that takes longer than the statement. So the rows come from one JSON text, and a trigger handles each
# row. The row of an existing game is the JSON of its GameAppend. A new game has its row of the table of games in place
# of the token.
_COLUMNS = "game_id, expected, events, turn, ply_index, seconds_left, termination, changed, new_game"
#: The statements that prepare a connection for :func:`transaction_of`.
PREPARATION = (
    f"CREATE TEMP VIEW batch ({_COLUMNS}) AS SELECT {', '.join(['NULL'] * 9)}",
    f"""
CREATE TEMP TRIGGER write_batch INSTEAD OF INSERT ON batch BEGIN
    INSERT INTO games ({", ".join(NEW_COLUMNS)})
        SELECT {", ".join(f"json_extract(new.new_game, '$[{place}]')" for place in range(len(NEW_COLUMNS)))}
        WHERE new.expected = 0;
    UPDATE games
        SET events = new.expected + json_array_length(new.events), turn = new.turn, ply_index = new.ply_index,
            seconds_left = new.seconds_left, changed = iif(ply_index = new.ply_index, changed, new.changed)
        WHERE game_id = new.game_id AND events = new.expected AND new.expected > 0;
    SELECT raise(ABORT, 'a game is not as it was expected') WHERE new.expected > 0 AND changes() = 0;
    UPDATE games SET status = 'over', termination = new.termination, ended = new.changed, changed = new.changed
        WHERE new.termination != '{ON}' AND new.expected > 0 AND game_id = new.game_id;
    INSERT INTO events SELECT new.game_id, new.expected + key, value FROM json_each(new.events);
END
""",
)
_INSERT_BATCH = f"""
INSERT INTO batch
    SELECT {_at("game_id")}, {_at("expected")}, {_at("events")},
        {_at("summary", "turn")}, {_at("summary", "ply_index")}, {_at("summary", "seconds_left")},
        {_at("summary", "termination")}, ?, iif({_at("expected")} = 0, {_at("token")}, NULL)
    FROM json_each(?)
"""
_INSERT_TOKEN = "INSERT INTO tokens (token, game_id, content) VALUES (?, ?, ?)"
_SEAT_COLUMNS = ("player_white", "player_black", "white_taken", "black_taken", "status", "changed")
_UPDATE_SEATS = f"UPDATE games SET {', '.join(f'{name} = ?' for name in _SEAT_COLUMNS)} WHERE game_id = ?"
_UPDATE_DELIVERED: Mapping[chess.Color, str] = {
    side: f"UPDATE games SET {COLOR_NAMES[side]}_open = 0 WHERE game_id = ?" for side in chess.COLORS
}

_encoder = msgspec.json.Encoder()


def transaction_of(appends: Sequence[GameAppend], delivered: Sequence[ResultDelivered], now: float) -> Transaction:
    """Return the transaction that writes a batch on a prepared connection.

    Executing it raises IntegrityError if a game has a conflict.

    :param now: the time, in seconds since 1970.
    :raises gmd.event_log.rows.Missed: a new game's first event is not its creation.
    """
    rows = [append if append.expected else _begun(append, now) for append in appends]
    statements: list[Statement] = []
    if rows:
        statements.append((_INSERT_BATCH, [(now, _encoder.encode(rows).decode())]))
    if tokens := [token_row(append) for append in appends if append.token is not None]:
        statements.append((_INSERT_TOKEN, [(row["token"], row["game_id"], row["content"]) for row in tokens]))
    if seats := [seat_row(append, now) for append in appends if append.expected and has_joined(append)]:
        statements.append((_UPDATE_SEATS, [(*(row[name] for name in _SEAT_COLUMNS), row["id"]) for row in seats]))
    for seat, those in groupby(sorted(delivered, key=attrgetter("seat")), key=attrgetter("seat")):
        statements.append((_UPDATE_DELIVERED[seat], [(each.game_id,) for each in those]))
    return statements


def _begun(append: GameAppend, now: float) -> tuple[Any, ...]:
    """Return the row of a new game for the statement."""
    row = new_row(append, now)
    return append.game_id, 0, append.events, append.summary, [row[name] for name in NEW_COLUMNS]


#: Seconds to wait for another process, such as an operator's shell, that holds the file.
BUSY_SECONDS = 5
#: Milliseconds of each wait of the writing connection, because a wait within SQLite cannot be interrupted when the
#: daemon stops. Then each of the last writes may wait this long.
BUSY_STEP = 50
#: WAL pages between two checkpoints, 16 MiB: a checkpoint costs two more syncs, and the pages of live games change
#: again and again.
CHECKPOINT_PAGES = 4_096

#: The settings of every connection. FULL: a commit is durable when it returns.
PRAGMAS: Mapping[str, int | str] = {
    "busy_timeout": BUSY_SECONDS * 1_000,
    "journal_mode": "WAL",
    "synchronous": "FULL",
    "wal_autocheckpoint": CHECKPOINT_PAGES,
    "temp_store": "MEMORY",
}

#: A query that makes a connection open the write-ahead log, as its first read does.
OPEN_WAL = "SELECT count(*) FROM retired"

#: The settings of a read-only connection.
READER_PRAGMAS: Mapping[str, int | str] = {
    "busy_timeout": BUSY_SECONDS * 1_000,
    "query_only": "ON",
    "temp_store": "MEMORY",
}
#: Damages of a file after which SQLite's check stops.
MAX_DAMAGES = 20

# The events are passed as one JSON text here too, because an import writes very many.
_INSERT_EVENTS = """
INSERT INTO events (game_id, seq, event)
    SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]'), json_extract(value, '$[2]') FROM json_each(?)
"""

_T = TypeVar("_T")

logger = get_logger(__name__)


def open_engine(file: Path, pragmas: Mapping[str, int | str] | None = None) -> Engine:
    """Return an engine whose transactions begin exactly at their BEGIN.

    :param pragmas: additional or changed settings for every connection.
    """
    engine = create_engine(URL.create("sqlite", database=str(file)))
    settings = {**PRAGMAS, **(pragmas or {})}

    @event.listens_for(engine, "connect")
    def _prepare(connection: RawConnection, _record: object) -> None:
        connection.isolation_level = None  # or Python's module begins transactions, and only for some statements
        for name, value in settings.items():
            connection.execute(f"PRAGMA {name} = {value}").close()

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        # A transaction that begins with a read, and then writes, fails at once while another process writes, without
        # waiting.
        immediate = connection.get_execution_options().get("writes", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if immediate else "BEGIN")

    return engine


def open_read_only(file: Path) -> Engine:
    """Return a read-only engine, for use with or without a running daemon.

    Without a daemon, SQLite leaves the two empty files of its write-ahead log behind, because a reader may not remove
    them. In a directory without write permission it reads the file unchanged, unless there is a write-ahead log, which
    SQLite would have to prepare for reading.
    """
    query = {"uri": "true", "mode": "ro"}
    if not os.access(file.parent, os.W_OK) and not file.with_name(f"{file.name}-wal").exists():
        query["immutable"] = "1"
    engine = create_engine(URL.create("sqlite", database=f"file:{quote(str(file.absolute()))}", query=query))

    @event.listens_for(engine, "connect")
    def _prepare(connection: RawConnection, _record: object) -> None:
        connection.isolation_level = None
        connection.text_factory = any_text
        for name, value in READER_PRAGMAS.items():
            connection.execute(f"PRAGMA {name} = {value}").close()

    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN"))
    return engine


def damages(engine: Engine) -> list[str]:
    """Return the damages that SQLite's own check finds in its file: in the structure, not the games."""
    with engine.connect() as connection:
        found = connection.exec_driver_sql(f"PRAGMA integrity_check({MAX_DAMAGES})").scalars().all()
    return [] if found == ["ok"] else list(found)


class FileLost(Exception):
    """The loss of the database file: its name no longer leads to the open file, so that commits would be lost."""


class SqliteStore(SqlStore):
    """A store in an SQLite file with the current schema.

    All writes use one connection, whose cache stays warm. Batches bypass SQLAlchemy, which would take longer for a
    small batch than the database and the disk together, and all other threads would wait for it.
    """

    def __init__(self, engine: Engine, patience: float = BUSY_SECONDS) -> None:
        """:param patience: seconds to wait for another process that is writing."""
        super().__init__(engine)
        self._writer = engine.execution_options(writes=True)
        self._connection: Connection | None = None
        self._patience = patience
        self._files: OpenFiles | None = None
        self._wal_loss_logged = False
        self._committed = Committed()
        #: The descriptor of the file that records the last commit (:mod:`gmd.event_log.last_commit`), if there is one.
        self.record: int | None = None

    def look(self) -> None:
        """Check that the files are still those that are open; save the content of a lost write-ahead log.

        :raises FileLost: the database file is lost.
        """
        if self._files is None:
            return
        if self._files.file_lost:
            raise FileLost(
                f"{self._files.file} was deleted, moved or replaced while it was open: no file of that name has the "
                f"games. Copy it out of /proc/{os.getpid()}/fd before the daemon ends, put it back, and restart"
            )
        if self._files.wal_lost:
            self._save()

    def _save(self) -> None:
        """Move the content of the deleted write-ahead log into the database file, durably, and log that once."""
        try:
            self._patiently(self._checkpoint)
        finally:
            if not self._wal_loss_logged:
                self._wal_loss_logged = True
                logger.error(
                    "the write-ahead log was deleted while it was open: every commit goes into the database file at "
                    "once, which is slower",
                    file="" if self._files is None else self._files.wal,
                    advice="restart the daemon, which makes a new one; nothing is lost",
                )

    def _checkpoint(self) -> None:
        """Move the whole write-ahead log into the database file.

        :raises sqlite3.OperationalError: another connection is reading.
        """
        busy, frames, moved = _driver(self._connected()).execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        if busy or frames != moved:
            error = sqlite3.OperationalError("the write-ahead log cannot be moved into the file: it is being read")
            error.sqlite_errorcode = sqlite3.SQLITE_BUSY
            raise error

    def connect(self, readers: int) -> None:
        """Open the writing and the reading connections, while descriptors are available."""
        self._connected()
        with ExitStack() as stack:
            for _ in range(readers):
                stack.enter_context(self._engine.connect())

    def events_of(self, game_id: int) -> int | None:
        """Return a game's number of events; 0 if it does not exist, None if it may have been removed."""
        with self._engine.connect() as connection:
            count = connection.execute(select(games.c.events).where(games.c.game_id == game_id)).scalar()
            gone = connection.execute(select(func.max(retired.c.game_id))).scalar() or 0
        return count if count is not None else None if game_id <= gone else 0

    def hurry(self) -> None:
        self._patience = 0

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
        super().close()

    def _write(self, appends: Sequence[GameAppend], delivered: Sequence[ResultDelivered]) -> None:
        transaction = transaction_of(appends, delivered, time.time())
        self.look()
        try:
            self._patiently(lambda: execute(_driver(self._connected()), transaction))
        except IntegrityError as error:
            raise Missed(str(error)) from error
        self.look()
        if self.record is not None and (note := self._committed.by(appends)):
            with suppress(OSError):  # the disk is full, but the commit is durable
                os.pwrite(self.record, note, 0)

    def _patiently(self, begin: Callable[[], _T]) -> _T:
        """Retry an operation while another process is writing, for as many seconds as the store's patience."""
        began = time.monotonic()
        while True:
            try:
                return begin()
            except (OperationalError, sqlite3.OperationalError) as error:
                if not _is_busy(error) or time.monotonic() >= began + self._patience:
                    raise

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        self.look()
        connection = self._connected()
        with self._patiently(connection.begin):
            yield connection
        self.look()

    def _connected(self) -> Connection:
        """Return the writing connection; open it first if needed."""
        if self._connection is None:
            self._connection = self._writer.connect()
            _driver(self._connection).execute(f"PRAGMA busy_timeout = {BUSY_STEP}").close()
            for statement in (*PREPARATION, OPEN_WAL):
                _driver(self._connection).execute(statement).fetchall()
            self._files = OpenFiles(self._engine.url.database or "")
        return self._connection

    def _insert_events(self, connection: Connection, appends: Sequence[GameAppend]) -> None:
        rows = [
            (append.game_id, seq, event)
            for append in appends
            for seq, event in enumerate(append.events, append.expected)
        ]
        connection.exec_driver_sql(_INSERT_EVENTS, (_json(rows),))


def _is_busy(error: OperationalError | sqlite3.OperationalError) -> bool:
    """Return whether the error is that another process holds the file."""
    cause = error.orig if isinstance(error, OperationalError) else error
    code = cause.sqlite_errorcode if isinstance(cause, sqlite3.Error) else 0
    return code & 0xFF == sqlite3.SQLITE_BUSY  # the other bits say which kind of busy


def _driver(connection: Connection) -> RawConnection:
    driver = connection.connection.driver_connection
    assert isinstance(driver, RawConnection)
    return driver


def _json(rows: Sequence[Any]) -> str:
    return _encoder.encode(rows).decode()


#: The process hardly waits for another process that holds the file; the store then retries for longer.
_SETTINGS = {**PRAGMAS, "busy_timeout": BUSY_STEP}


class SqliteCommitter:
    """A :class:`~gmd.event_log.store.Committer`.

    :ivar process: the process that commits.
    """

    def __init__(self, process: CommitProcess, committed: Committed) -> None:
        self.process = process
        self._committed = committed

    def put(self, appends: Sequence[GameAppend], delivered: Sequence[ResultDelivered]) -> bool:
        try:
            transaction = transaction_of(appends, delivered, time.time())
        except Missed:
            return False
        return self.process.put(transaction, self._committed.by(appends))

    async def run(self, answered: Callable[[bool], None]) -> None:
        await self.process.run(answered)


@contextmanager
def committer_of(file: Path, *locks: int, record: int | None = None) -> Iterator[SqliteCommitter | None]:
    """Start a committer for a file with the current schema; give None if its process cannot be started.

    :param locks: descriptors that lock the file's directory. It stays locked until the committer has ended, so that the
        next daemon after one that was killed does not read while the last batch is being written.
    :param record: the descriptor of the file that records the last commit (:mod:`gmd.event_log.last_commit`).
    """
    pragmas = [f"PRAGMA {name} = {value}" for name, value in _SETTINGS.items()]
    process = start_process(file, [*pragmas, *PREPARATION, OPEN_WAL], *locks, record=record)
    if process is None:
        yield None
    else:
        with closing(process):
            yield SqliteCommitter(process, Committed())
