"""The lock that elects the daemon of a database, and the term that fences those before it.

The lock is an advisory one, held by a session of its own. The server ends that session once it has said nothing for the
length of a lease (``idle_session_timeout``); so a daemon that was killed, stopped or cut off loses the lock, too. The
table ``server`` has one row with a term, which whoever wins the lock raises; whatever is written locks that row for the
term that its writer knows (:data:`~gmd.event_log.store.FENCE`), so that a daemon before writes nothing any more.
"""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from typing import Any, NamedTuple

import psycopg
from psycopg.rows import class_row

from gmd.event_log.migrations import HEAD, NewerSchema
from gmd.event_log.postgres_connection import connected, replicating

#: The lock's key, in the half that has the keys of one number.
KEY = int.from_bytes(b"gmdserve", "big")
#: Signs of life in the time of a lease.
SIGNS = 4
#: Begins the name of every session that waits for the lock, in pg_stat_activity.
WAITING = "gmd standby "

#: Selects the lock in pg_locks.
_OURS = f"""
    database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND (classid::bigint << 32) + objid::bigint = {KEY} AND objsubid = 1
"""

# A daemon must have the term before it changes the schema, so the table is none of the schema's.
_CREATE = """
    CREATE TABLE IF NOT EXISTS server (
        id smallint PRIMARY KEY CHECK (id = 1), term bigint NOT NULL, name text NOT NULL, addresses text NOT NULL,
        version text NOT NULL, lease float8 NOT NULL, since timestamptz NOT NULL, released timestamptz
    )
"""
_FILL = """
    INSERT INTO server VALUES (1, 0, '', '', '', 0, clock_timestamp(), clock_timestamp()) ON CONFLICT DO NOTHING
"""
_SERVER = """
    SELECT term, name, addresses, version, lease, released IS NOT NULL AS released,
        to_char(timezone('UTC', since), 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS since
    FROM server
"""
_RAISE = """
    UPDATE server SET term = term + 1, name = %(name)s, addresses = '', version = %(version)s,
        since = clock_timestamp(), released = NULL,
        lease = CASE WHEN released IS NULL THEN greatest(lease, %(lease)s) ELSE %(lease)s END
    RETURNING term
"""
_IS_HELD = f"""
    SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted AND {_OURS})
"""
_SIGN = f"""
    SELECT pg_backend_pid() = %(pid)s AND current_setting('idle_session_timeout') = %(timeout)s
        AND EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted AND pid = pg_backend_pid() AND {_OURS})
"""
_WAITERS = """
    SELECT substr(application_name, %s), to_char(timezone('UTC', backend_start), 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
    FROM pg_stat_activity WHERE starts_with(application_name, %s) AND datname = current_database()
    ORDER BY backend_start
"""


class LockLost(Exception):
    """The session that had the lock is another one by now, or has lost the lock or its timeout."""


class Server(NamedTuple):
    """The daemon that serves a database, or served it last.

    :ivar term: it is raised each time that somebody wins the lock.
    :ivar name: the daemon's machine and process.
    :ivar addresses: where it is reached, as host:port, separated by commas; empty before its ports are open.
    :ivar lease: the length of its lease in seconds; or that of one before, if it is longer and that one did not end its
        work, since a program that wins may end before the wait for it is over.
    :ivar released: whether it has ended its work: what it knew is in the database, and it answers nobody.
    :ivar since: when it won the lock, in UTC.
    """

    term: int
    name: str
    addresses: str
    version: str
    lease: float
    released: bool
    since: str


class Waiter(NamedTuple):
    """A daemon that waits for the lock.

    :ivar since: since when its session is there, in UTC.
    """

    name: str
    since: str


