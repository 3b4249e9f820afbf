"""Connections to PostgreSQL outside of the event log, which fail soon when the server is gone; and shared secrets."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg

from gmd.event_log.store import FENCE

#: Seconds for a connection to be established, and for sent data to be acknowledged; libpq takes no fewer than 2.
CONNECT_SECONDS = 2
#: Seconds for a statement; and for a lock, as each is held for one commit.
STATEMENT_SECONDS = 1.0
LOCK_SECONDS = 0.3

#: Bytes of a new secret.
SECRET_BYTES = 32

#: What a server says that is to take connections soon.
PASSING = (
    "starting up",
    "shutting down",
    "recovery",
    "not yet accepting",
    "too many",
    "remaining connection",
    "terminating",
)

_INSERT_SECRET = f"""
    WITH held AS MATERIALIZED ({FENCE})
    INSERT INTO secrets (name, value) SELECT %(name)s, %(value)s FROM held ON CONFLICT DO NOTHING
"""

_REPLACE_SECRET = f"""
    WITH held AS MATERIALIZED ({FENCE})
    UPDATE secrets SET value = %(value)s FROM held WHERE name = %(name)s
"""

_SETTINGS = {
    "statement_timeout": f"{STATEMENT_SECONDS * 1000:.0f}ms",
    "lock_timeout": f"{LOCK_SECONDS * 1000:.0f}ms",
    "idle_in_transaction_session_timeout": f"{STATEMENT_SECONDS * 1000:.0f}ms",
    "default_transaction_isolation": "read committed",
    "synchronous_commit": "on",
}


class NotReplicated(Exception):
    """A commit whose wait for synchronous replication was cancelled: a failover may undo it."""


def connected(url: str, name: str) -> psycopg.Connection[Any]:
    """Return a new connection, in autocommit mode; block until it is established.

    :param name: what the server's lists of connections call it.
    :raises psycopg.Error: there is no server, or it refuses.
    """
    connection = psycopg.connect(
        url,
        autocommit=True,
        application_name=name[:63],
        connect_timeout=CONNECT_SECONDS,
        keepalives=1,
        keepalives_idle=1,
        keepalives_interval=1,
        keepalives_count=2,
        tcp_user_timeout=CONNECT_SECONDS * 1000,
    )
    try:
        connection.execute(
            "SELECT set_config(name, value, false) FROM unnest(%s::text[], %s::text[]) AS setting (name, value)",
            (list(_SETTINGS), list(_SETTINGS.values())),
        )
    except BaseException:
        connection.close()
        raise
    return connection


def plain_url(url: str) -> str:
    """Return a database's URL as psycopg takes it: without the name of a driver."""
    return f"postgresql://{url.partition('://')[2]}"


def why_unreachable(url: str) -> str | None:
    """Return why a server cannot be reached, or takes no connections yet; None if it answers, a refusal included.

    :param url: the database's, as psycopg takes it.
    """
    try:
        psycopg.connect(url, connect_timeout=CONNECT_SECONDS).close()
    except psycopg.Error as error:
        return why_lost(error)
    return None


def why_lost(error: BaseException | None) -> str | None:
    """Return the reason of an error if it is that there is no connection, or none yet; None if the server refuses."""
    if not isinstance(error, psycopg.OperationalError):
        return None  # the URL cannot be read, for one
    reason = " ".join(str(error).split())  # libpq's have several lines
    return None if "FATAL:" in reason and not any(word in reason for word in PASSING) else reason


def shared_secret(url: str, term: int, name: str, first: bytes | None = None) -> bytes:
    """Return a secret that is kept in the database, also for the next daemon; make it if there is none yet. Block.

    :param url: the database's.
    :param term: that under which this daemon serves.
    :param name: what it is for.
    :param first: the secret if there is none yet; None for a random one.
    :raises psycopg.Error: the database cannot be used.
    """
    with connected(plain_url(url), "gmd secrets") as connection:
        new = {"term": term, "name": name, "value": first or secrets.token_bytes(SECRET_BYTES)}
        connection.execute(_INSERT_SECRET, new)
        found = connection.execute("SELECT value FROM secrets WHERE name = %s", (name,)).fetchone()
    if found is None:
        raise psycopg.OperationalError("another daemon serves the database by now")
    return bytes(found[0])


def replace_secret(url: str, term: int, name: str, value: bytes) -> None:
    """Replace a secret that is kept in the database. Block.

    :raises psycopg.Error: the database cannot be used, or another daemon serves it.
    :raises NotReplicated: a failover may undo it.
    """
    with connected(plain_url(url), "gmd secrets") as connection, replicating(connection):
        if connection.execute(_REPLACE_SECRET, {"term": term, "name": name, "value": value}).rowcount != 1:
            raise psycopg.OperationalError("another daemon serves the database by now")


@contextmanager
def replicating(connection: psycopg.Connection[Any]) -> Iterator[None]:
    """Check that the commits of a block are replicated, where the server replicates synchronously.

    A commit whose wait for that was cancelled succeeds with a warning, and there are no other warnings.

    :raises NotReplicated: one was not, or not for certain.
    """
    warnings: list[str] = []

    def note(notice: psycopg.errors.Diagnostic) -> None:
        if notice.severity_nonlocalized == "WARNING":
            warnings.append(notice.message_primary or "")

    connection.add_notice_handler(note)
    try:
        yield
    finally:
        connection.remove_notice_handler(note)
    if warnings:
        raise NotReplicated(" ".join(warnings))
