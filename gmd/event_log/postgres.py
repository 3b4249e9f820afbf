"""The event log in a PostgreSQL database.

A batch of appends is always one statement, which is its own transaction. It first locks what it relies on: the term of
the server, and the games that have as many events as expected. Unless all of them are there it writes nothing, and says
what was there. A new game whose id or token is taken raises a unique violation, after which nothing is written either.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import cache
from threading import Event
from typing import Any, NamedTuple, TypeVar

import chess
import msgspec
import psycopg
import trio
from msgspec import Struct
from psycopg.errors import (
    AdminShutdown,
    CannotConnectNow,
    CrashShutdown,
    DeadlockDetected,
    SerializationFailure,
    UniqueViolation,
)
from sqlalchemy import Connection, Engine, insert, select, text
from sqlalchemy.exc import DBAPIError

from gm_protocol.endings import ON
from gmd.event_log.postgres_connection import NotReplicated, replicating
from gmd.event_log.rows import NEW_COLUMNS, Missed, has_joined, new_row, seat_row, token_row
from gmd.event_log.sql import SqlStore, write_probe
from gmd.event_log.store import (
    FENCE,
    FENCE_OF_SQLALCHEMY,
    Fenced,
    GameAppend,
    OutcomeUnknown,
    ResultDelivered,
    Unreachable,
)
from gmd.event_log.tables import events

#: The time of a write in seconds since 1970, by the database's clock.
NOW = "extract(epoch FROM clock_timestamp())::float8"

_TYPES = {
    **dict.fromkeys(("game_id", "player_white", "player_black"), "bigint"),
    **dict.fromkeys(("white_version", "black_version", "events", "ply_index", "expected"), "integer"),
    **dict.fromkeys(("white_taken", "black_taken", "clocked", "white_open", "black_open", "seated"), "boolean"),
    **dict.fromkeys(("seconds_left", "changed", "ended"), "float8"),
}
#: The columns that the statement fills by the database's clock.
_TIMES = ("changed", "ended")
_CREATED_COLUMNS = tuple(name for name in NEW_COLUMNS if name not in _TIMES)


class _Changed(Struct):
    """The changes of an existing game's row. ``seated`` says whether those of its seats are given."""

    game_id: int
    expected: int
    events: int
    turn: str
    ply_index: int
    seconds_left: float | None
    termination: str
    seated: bool = False
    status: str | None = None
    player_white: int | None = None
    player_black: int | None = None
    white_taken: bool | None = None
    black_taken: bool | None = None


class Statement(NamedTuple):
    """A statement with its parameters, and what it must find."""

    sql: str
    parameters: dict[str, Any]
    #: The number of existing games that must be as expected.
    changed: int


_encoder = msgspec.json.Encoder()


def batch_of(appends: Sequence[GameAppend], delivered: Sequence[ResultDelivered], term: int) -> Statement:
    """Return the statement that writes a batch.

    Its one row says whether the term is still this one, by a number, and has the number of games that were as expected.

    :raises gmd.event_log.rows.Missed: a new game's first event is not its creation.
    """
    created = [new_row(append, 0.0) for append in appends if not append.expected]
    changed = [_changed(append) for append in appends if append.expected]
    tokens = [token_row(append) for append in appends if append.token is not None]
    parameters: dict[str, Any] = {"term": term}
    if created:
        parameters["created"] = _json([{name: row[name] for name in _CREATED_COLUMNS} for row in created])
    if changed:
        parameters |= {"changed": _json(changed), "changed_count": len(changed)}
    if appends:
        numbered = [(append.game_id, seq) for append in appends for seq in _numbers(append)]
        parameters["event_games"] = _array(game_id for game_id, _ in numbered)
        parameters["event_seqs"] = _array(seq for _, seq in numbered)
        parameters["event_texts"] = _json([_json(event) for append in appends for event in append.events])
    if tokens:
        parameters["token_keys"] = _bytes_array(row["token"] for row in tokens)
        parameters["token_games"] = _array(row["game_id"] for row in tokens)
        parameters["token_contents"] = _bytes_array(row["content"] for row in tokens)
    for seat, name in ((chess.WHITE, "shown_white"), (chess.BLACK, "shown_black")):
        if delivered:
            parameters[name] = _array(each.game_id for each in delivered if each.seat == seat)
    sql = statement_for(bool(created), bool(changed), bool(appends), bool(tokens), bool(delivered))
    return Statement(sql, parameters, len(changed))


