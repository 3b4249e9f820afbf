"""Room in the write-ahead log is allocated ahead of commits, and contains nothing that a reader uses."""

from __future__ import annotations

import resource
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gmd.event_log.sqlite_commits import LEAST_ROOM, WalRoom
from tests.event_log.test_commit_process import log_in
from tests.event_log.test_contract import CREATED, SUMMARY

FILE = "games.sqlite"
#: Content of a row, in bytes, that occupies a page alone.
ROW = b"x" * 3_000


def opened(directory: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(directory / FILE, isolation_level=None)
    for statement in (
        "PRAGMA journal_mode = WAL",
        "PRAGMA wal_autocheckpoint = 0",
        "PRAGMA busy_timeout = 0",
        "PRAGMA synchronous = OFF",
    ):
        connection.execute(statement).close()
    connection.execute("CREATE TABLE IF NOT EXISTS rows (row BLOB)").close()
    return connection


def insert(connection: sqlite3.Connection, count: int = 1) -> None:
    connection.executemany("INSERT INTO rows VALUES (?)", [(ROW,)] * count).close()


def count_in(connection: sqlite3.Connection) -> int:
    (count,) = connection.execute("SELECT count(*) FROM rows").fetchone()
    return int(count)


def size_of(directory: Path) -> int:
    return (directory / f"{FILE}-wal").stat().st_size


def room_in(directory: Path, connection: sqlite3.Connection) -> WalRoom:
    return WalRoom(connection, str(directory / f"{FILE}-wal"))


def crashed(directory: Path, to: Path) -> sqlite3.Connection:
    """Return a connection to a copy of the database's files, as they would be found after a crash."""
    to.mkdir()
    for ending in ("", "-wal"):
        shutil.copy(directory / f"{FILE}{ending}", to / f"{FILE}{ending}")
    return opened(to)


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """Let no file of this process grow beyond a size, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.slow
@given(st.lists(st.tuples(st.integers(0, 1), st.integers(1, 40)), min_size=1, max_size=15))
def test_commits_of_two_connections_survive_a_crash(
    tmp_path_factory: pytest.TempPathFactory, commits: list[tuple[int, int]]
) -> None:
    directory = tmp_path_factory.mktemp("room")
    with closing(opened(directory)) as one, closing(opened(directory)) as other:
        room, rows = room_in(directory, one), 0
        for writer, count in commits:
            connection = (one, other)[writer]
            connection.execute("BEGIN IMMEDIATE").close()
            insert(connection, count)
            connection.execute("COMMIT").close()
            rows += count
            room.keep()
        with closing(crashed(directory, directory / "copy")) as found:
            assert count_in(found) == rows
            assert found.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_no_room_is_made_while_another_connection_writes(tmp_path: Path) -> None:
    with closing(opened(tmp_path)) as connection, closing(opened(tmp_path)) as other:
        room = room_in(tmp_path, connection)
        insert(connection)
        other.execute("BEGIN IMMEDIATE").close()
        insert(other)
        before = size_of(tmp_path)
        room.keep()
        assert size_of(tmp_path) == before
        other.execute("COMMIT").close()
        room.keep()
        assert size_of(tmp_path) > before
        assert count_in(connection) == 2


def test_full_disk_prevents_only_the_room(tmp_path: Path) -> None:
    with closing(opened(tmp_path)) as connection:
        room = room_in(tmp_path, connection)
        insert(connection)
        with largest_file(size_of(tmp_path)):
            room.keep()
        insert(connection)
        room.keep()
        assert not connection.in_transaction
        with closing(crashed(tmp_path, tmp_path / "copy")) as found:
            assert count_in(found) == 2


async def test_commit_process_makes_room(tmp_path: Path) -> None:
    async with log_in(tmp_path) as (log, _, _):
        before = size_of(tmp_path)
        for _ in range(2):  # the process makes room after its answer and before the next batch
            await log.append(log.next_game_id(), 0, [CREATED], lambda: SUMMARY).wait()
        assert size_of(tmp_path) >= before + LEAST_ROOM
