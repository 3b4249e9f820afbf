"""A real PostgreSQL server for tests, in a temporary directory.

:func:`shared_postgres` is the server of a whole test run; each test takes a database of its own from it.
:func:`own_postgres` is for a test that stops the server.
"""

from __future__ import annotations

import atexit
import os
import pwd
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import cache
from itertools import count
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any, Literal

import pytest

from gmd.event_log.interface import EventLog
from tests.serving import reserved_port
from tests.tools import require_module, require_program_of

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from gmd.event_log.postgres import PostgresStore

#: Where Debian has the programs of PostgreSQL's server, which it does not put on the PATH.
DEBIAN = Path("/usr/lib/postgresql")
#: PostgreSQL refuses root. One of these users runs the server if root runs the tests.
OTHER_USERS = ("postgres", "nobody")
#: The owner of every database. Anybody who reaches the socket or the port is trusted.
ROLE = "gmd"
#: Seconds after which a server that has not started or stopped counts as hung.
PATIENCE = 120

#: Databases with the current schema and no rows, which no test uses now.
_clean: list[str] = []
#: A clock that can be set, found before PostgreSQL's own.
_CLOCK = """
CREATE SCHEMA test_clock;
CREATE TABLE test_clock.set_to (instant timestamptz);
CREATE FUNCTION test_clock.clock_timestamp() RETURNS timestamptz VOLATILE LANGUAGE sql AS
    'SELECT coalesce((SELECT max(instant) FROM test_clock.set_to), pg_catalog.clock_timestamp())';
ALTER DATABASE {database} SET search_path = public, test_clock, pg_catalog
"""

StopMode = Literal["smart", "fast", "immediate"]


class Postgres:
    """A PostgreSQL server, which listens on a Unix socket and on a port of 127.0.0.1, the same ones at each start.

    It ends with this process, however that ends.
    """

    def __init__(self, directory: Path, port: int, user: str | None) -> None:
        """:param directory: holds the cluster in ``data``."""
        self.directory = directory
        self.port = port
        self._user = user
        self._names = count(1)
        self._settings: dict[str, str] = {}

    def start(self, **settings: str) -> None:
        """Start the server, and wait until it takes connections.

        :param settings: server settings that stay for later starts, such as ``fsync="off"``.
        """
        self._settings |= settings
        options = {
            "unix_socket_directories": str(self.directory),
            "port": str(self.port),
            "listen_addresses": "127.0.0.1",
            "max_connections": "60",
            "shared_buffers": "32MB",
            **self._settings,
        }
        text = " ".join(f"-c {name}={value}" for name, value in options.items())
        self._control("start", "-o", text, "-l", str(self.directory / "log"))

    def stop(self, mode: StopMode = "fast") -> None:
        """Stop the server. ``immediate`` is a crash: the next start recovers from the write-ahead log."""
        self._control("stop", "-m", mode)

    def restart(self, mode: StopMode = "fast", **settings: str) -> None:
        """Stop and start the server."""
        self.stop(mode)
        self.start(**settings)

    def promote(self) -> None:
        """Have a replica take writes from now on."""
        self._control("promote")

    def new_database(self, options: str = "") -> str:
        """Create an empty database, and return its URL, by way of the Unix socket.

        :param options: of ``CREATE DATABASE``.
        """
        name = f"test_{os.getpid()}_{next(self._names)}"
        with self._connection() as connection:
            connection.execute(f"CREATE DATABASE {name} TEMPLATE template0 {options}")
        return self.url(name)

    def drop(self, url: str) -> None:
        """Remove a database, with its connections."""
        name = database_of(url)
        with self._connection() as connection:
            connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")

    def url(self, database: str) -> str:
        """Return the URL of a database, by way of the Unix socket."""
        return f"postgresql://{ROLE}@/{database}?host={self.directory}&port={self.port}"

    def tcp_url(self, url: str) -> str:
        """Return the URL of the same database, by way of TCP."""
        name = database_of(url)
        return f"postgresql://{ROLE}@127.0.0.1:{self.port}/{name}"

    def _connection(self) -> Any:  # psycopg is optional
        psycopg = require_module("psycopg")
        return psycopg.connect(self.url("postgres"), autocommit=True)

    def _control(self, action: str, *arguments: str) -> None:
        command = [_program("pg_ctl"), action, "-w", "-t", str(PATIENCE), "-D", str(self.directory / "data")]
        done = subprocess.run([*command, *arguments], **_as(self._user, self.directory), check=False)
        if done.returncode:
            log = self.directory / "log"
            text = log.read_text(errors="replace")[-4_000:] if log.exists() else ""
            raise RuntimeError(f"pg_ctl {action} failed\n{text}")