def _changed(append: GameAppend) -> _Changed:
    summary = append.summary
    row = _Changed(
        append.game_id,
        append.expected,
        len(append.events),
        summary.turn,
        summary.ply_index,
        summary.seconds_left,
        summary.termination,
    )
    if has_joined(append):
        seats = seat_row(append, 0.0)
        row.seated, row.status = True, seats["status"]
        row.player_white, row.player_black = seats["player_white"], seats["player_black"]
        row.white_taken, row.black_taken = seats["white_taken"], seats["black_taken"]
    return row


def _numbers(append: GameAppend) -> range:
    return range(append.expected, append.expected + len(append.events))


def _json(value: object) -> str:
    return _encoder.encode(value).decode()


def _array(numbers: Iterable[int]) -> str:
    """Return the text of an array of numbers: its type does not depend on their size, as a driver's would."""
    return f"{{{','.join(map(str, numbers))}}}"


def _bytes_array(values: Iterable[bytes]) -> str:
    """Return the text of an array of byte strings."""
    return "{" + ",".join(f'"\\\\x{value.hex()}"' for value in values) + "}"


_HELD = f"held AS MATERIALIZED ({FENCE})"
_CHANGED = f"""changed AS MATERIALIZED (
    SELECT * FROM json_to_recordset(%(changed)s::json)
        AS c ({", ".join(f"{name} {_TYPES.get(name, 'text')}" for name in _Changed.__struct_fields__)})
), expected AS MATERIALIZED (
    SELECT g.game_id FROM games AS g JOIN changed AS c ON g.game_id = c.game_id AND g.events = c.expected
        ORDER BY g.game_id FOR NO KEY UPDATE OF g
)"""
_CREATE = f"""create_games AS (
    INSERT INTO games ({", ".join(_CREATED_COLUMNS)}, changed, ended)
        SELECT {", ".join(_CREATED_COLUMNS)}, {NOW}, CASE WHEN status = 'over' THEN {NOW} END
        FROM json_to_recordset(%(created)s::json)
            AS c ({", ".join(f"{name} {_TYPES.get(name, 'text')}" for name in _CREATED_COLUMNS)})
        WHERE (SELECT holds FROM checked)
)"""
# A row is changed once in a statement, so that all of its changes are in one. A sense or a first contact must not show
# in the time of the last change.
_CHANGE = f"""change_games AS (
    UPDATE games AS g SET
        events = c.expected + c.events, turn = c.turn, ply_index = c.ply_index, seconds_left = c.seconds_left,
        changed = CASE
            WHEN c.ply_index <> g.ply_index OR c.termination <> '{ON}' OR c.seated THEN {NOW} ELSE g.changed
        END,
        status = CASE WHEN c.termination <> '{ON}' THEN 'over' WHEN c.seated THEN c.status ELSE g.status END,
        termination = CASE WHEN c.termination <> '{ON}' THEN c.termination ELSE g.termination END,
        ended = CASE WHEN c.termination <> '{ON}' THEN {NOW} ELSE g.ended END,
        player_white = CASE WHEN c.seated THEN c.player_white ELSE g.player_white END,
        player_black = CASE WHEN c.seated THEN c.player_black ELSE g.player_black END,
        white_taken = CASE WHEN c.seated THEN c.white_taken ELSE g.white_taken END,
        black_taken = CASE WHEN c.seated THEN c.black_taken ELSE g.black_taken END{{shown}}
    FROM changed AS c WHERE g.game_id = c.game_id AND (SELECT holds FROM checked)
)"""
_OPEN = """{comma}
        white_open = g.white_open AND g.game_id <> ALL (%(shown_white)s::bigint[]),
        black_open = g.black_open AND g.game_id <> ALL (%(shown_black)s::bigint[])"""
