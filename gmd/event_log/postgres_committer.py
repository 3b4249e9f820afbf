"""The committer that writes batches to PostgreSQL from the event loop: no thread is woken, nor waits for Python's lock.

A batch is one statement, sent on a connection of its own; its answer is read when the socket has something to read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from select import POLLIN, poll
from typing import TYPE_CHECKING, Any

import psycopg
import trio
from psycopg.pq import ConnStatus, ExecStatus
from sqlalchemy.exc import DBAPIError

from gmd.event_log.postgres import Statement, batch_of
from gmd.event_log.rows import Missed
from gmd.event_log.store import GameAppend, ResultDelivered
from gmd.logger import get_logger

if TYPE_CHECKING:
    from gmd.event_log.postgres import PostgresStore

logger = get_logger(__name__)

#: Seconds between two attempts to connect. Meanwhile the writer's thread commits.
RECONNECT_SECONDS = 0.5

_PARAMETER = re.compile(r"%\((\w+)\)s")


class _Lost(Exception):
    """A loss of the connection."""


class PostgresCommitter:
    """A :class:`~gmd.event_log.store.Committer`.

    :ivar ready: set once it has connected for the first time; until then, and while it has no connection, it refuses.
    """

    def __init__(self, store: PostgresStore) -> None:
        self.ready = trio.Event()
        self._store = store
        self._connection: psycopg.Connection[Any] | None = None
        self._prepared: dict[str, bytes] = {}
        self._batch: Statement | None = None
        self._is_preparing = False
        self._is_warned = False
        self._conversing: trio.CancelScope | None = None
        self._result: Any = None
        self._has_unsent = trio.Event()

    def put(self, appends: Sequence[GameAppend], delivered: Sequence[ResultDelivered]) -> bool:
        if self._connection is None or self._batch is not None:
            return False
        try:
            if _has_news(self._connection):
                return False
        except (psycopg.Error, OSError):
            self._drop()
            return False
        try:
            batch = batch_of(appends, delivered, self._store.term)
        except (Missed, ValueError, TypeError):  # the thread finds out which games fail
            return False
        self._batch = batch
        try:
            self._send()
        except psycopg.Error:  # nobody knows what the server has got
            self._store.is_in_doubt, self._batch = True, None
            self._drop()
            return False
        return True

    def _drop(self) -> None:
        """Connect anew. libpq may have closed the socket, and a task waiting for the socket would not be notified."""
        self._connection = None
        if self._conversing is not None:  # at a turn's end nothing may be woken at once
            trio.lowlevel.current_trio_token().run_sync_soon(self._conversing.cancel)

    async def run(self, answered: Callable[[bool], None]) -> None:
        while True:
            try:
                async with self._store.commit_connection() as connection:
                    await self._converse(connection, answered)
            except (_Lost, psycopg.Error, DBAPIError, OSError) as error:
                logger.debug("the connection for commits is lost: a thread commits", reason=str(error).strip())
            finally:
                self._connection = None
            if self._batch is not None:
                self._store.is_in_doubt, self._batch = True, None
                answered(False)
            await trio.sleep(RECONNECT_SECONDS)

    async def _converse(self, connection: psycopg.Connection[Any], answered: Callable[[bool], None]) -> None:
        """Take answers until the connection is lost.

        :raises _Lost, psycopg.Error: it is.
        """
        pgconn = connection.pgconn
        pgconn.nonblocking = 1
        self._prepared, self._result, self._is_preparing, self._is_warned = {}, None, False, False
        connection.add_notice_handler(self._note)
        self._has_unsent = trio.Event()
        lost: list[Exception] = []
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._keep_sending, pgconn, lost)
            self._connection, self._conversing = connection, nursery.cancel_scope
            self.ready.set()
            try:
                while self._connection is not None:
                    await trio.lowlevel.wait_readable(pgconn.socket)
                    pgconn.consume_input()
                    self._take_results(pgconn, answered)
            except (psycopg.Error, _Lost, OSError) as error:
                lost.append(error)
            self._connection = None  # a batch may come before the other task has ended
            nursery.cancel_scope.cancel()
        raise lost[0] if lost else _Lost

    def _note(self, notice: psycopg.errors.Diagnostic) -> None:
        """Note a warning: the batch's wait for synchronous replication was cancelled, so its outcome is unknown."""
        if notice.severity_nonlocalized == "WARNING":
            self._is_warned = True

    def _take_results(self, pgconn: Any, answered: Callable[[bool], None]) -> None:
        while self._batch is not None and not pgconn.is_busy():
            result = pgconn.get_result()
            if result is not None:
                self._result = result
                continue
            result, self._result = self._result, None
            if pgconn.status == ConnStatus.BAD or self._is_warned:
                raise _Lost
            if self._is_preparing and result.status == ExecStatus.COMMAND_OK:
                self._is_preparing = False
                self._send()
                continue
            batch, self._batch, self._is_preparing = self._batch, None, False
            answered(_is_written(batch, result))

    # --- Sending ------------------------------------------------------------------------------------------------------

    def _send(self) -> None:
        """Send the batch; or have its statement prepared first.

        :raises psycopg.Error: the connection is lost.
        """
        assert self._batch is not None
        assert self._connection is not None
        pgconn = self._connection.pgconn
        sql, names = numbered(self._batch.sql)
        name = self._prepared.get(sql)
        if name is None:
            name = self._prepared[sql] = f"gmd_{len(self._prepared)}".encode()
            self._is_preparing = True
            pgconn.send_prepare(name, sql.encode())
        else:
            parameters = self._batch.parameters
            pgconn.send_query_prepared(name, [str(parameters[each]).encode() for each in names])
        if pgconn.flush():
            trio.lowlevel.current_trio_token().run_sync_soon(self._has_unsent.set)

    async def _keep_sending(self, pgconn: Any, lost: list[Exception]) -> None:
        """Send what the socket did not take at once."""
        while True:
            await self._has_unsent.wait()
            self._has_unsent = trio.Event()
            try:
                while pgconn.flush():
                    await trio.lowlevel.wait_writable(pgconn.socket)
            except psycopg.Error as error:
                lost.append(error)
                self._drop()
                return


def _has_news(connection: psycopg.Connection[Any]) -> bool:
    """Return whether a server that has nothing to answer has said something: as a rule that it stops.

    :raises psycopg.Error, OSError: the connection is closed at this end.
    """
    asked = poll()  # select takes no descriptor above 1,023
    asked.register(connection.pgconn.socket, POLLIN)
    return bool(asked.poll(0))


def _is_written(batch: Statement, result: Any) -> bool:
    """Return whether a statement's result says that it has written the batch."""
    if result.status != ExecStatus.TUPLES_OK:
        return False
    return (int(result.get_value(0, 0)), int(result.get_value(0, 1))) == (1, batch.changed)


@lru_cache(64)
def numbered(sql: str) -> tuple[str, list[str]]:
    """Return a statement with numbered parameters, as the server wants it, and the names of these."""
    names: list[str] = []

    def number(found: re.Match[str]) -> str:
        if found[1] not in names:
            names.append(found[1])
        return f"${names.index(found[1]) + 1}"

    return _PARAMETER.sub(number, sql), names