def database_of(url: str) -> str:
    """Return the name of a database that :meth:`Postgres.url` gave."""
    return url.partition("?")[0].rpartition("/")[2]


@contextmanager
def own_postgres(**settings: str) -> Iterator[Postgres]:
    """Run a server for one test, which may stop and start it. Skip the test where PostgreSQL is not installed.

    :param settings: server settings; without any, the server is as durable as one in production.
    """
    require_module("psycopg")
    with ExitStack() as stack:
        directory = stack.enter_context(_directory())
        shutil.copytree(_empty_cluster(), directory / "data")
        if (user := _other_user()) is not None:
            _give(directory, user)
        server = Postgres(directory, stack.enter_context(reserved_port()), user)
        stack.enter_context(_ending_with_us(directory, user))
        server.start(**settings)
        yield server


@contextmanager
def replica_of(primary: Postgres) -> Iterator[Postgres]:
    """Run a replica of a server, which is stopped for a moment to be copied."""
    with ExitStack() as stack:
        directory = stack.enter_context(_directory())
        primary.stop()
        shutil.copytree(primary.directory / "data", directory / "data")
        primary.start()
        (directory / "data" / "standby.signal").touch()
        with open(directory / "data" / "postgresql.auto.conf", "a") as settings:
            settings.write(f"primary_conninfo = 'host={primary.directory} port={primary.port} user={ROLE}'\n")
        if (user := _other_user()) is not None:
            _give(directory, user)
        server = Postgres(directory, stack.enter_context(reserved_port()), user)
        stack.enter_context(_ending_with_us(directory, user))
        server.start()
        yield server


@cache
def shared_postgres() -> Postgres:
    """Return the running server of this test run; start it if needed. It must not be stopped."""
    stack = ExitStack()
    server = stack.enter_context(own_postgres())
    atexit.register(stack.close)
    return server


@contextmanager
def new_database() -> Iterator[str]:
    """Give the URL of an empty database on the shared server, and remove it afterwards."""
    server = shared_postgres()
    url = server.new_database()
    try:
        yield url
    finally:
        server.drop(url)


@pytest.fixture
def database_url() -> Iterator[str]:
    """Return the URL of an empty database on the shared server."""
    with new_database() as url:
        yield url


@contextmanager
def _directory() -> Iterator[Path]:
    """Give a new directory with a short path, since a Unix socket's is at most 107 bytes long."""
    directory = Path(mkdtemp(prefix="gmd-pg-", dir="/tmp"))
    try:
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)