_DELIVER = f"""deliver AS (
    UPDATE games AS g SET {_OPEN.format(comma="")}
    WHERE g.game_id = ANY (%(shown_white)s::bigint[] || %(shown_black)s::bigint[])
        AND (SELECT holds FROM checked){{others}}
)"""
# Each event's JSON is a string in the array: \\u0000 is allowed in a text, and not in a JSON that is taken apart.
_EVENTS = """insert_events AS (
    INSERT INTO events (game_id, seq, event)
        SELECT * FROM ROWS FROM (
            unnest(%(event_games)s::bigint[], %(event_seqs)s::integer[]),
            json_array_elements_text(%(event_texts)s::json)
        ) WHERE (SELECT holds FROM checked)
)"""
_TOKENS = """insert_tokens AS (
    INSERT INTO tokens (token, game_id, content)
        SELECT * FROM unnest(%(token_keys)s::bytea[], %(token_games)s::bigint[], %(token_contents)s::bytea[])
        WHERE (SELECT holds FROM checked)
)"""


@cache
def statement_for(created: bool, changed: bool, appends: bool, tokens: bool, delivered: bool) -> str:
    """Return the statement for a batch that has these parts: one that lacks some is cheaper to plan and to run."""
    found = "(SELECT count(*) FROM expected)" if changed else "0"
    held = "(SELECT count(*) FROM held)"
    parts = [_HELD] + [_CHANGED] * changed
    parts.append(
        f"checked AS MATERIALIZED (SELECT {held} = 1 AND {found} = {'%(changed_count)s' if changed else '0'} AS holds)"
    )
    parts += [_CREATE] * created
    parts += [_CHANGE.format(shown=_OPEN.format(comma=",") if delivered else "")] * changed
    others = " AND g.game_id NOT IN (SELECT game_id FROM changed)" if changed else ""
    parts += [_DELIVER.format(others=others)] * delivered + [_EVENTS] * appends + [_TOKENS] * tokens
    return f"WITH {', '.join(parts)} SELECT {held}, {found}"


#: Seconds for which a write waits for a server that has restarted or failed over, before it fails.
PATIENCE_SECONDS = 5.0
#: Seconds between two attempts to connect, at first and at most.
FIRST_DELAY, LONGEST_DELAY = 0.02, 0.5

#: The settings of the session for batches. A batch's statement is planned once, since that takes longer than all else,
#: and finds every row by its key: as long as a database is new, the planner would choose to read its tables whole.
_PLANNING = """
SELECT set_config('plan_cache_mode', 'force_generic_plan', false), set_config('jit', 'off', false),
    set_config('enable_seqscan', 'off', false), set_config('enable_hashjoin', 'off', false),
    set_config('enable_mergejoin', 'off', false)
"""

_T = TypeVar("_T")


#: Commits once more: what was committed before is replicated, too, once this is. The message is for nobody.
_REPLICATED = "SELECT pg_logical_emit_message(true, 'gmd', '')"


class ConnectionLost(Exception):
    """A loss of the connection while the server may have been at work. The cause is the driver's error."""


