"""Connections to a PostgreSQL database: its URL, the settings of every session, and what a server must be like."""

from __future__ import annotations

from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError

from gmd.event_log.directory import DataError

#: Seconds to wait for a lock that somebody else holds, such as an operator's shell; as for SQLite.
LOCK_SECONDS = 5
#: Seconds after which the server ends a transaction in which nothing happens: that of a daemon that was stopped, whose
#: locks would keep others waiting.
IDLE_SECONDS = 2
#: How libpq finds out that a server has vanished: seconds for a connection and for keepalives, and milliseconds for the
#: acknowledgement of what it sent.
CONNECTING: dict[str, Any] = {
    "connect_timeout": 5,
    "tcp_user_timeout": 10_000,
    "keepalives_idle": 10,
    "keepalives_interval": 3,
    "keepalives_count": 3,
    "application_name": "gmd",
}
#: Sessions that are silent for too long end from this version on.
LEAST_VERSION = 14
SCHEMES = ("postgresql", "postgres", "postgresql+psycopg")
#: What must be on for a commit to survive a crash of the machine.
DURABLE = ("fsync", "full_page_writes")
UNSAFE_FLAG = "--allow-unsafe-database"

_PREPARE = f"""
SELECT set_config('lock_timeout', '{LOCK_SECONDS}s', false),
    set_config('idle_in_transaction_session_timeout', '{IDLE_SECONDS}s', false)
"""
# remote_apply is more than on: commits wait until standbys show them, too.
_DURABLE_COMMITS = """
SELECT set_config('synchronous_commit', 'on', false)
    WHERE current_setting('synchronous_commit') NOT IN ('on', 'remote_apply')
"""


def shown_url(url: str) -> str:
    """Return a database's URL as messages show it: without its password, wherever that is."""
    return _shown(_parsed(url))


def _shown(url: URL) -> str:
    query = {name: value for name, value in url.query.items() if name != "password"}
    shown = URL.create("postgresql", url.username, None, url.host, url.port, url.database, query)
    return shown.render_as_string()


def _parsed(url: str) -> URL:
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):  # their messages repeat the URL
        raise DataError("database: it is not a URL such as postgresql://user@host/name") from None
    if parsed.drivername not in SCHEMES:
        raise DataError(
            f"database: {parsed.drivername}: is not a kind of database that gmd knows; "
            "name one such as postgresql://user@host/name, or keep the games in SQLite with --data"
        )
    return parsed


def open_engine(url: str) -> Engine:
    """Return an engine of a database, which connects when it is first used. Commits wait for the server's disk.

    :raises DataError: the URL names no PostgreSQL database, or psycopg is not installed.
    """
    parsed = _parsed(url).set(drivername="postgresql+psycopg")
    defaults = {name: value for name, value in CONNECTING.items() if name not in parsed.query}
    try:
        # The first use of a connection that was lost while it was idle must not fail.
        engine = create_engine(parsed, pool_pre_ping=True, connect_args=defaults)
    except ModuleNotFoundError as error:
        raise DataError(
            f"database: PostgreSQL needs the module {error.name}; run "
            ".venv/bin/pip install -e '.[postgres]' in the clone of gmd"
        ) from None

    @event.listens_for(engine, "connect")
    def _prepare(connection: Any, _record: object) -> None:
        connection.autocommit = True
        connection.execute(_PREPARE)
        connection.execute(_DURABLE_COMMITS)
        connection.autocommit = False

    return engine


def check_server(engine: Engine, *, allow_unsafe: bool = False) -> None:
    """Check that a server keeps what it acknowledges, and that it can be used.

    :raises DataError: it does not, or cannot; the message says what to change.
    :raises sqlalchemy.exc.DBAPIError: it cannot be reached.
    """
    name = f"database: {_shown(engine.url)}"
    with engine.connect() as connection:
        version = int(_setting(connection, "server_version_num")) // 10_000
        if version < LEAST_VERSION:
            raise DataError(f"{name} is PostgreSQL {version}; gmd needs {LEAST_VERSION} or newer")
        if (encoding := _setting(connection, "server_encoding")) != "UTF8":
            raise DataError(f"{name} has the encoding {encoding}; create it with ENCODING 'UTF8' TEMPLATE template0")
        if connection.exec_driver_sql("SELECT pg_is_in_recovery()").scalar():
            raise DataError(
                f"{name} is a standby, which takes no writes; name the primary, or all servers as "
                "host=ONE,TWO&target_session_attrs=read-write"
            )
        off = [setting for setting in DURABLE if _setting(connection, setting) == "off"]
        if off and not allow_unsafe:
            raise DataError(
                f"{name} has {' and '.join(f'{setting} = off' for setting in off)}: after a crash it may have lost "
                f"games or be damaged. Turn it on in postgresql.conf, or accept that with {UNSAFE_FLAG}"
            )
    _check_sessions(engine, name)


def _check_sessions(engine: Engine, name: str) -> None:
    """Check that a session keeps its state between two transactions, which it does not in a pool of transactions.

    Such a pool gives the one server session that it has to whichever client begins a transaction.
    """
    options = engine.execution_options(isolation_level="AUTOCOMMIT")
    with options.connect() as first, engine.connect() as second:
        first.exec_driver_sql("SELECT set_config('gmd.session', 'first', false)")
        of_second = second.exec_driver_sql("SELECT current_setting('gmd.session', true)").scalar()
        of_first = first.exec_driver_sql("SELECT current_setting('gmd.session', true)").scalar()
        first.exec_driver_sql("SELECT set_config('gmd.session', '', false)")
    if of_first != "first" or of_second == "first":
        raise DataError(
            f"{name} is reached by a pool that shares sessions between clients (pgbouncer with pool_mode = "
            "transaction or statement); connect to the server itself, or set pool_mode = session"
        )


def _setting(connection: Connection, name: str) -> str:
    return str(connection.exec_driver_sql("SELECT current_setting(%(name)s)", {"name": name}).scalar())