class ServerLock:
    """The session for the lock. Its calls block, and raise psycopg.Error if the database fails.

    After :meth:`close` the next call begins a new session, without the lock.
    """

    def __init__(self, url: str, name: str, version: str, seconds: float) -> None:
        """:param url: the database's, as psycopg takes it.
        :param name: this program's.
        :param seconds: the length of the lease; 0 for a session that may be silent for as long as it lives.
        """
        self._url, self._name, self._seconds = url, name, seconds
        self._about = {"name": name, "version": version, "lease": seconds}
        self._session: psycopg.Connection[Any] | None = None
        self._sign: dict[str, Any] = {}

    @property
    def is_open(self) -> bool:
        """Whether there is a session, as far as is known."""
        return self._session is not None and not self._session.closed

    def close(self) -> None:
        """End the session, which gives the lock back."""
        session, self._session = self._session, None
        if session is not None:
            session.close()

    def interrupt(self) -> None:
        """Have a call fail that is under way in another thread."""
        if (session := self._session) is not None:
            with suppress(psycopg.Error, OSError), socket.socket(fileno=os.dup(session.pgconn.socket)) as ours:
                ours.shutdown(socket.SHUT_RDWR)

    def acquire(self) -> bool:
        """Try once to get the lock; return whether this session has it.

        :raises NewerSchema: it has, but a newer program has changed the schema. Close it.
        """
        session = self._opened()
        found = session.execute("SELECT pg_try_advisory_lock(%s)", (KEY,)).fetchone()
        assert found is not None
        if found[0]:
            session.execute("SELECT set_config('application_name', %s, false)", (f"gmd {self._name}"[:63],))
            if newer := _newer_schema(session):
                raise NewerSchema(newer)
            session.execute(_CREATE)
            session.execute(_FILL)
        return bool(found[0])

    def sign(self) -> None:
        """Say that this daemon lives. The session must be the one that got the lock.

        :raises LockLost: it is not, or has lost the lock or its timeout.
        """
        found = self._opened().execute(_SIGN, self._sign).fetchone()
        if found is None or not found[0]:
            raise LockLost("the session has lost its lock or its settings; is there a pool before the database?")

    def server(self) -> Server | None:
        """Return the row of the server; None in a database that nobody has served yet."""
        return server_of(self._opened())

    def raise_term(self) -> int:
        """Raise the term durably, and return it: nobody writes under an older one from now on. Have the lock.

        It waits for transactions that write under the term before, for half of a lease at most.

        :raises NotReplicated: a failover may undo it; raise it again.
        """
        session = self._opened()
        with replicating(session):
            row = session.execute(_RAISE, self._about).fetchone()
        assert row is not None
        return int(row[0])

    def show(self, term: int, addresses: str) -> None:
        """Note where this daemon is reached."""
        self._opened().execute("UPDATE server SET addresses = %s WHERE term = %s", (addresses, term))

    def release(self, term: int) -> None:
        """Note that this daemon has ended its work, and give the lock back."""
        self._opened().execute("UPDATE server SET released = clock_timestamp() WHERE term = %s", (term,))
        self.close()

    def _opened(self) -> psycopg.Connection[Any]:
        if self._session is None:
            session = connected(self._url, f"{WAITING}{self._name}")
            try:
                self._prepare(session)
            except BaseException:
                session.close()
                raise
            self._session = session
        return self._session

    def _prepare(self, session: psycopg.Connection[Any]) -> None:
        milliseconds = self._seconds * 1000
        settings = {
            "idle_session_timeout": f"{milliseconds:.0f}ms",
            "client_connection_check_interval": f"{milliseconds / SIGNS:.0f}ms",
            "statement_timeout": f"{milliseconds / 2:.0f}ms",
            "lock_timeout": "0",
        }
        session.execute(
            "SELECT set_config(name, value, false) FROM unnest(%s::text[], %s::text[]) AS setting (name, value)",
            (list(settings), list(settings.values())),
        )
        found = session.execute("SELECT pg_backend_pid(), current_setting('idle_session_timeout')").fetchone()
        assert found is not None
        self._sign = {"pid": found[0], "timeout": found[1]}


def _newer_schema(session: psycopg.Connection[Any]) -> str | None:
    """Return the revision of a database's schema if this program does not know it."""
    if not _has_table(session, "alembic_version"):
        return None
    row = session.execute("SELECT version_num FROM alembic_version").fetchone()
    return None if row is None or row[0] <= HEAD else str(row[0])


def _has_table(session: psycopg.Connection[Any], name: str) -> bool:
    found = session.execute("SELECT to_regclass(%s) IS NOT NULL", (name,)).fetchone()
    return found is not None and bool(found[0])


def server_of(session: psycopg.Connection[Any]) -> Server | None:
    """Return the row of the server; None in a database that nobody has served yet."""
    if not _has_table(session, "server"):
        return None
    with session.cursor(row_factory=class_row(Server)) as cursor:
        return cursor.execute(_SERVER).fetchone()


def who_serves(url: str) -> tuple[Server | None, list[Waiter]]:
    """Return the daemon that has the lock of a database, and those that wait for it, the first one at the top.

    :param url: the database's, as psycopg takes it.
    """
    with connected(url, "gmd status") as session:
        held = session.execute(_IS_HELD).fetchone()
        server = server_of(session) if held is not None and held[0] else None
        return server, [Waiter(*row) for row in session.execute(_WAITERS, (len(WAITING) + 1, WAITING))]