class PostgresStore(SqlStore):
    """A store in a PostgreSQL database with the current schema.

    Reads see one moment: several queries of one read belong together. Batches bypass SQLAlchemy, as SQLite's do.
    """

    def __init__(
        self, engine: Engine, term: int, refused: Callable[[], None], patience: float = PATIENCE_SECONDS
    ) -> None:
        """:param term: under which all is written (:mod:`gmd.event_log.server_lock`).
        :param refused: called in the thread that writes if that term is over.
        :param patience: seconds to wait for a server that cannot be reached.
        """
        super().__init__(engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True))
        self.pruning_clock = self.database_time
        self.term, self._refused = term, refused
        #: Whether the next batch has been sent before, by a committer, and may have been written.
        self.is_in_doubt = False
        self._writer = engine.execution_options(isolation_level="READ COMMITTED")
        self._statements = engine.execution_options(isolation_level="AUTOCOMMIT")
        self._connection: Connection | None = None
        self._patience = patience
        self._failing = False  # an outage is known: nobody waits for its end
        self._hurried = Event()

    def database_time(self) -> float:
        """Return the database's time, in seconds since 1970."""
        with self._engine.connect() as connection:
            return self._time(connection)

    def hurry(self) -> None:
        self._hurried.set()

    def close(self) -> None:
        self._disconnect()
        super().close()

    def look(self) -> None:
        """Check that the server answers; connect again if it has restarted."""
        self._patiently(lambda: self._driver().execute("SELECT 1"))

    def probe(self) -> None:
        with self._transaction() as connection:
            write_probe(connection)
        self._failing = False

    def patiently(self, read: Callable[[], _T]) -> _T:
        deadline = time.monotonic() + (0.0 if self._failing else self._patience)
        delay = FIRST_DELAY
        while True:
            try:
                return read()
            except DBAPIError as error:
                if not _is_unreachable(error):
                    raise
                if time.monotonic() + delay > deadline or self._hurried.wait(delay):
                    raise Unreachable("the database cannot be reached") from error
            delay = min(2 * delay, LONGEST_DELAY)

    @asynccontextmanager
    async def commit_connection(self) -> AsyncIterator[psycopg.Connection[Any]]:
        """Give a connection for batches other than the writer's, each of which is a transaction.

        :raises sqlalchemy.exc.DBAPIError: there is none.
        """
        connection = await trio.to_thread.run_sync(self._new_connection)
        try:
            yield _driver(connection)
        finally:
            with suppress(Exception):
                connection.invalidate()
            connection.close()

    def _new_connection(self) -> Connection:
        connection = self._statements.connect()
        try:
            connection.exec_driver_sql(_PLANNING)
        except BaseException:
            connection.invalidate()
            connection.close()
            raise
        return connection

    # --- Writing ------------------------------------------------------------------------------------------------

    def _write(self, appends: Sequence[GameAppend], delivered: Sequence[ResultDelivered]) -> None:
        batch = batch_of(appends, delivered, self.term)
        sent, self.is_in_doubt = self.is_in_doubt, False

        def attempt() -> None:
            nonlocal sent
            connection = self._driver()
            before, sent = sent, True
            try:
                with replicating(connection):
                    _execute(connection, batch)
            except DeadlockDetected:
                sent = before
                raise
            except (Missed, Fenced):
                # An attempt whose connection was lost may have been carried out, even after this one began.
                if not before or not self._is_there(appends):
                    raise
                with replicating(connection):
                    connection.execute(_REPLICATED)

        try:
            self._patiently(attempt, in_doubt=sent)
        except Fenced:
            self._refused()
            raise

    def _is_there(self, appends: Sequence[GameAppend]) -> bool:
        """Return whether all events of a batch are stored, as far as anybody can tell ours from others."""
        numbered = [
            (append.game_id, seq, event)
            for append in appends
            for seq, event in enumerate(_texts(append), append.expected)
        ]
        with self._engine.connect() as connection:
            for game_id, seq, text in numbered:
                where = (events.c.game_id == game_id, events.c.seq == seq)
                if connection.execute(select(events.c.event).where(*where)).scalar() != text:
                    return False
        return bool(numbered)

    def _patiently(self, work: Callable[[], _T], *, in_doubt: bool = False) -> _T:
        """Do some work, again and again while the server cannot be reached, until the patience is at its end.

        :param in_doubt: whether the work was begun before, on a connection that was lost.
        :raises OutcomeUnknown: the connection was lost, and it could not be found out whether the work was done.
        :raises Unreachable: the server could not be reached; nothing was done.
        """
        deadline = time.monotonic() + (0.0 if self._failing else self._patience)
        delay = FIRST_DELAY
        lost: Exception | None = ConnectionLost() if in_doubt else None
        while True:
            try:
                done = self._noting_losses(work)
            except (Missed, Fenced):
                raise
            except (DeadlockDetected, SerializationFailure) as error:
                last: Exception = error
            except (ConnectionLost, NotReplicated) as error:
                last = error
                lost = error
            except (DBAPIError, psycopg.Error) as error:
                if not (isinstance(error, DBAPIError) and _is_unreachable(error)):
                    if lost is None:
                        raise
                    raise _unknown() from error  # what was lost may still be under way
                last = error
            else:
                self._failing = False
                return done
            if time.monotonic() + delay > deadline or self._hurried.wait(delay):
                self._failing = True
                if lost is not None:
                    raise _unknown() from lost.__cause__
                if isinstance(last, DBAPIError):
                    raise Unreachable("the database cannot be reached") from last
                raise last
            delay = min(2 * delay, LONGEST_DELAY)

    def _noting_losses(self, work: Callable[[], _T]) -> _T:
        """Do some work on the connection for batches; drop that after an error.

        :raises ConnectionLost: it was lost.
        """
        try:
            return work()
        except (DeadlockDetected, SerializationFailure):
            raise
        except psycopg.Error as error:
            is_lost = self._connection is not None and _driver(self._connection).closed
            self._disconnect()  # also a server that takes no writes any more: another one may be the primary by now
            if is_lost:
                raise ConnectionLost from error
            raise

    def _driver(self) -> psycopg.Connection[Any]:
        """Return the connection for batches, each of which is a transaction; open it first if needed."""
        if self._connection is None:
            self._connection = self._new_connection()
        return _driver(self._connection)

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(Exception):
                connection.invalidate()
            connection.close()

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        with self._patiently(self._writer.connect) as connection, self._replicating(connection):
            transaction = connection.begin()
            try:
                if connection.execute(text(FENCE_OF_SQLALCHEMY), {"term": self.term}).first() is None:
                    self._refused()
                    raise Fenced
                yield connection
                number = connection.exec_driver_sql("SELECT pg_current_xact_id_if_assigned()::text").scalar()
            except BaseException as error:
                transaction.rollback()
                if isinstance(error, DBAPIError) and _is_unreachable(error):
                    raise Unreachable("the connection to the database was lost") from error
                raise
            try:
                transaction.commit()
            except DBAPIError as error:
                if not error.connection_invalidated:
                    raise
                if not self._was_committed(number):
                    raise Unreachable("the connection to the database was lost") from error

    @contextmanager
    def _replicating(self, connection: Connection) -> Iterator[None]:
        """Raise OutcomeUnknown at the end if the commit was not replicated for certain."""
        try:
            with replicating(_driver(connection)):
                yield
        except NotReplicated as error:
            raise OutcomeUnknown("the commit was not replicated") from error

    def _was_committed(self, number: str | None) -> bool:
        """Return whether a transaction was committed whose commit lost its connection.

        :raises OutcomeUnknown: the server cannot be asked.
        """
        if number is None:
            return True  # it had written nothing

        def ask() -> str | None:
            query = "SELECT pg_xact_status(%(number)s::xid8)"
            found = self._driver().execute(query, {"number": number}).fetchone()
            status: str | None = None if found is None else found[0]
            if status == "in progress":  # the former session has not ended
                raise SerializationFailure("the outcome of a transaction is not known yet")
            return status

        try:
            return self._patiently(ask) == "committed"
        except (Unreachable, psycopg.Error, DBAPIError) as error:
            raise OutcomeUnknown("the connection to the database was lost during a commit") from error

    def _insert_events(self, connection: Connection, appends: Sequence[GameAppend]) -> None:
        rows = [
            {"game_id": append.game_id, "seq": seq, "event": text}
            for append in appends
            for seq, text in enumerate(_texts(append), append.expected)
        ]
        if rows:
            connection.execute(insert(events), rows)

    def _time(self, connection: Connection) -> float:
        return float(connection.exec_driver_sql(f"SELECT {NOW}").scalar_one())