@cache
def _empty_cluster() -> Path:
    """Return the data directory of a server that has never run, made once for this process."""
    user = _other_user()
    directory = Path(mkdtemp(prefix="gmd-pg-", dir="/tmp"))
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    if user is not None:
        _give(directory, user)
    command = [_program("initdb"), "-D", str(directory / "data"), "-U", ROLE, "-E", "UTF8", "--no-locale"]
    done = subprocess.run([*command, "-A", "trust", "--no-sync"], **_as(user, directory), check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed")
    return directory / "data"


@contextmanager
def _ending_with_us(directory: Path, user: str | None) -> Iterator[None]:
    """Stop the server at the end, even if this process is killed: a shell then reads the end of its input."""
    script = 'read -r _; "$0" stop -m immediate -D "$1/data"; rm -rf "$1"'
    options = _as(user, directory) | {"stdout": subprocess.DEVNULL, "stdin": subprocess.PIPE}
    command = ["sh", "-c", script, _program("pg_ctl"), str(directory)]
    with subprocess.Popen(command, **options) as watcher:  # the end of the block closes its input, and waits
        yield
        assert watcher.poll() is None


def run_as_owner(directory: Path) -> dict[str, Any]:
    """Return the options with which subprocess runs a program as the user who runs the server."""
    return _as(_other_user(), directory)


def _as(user: str | None, directory: Path) -> dict[str, Any]:
    """Return the options of a program that another user runs, in a session that no Ctrl-C reaches.

    The server inherits its output: a pipe would stay open.
    """
    options: dict[str, Any] = {"cwd": directory, "start_new_session": True}
    options |= {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.STDOUT}
    options["env"] = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"}
    if user is not None:
        options |= {"user": user, "group": _group_of(user), "extra_groups": []}
    return options


def _group_of(user: str) -> int:
    return pwd.getpwnam(user).pw_gid


@cache
def _other_user() -> str | None:
    """Return the user who runs the server; None for our own."""
    if os.geteuid() != 0:
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    return next(user for user in OTHER_USERS if user in known)


def _give(directory: Path, user: str) -> None:
    for path in (directory, *directory.rglob("*")):
        shutil.chown(path, user, _group_of(user))


def _program(name: str) -> str:
    return str(require_program_of(name, sorted(DEBIAN.glob("*/bin"), key=_version, reverse=True)))


def _version(folder: Path) -> int:
    return int(folder.parent.name) if folder.parent.name.isdecimal() else 0


@contextmanager
def clean_database() -> Iterator[str]:
    """Give the URL of a database with the current schema and no rows; later tests of this process use it again.

    Its clock can be set: :func:`set_database_clock`.
    """
    from sqlalchemy import text

    from gmd.event_log.migrations import migrate
    from gmd.event_log.postgres_engine import open_engine
    from gmd.event_log.tables import metadata, postgres_metadata

    if not _clean:
        url = shared_postgres().new_database()
        engine = open_engine(url)
        with engine.begin() as connection:
            connection.execute(text(_CLOCK.format(database=database_of(url))))
        engine.dispose()  # sessions from now on look for functions in the schema of the clock first
        migrate(engine)
        engine.dispose()
        _clean.append(url)
    url = _clean.pop()
    yield url
    engine = open_engine(url)
    with engine.begin() as connection:
        for table in (*metadata.sorted_tables, *postgres_metadata.sorted_tables):
            connection.execute(table.delete())
        connection.execute(text("DELETE FROM test_clock.set_to"))
    engine.dispose()
    _clean.append(url)


def new_store(url: str, patience: float = 60.0, refused: Callable[[], None] = lambda: None) -> PostgresStore:
    """Return a store in a database, under a new term; closing it closes its connections."""
    from gmd.event_log.postgres import PostgresStore
    from gmd.event_log.postgres_engine import open_engine

    return PostgresStore(open_engine(url), new_term(url), refused, patience)


def new_term(url: str) -> int:
    """Raise the term of a database, as a daemon does that begins to serve it, and return it."""
    from gmd.event_log.server_lock import ServerLock

    with closing(ServerLock(url, "tests", "0", 0.0)) as lock:
        assert lock.acquire()
        term = lock.raise_term()
        lock.release(term)
    return term


def require_postgres() -> None:
    """Skip the test where PostgreSQL or psycopg is not installed; fail it where GMD_REQUIRE_ALL=1."""
    require_module("psycopg")
    _program("initdb")


async def set_database_clock(log: EventLog, instant: float) -> None:
    """Set the clock of a log's database, from :func:`clean_database`; do nothing with a log of another kind."""
    if log.database is None:
        return

    def write(connection: Connection) -> None:
        if connection.dialect.name == "postgresql":
            connection.exec_driver_sql("DELETE FROM test_clock.set_to")
            insert = "INSERT INTO test_clock.set_to VALUES (to_timestamp(%(instant)s))"
            connection.exec_driver_sql(insert, {"instant": instant})

    await log.database.write(write)
