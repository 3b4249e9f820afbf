"""The data directory: its permissions, its files, and the directories that are refused."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Engine

from gmd.event_log.batching import BatchingLog
from gmd.event_log.directory import DataError
from gmd.event_log.memory import MemoryLog
from gmd.event_log.migrations import HEAD, migrate, stored_revision
from gmd.event_log.opening import open_log, open_reader, open_store
from gmd.event_log.reading import GameFilter, LogReader
from gmd.event_log.sqlite import open_engine
from gmd.event_log.store import GameAppend
from tests.event_log.test_contract import CREATED, SUMMARY

NOBODY = 65_534


def refusal(data: Path) -> str:
    with pytest.raises(DataError) as caught, open_log(str(data)):
        pass
    return str(caught.value)


def test_new_directory_is_private_to_its_owner(tmp_path: Path) -> None:
    data = tmp_path / "some" / "where?"
    with open_log(str(data)) as log:
        assert isinstance(log, BatchingLog)
    assert stat.S_IMODE(data.stat().st_mode) == 0o700
    assert sorted(path.name for path in data.iterdir()) == ["games.sqlite", "last-commit", "lock"]


def test_new_log_in_a_readable_directory_is_private_to_its_owner(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    with open_log(str(tmp_path)):
        modes = {file.name: oct(stat.S_IMODE(file.stat().st_mode)) for file in tmp_path.glob("games*")}
    assert modes == dict.fromkeys(["games.sqlite", "games.sqlite-wal", "games.sqlite-shm"], "0o600")


def test_memory_log_creates_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with open_log(":memory:") as log:
        assert isinstance(log, MemoryLog)
    assert list(tmp_path.iterdir()) == []


def at_first_revision(file: Path) -> Engine:
    """Return a database with the schema of the first migration."""
    config = Config()
    config.set_main_option("script_location", "gmd.event_log:migrations")
    config.set_main_option("path_separator", "os")
    engine = open_engine(file)
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
    return engine


def schema(engine: Engine) -> dict[str, list[tuple[object, ...]]]:
    """Return the columns of every table and the keys of every index, in their order, as SQLite describes them."""
    with engine.connect() as connection:
        stored = "SELECT type, name FROM sqlite_master ORDER BY name"
        return {
            f"{kind} {name} {pragma}": [tuple(row) for row in connection.exec_driver_sql(f"PRAGMA {pragma}({name})")]
            for kind, name in connection.exec_driver_sql(stored).all()
            for pragma in ("table_xinfo", "index_list", "index_xinfo")
        }


def test_new_log_has_the_schema_that_the_migrations_lead_to(tmp_path: Path) -> None:
    new, migrated = open_engine(tmp_path / "new.sqlite"), at_first_revision(tmp_path / "old.sqlite")
    migrate(new)
    migrate(migrated)
    found, expected = schema(new), schema(migrated)
    for indexes in (key for key in expected if key.endswith("index_list")):  # by name: their order is that of creation
        found[indexes], expected[indexes] = (sorted(row[1:] for row in each[indexes]) for each in (found, expected))
    assert found == expected
    for engine in (new, migrated):
        assert stored_revision(engine) == HEAD
        engine.dispose()


def test_head_is_the_last_migration() -> None:
    assert ScriptDirectory(str(Path(migrate.__code__.co_filename).parent)).get_heads() == [HEAD]


def test_empty_file_becomes_a_new_log(tmp_path: Path) -> None:
    (tmp_path / "games.sqlite").touch()
    with open_log(str(tmp_path)):
        pass
    engine = open_engine(tmp_path / "games.sqlite")
    assert stored_revision(engine) == HEAD
    engine.dispose()


def test_log_of_a_newer_program_is_refused_and_left_unchanged(tmp_path: Path) -> None:
    with open_log(str(tmp_path)):
        pass
    with sqlite3.connect(tmp_path / "games.sqlite") as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    before = (tmp_path / "games.sqlite").read_bytes()
    assert refusal(tmp_path) == (
        f"data: {tmp_path}/games.sqlite was written by a newer gmd: its schema is at revision 9999; this program knows "
        f"{HEAD} and those before. Start the newer gmd, or name another --data"
    )
    assert (tmp_path / "games.sqlite").read_bytes() == before


def advice(directory: Path) -> str:
    command = f"gmd export --data {directory} --all whole.jsonl --replay"
    return f"`{command}` exports what is whole, for `gmd import` into a new directory"


def test_file_that_is_no_database_is_refused_and_left_unchanged(tmp_path: Path) -> None:
    (tmp_path / "games.sqlite").write_bytes(b"my novel" * 1_000)
    expected = f"data: {tmp_path}/games.sqlite cannot be read as a log of games: file is not a database"
    expected += f". {advice(tmp_path)}"
    assert refusal(tmp_path) == expected
    assert (tmp_path / "games.sqlite").read_bytes() == b"my novel" * 1_000


def test_damaged_file_is_refused(tmp_path: Path) -> None:
    with open_log(str(tmp_path)):
        pass
    data = (tmp_path / "games.sqlite").read_bytes()
    (tmp_path / "games.sqlite").write_bytes(data[:100] + b"\xff" * (len(data) - 100))
    expected = f"data: {tmp_path}/games.sqlite cannot be read as a log of games: database disk image is malformed"
    expected += f". {advice(tmp_path)}"
    assert refusal(tmp_path) == expected


def test_path_that_is_no_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert refusal(tmp_path / "file" / "data") == f"data: {tmp_path}/file/data cannot be used: Not a directory"
    advice = "name a directory, which is created if it does not exist"
    assert refusal(tmp_path / "file") == f"data: {tmp_path}/file is a file: {advice}"


def test_directory_of_a_live_daemon_is_refused_with_its_process_id(tmp_path: Path) -> None:
    with open_log(str(tmp_path)):
        assert refusal(tmp_path) == (
            f"data: {tmp_path} is in use by another gmd: process {os.getpid()}; name another directory with --data"
        )
    with open_log(str(tmp_path)):
        pass


def as_nobody(act: Callable[[], str]) -> str:
    """Return the result of a function called as a user without rights; no mode of a file keeps root out."""
    if os.geteuid() != 0:
        return act()
    read, write = os.pipe()
    if (child := os.fork()) == 0:
        try:
            os.setuid(NOBODY)
            os.write(write, act().encode())
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    os.close(write)
    with open(read, closefd=True) as said:
        return said.read()


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # the child uses no threads
def test_unwritable_directory_is_refused_but_its_log_can_be_read() -> None:
    with TemporaryDirectory() as directory:
        with open_store(directory) as store:
            store.write([GameAppend(1, 0, [CREATED], SUMMARY, None)], [])
        files = sorted(path.name for path in Path(directory).iterdir())
        for file in files:
            Path(directory, file).chmod(0o444)
        Path(directory).chmod(0o555)

        def count() -> str:
            with open_reader(directory) as engine:
                return str(LogReader(engine).count(GameFilter()))

        assert as_nobody(count) == "1"
        assert as_nobody(lambda: refusal(Path(directory))).endswith(" cannot be used: Permission denied")
        assert sorted(path.name for path in Path(directory).iterdir()) == files
        Path(directory).chmod(0o755)


@pytest.mark.slow
def test_only_what_a_log_needs_is_imported(tmp_path: Path) -> None:
    """A log in memory needs no SQLAlchemy, and only a migration needs alembic."""
    at_first_revision(tmp_path / "games.sqlite").dispose()
    code = f"""
import sys, gmd.daemon
print("sqlalchemy" in sys.modules)
from gmd.event_log.opening import open_log
for data in ({str(tmp_path / "new")!r}, {str(tmp_path / "new")!r}, {str(tmp_path)!r}):
    with open_log(data):
        print("alembic" in sys.modules)
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["False", "False", "False", "True"]