def _execute(connection: psycopg.Connection[Any], batch: Statement) -> None:
    """Write a batch.

    :raises Missed: a game has another number of events than expected, or an id or a token is taken.
    :raises Fenced: another daemon serves the database.
    """
    try:
        found = connection.execute(batch.sql, batch.parameters, prepare=True).fetchone()
    except UniqueViolation as error:
        raise Missed(str(error)) from error
    assert found is not None
    held, expected = found
    if not held:
        raise Fenced
    if expected != batch.changed:
        raise Missed(f"{batch.changed - expected} games have another number of events than expected")


def _unknown() -> OutcomeUnknown:
    return OutcomeUnknown("the connection to the database was lost during a commit")


def _driver(connection: Connection) -> psycopg.Connection[Any]:
    driver = connection.connection.driver_connection
    assert isinstance(driver, psycopg.Connection)
    return driver


def _is_unreachable(error: DBAPIError) -> bool:
    """Return whether an error means that there is no connection, rather than that the server refused something."""
    cause = error.orig
    return (
        error.connection_invalidated
        or isinstance(cause, AdminShutdown | CrashShutdown | CannotConnectNow)  # SQLAlchemy was still connecting
        or (isinstance(cause, psycopg.OperationalError) and cause.sqlstate is None)
    )


def _texts(append: GameAppend) -> list[str]:
    return [_encoder.encode(event).decode() for event in append.events]
