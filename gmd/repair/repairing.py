"""The repair of a log in a data directory: a new file replaces the damaged one, which is kept under another name."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import sqlite3
import time
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from gmd.event_log.checking import problem_of
from gmd.event_log.directory import DataError, locked_directory
from gmd.event_log.last_commit import FILE_NAME as LAST_COMMIT
from gmd.event_log.migrations import HEAD, migrate
from gmd.event_log.opening import FILE_NAME
from gmd.event_log.reading import LogReader
from gmd.event_log.sqlite import damages, open_engine, open_read_only

from .pages import Pages
from .records import Lost, Record, Source, records_of
from .salvage import Aside, Salvaged, columns_of, salvaged
from .shapes import Shapes

#: The bytes of an SQLite file that every program with an open connection in WAL mode locks.
_SHARED_FIRST, _SHARED_SIZE = 0x40000002, 510
#: The only value in the table of the schema's revision.
_REVISION = re.compile(r"\d{4}")
#: The endings of the names of SQLite's other files.
_WAL, _SHM = "-wal", "-shm"


class Repaired(NamedTuple):
    """The result of a repair.

    :ivar original: the damaged file; its write-ahead log, if any, is in the same directory.
    :ivar set_aside: the file with one JSON line for each row that was not kept unchanged; None if all were kept.
    :ivar changes: one line, for people, for each game and player that was changed or not kept.
    """

    games: int
    events: int
    players: int
    original: Path
    set_aside: Path | None
    changes: Sequence[str]


class RepairFailed(Exception):
    """A repair whose new file is not whole either. Nothing was changed."""


def repair(directory: Path) -> Repaired:
    """Replace the log in a directory by a new one with everything in it that is whole.

    The damaged file is never written: the new file is complete, checked and on disk before it replaces it.

    :raises DataError: there is no log, or one of another gmd; or a daemon or another program has it open.
    :raises RepairFailed: the new file would not be whole.
    :raises OSError: the disk is full or fails.
    """
    file = directory / FILE_NAME
    if not file.exists():
        raise DataError(f"data: there is no log of games: {file} does not exist")
    with locked_directory(directory):
        _refuse_in_use(file)
        before = _state(file)
        with _new_file(file) as new:
            with closing(sqlite3.connect(new, isolation_level=None)) as connection:
                found = salvaged(_checked(file, records_of(Pages(file))), Shapes(connection))
                kept = (found.games, found.players, found.retired, found.contests)
                if not (any(kept) or found.aside):
                    raise DataError(f"data: nothing in {file} belongs to a log of games; nothing was changed")
                _write(connection, found)
            _verify(new)
            stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
            set_aside = _set_aside(file.with_name(f"set-aside-{stamp}.jsonl"), found.aside)
            _refuse_in_use(file)
            if _state(file) != before:
                raise DataError(f"data: {file} was written during the repair; nothing was changed. Repair it again")
            original = _swap(file, new, f"{FILE_NAME}.damaged-{stamp}")
            (directory / LAST_COMMIT).unlink(missing_ok=True)  # the game that it names may have been set aside
    events = sum(len(game.events) for game in found.games.values())
    return Repaired(len(found.games), events, len(found.players), original, set_aside, found.changes)


def _refuse_in_use(file: Path) -> None:
    """Check that no other program has the file open.

    :raises DataError: one has.
    """
    with file.open("rb+") as opened:
        try:
            fcntl.lockf(opened, fcntl.LOCK_EX | fcntl.LOCK_NB, _SHARED_SIZE, _SHARED_FIRST)
        except OSError as error:
            raise DataError(f"data: {file} is open in another program; end that program, then repair again") from error


def _state(file: Path) -> list[tuple[int, int] | None]:
    """Return sizes and times that change when a file or its write-ahead log is written."""
    both = [file, file.with_name(file.name + _WAL)]
    stats = [each.stat() if each.exists() else None for each in both]
    return [None if stat is None else (stat.st_size, stat.st_mtime_ns) for stat in stats]


def _checked(file: Path, found: Iterable[Record | Lost]) -> Iterator[Record | Lost]:
    """Yield what was found, and check that its schema is this program's.

    :raises DataError: it is another schema.
    """
    for each in found:
        if isinstance(each, Record) and each.source is Source.TABLE and len(each.values) == 1:
            (revision,) = each.values
            if isinstance(revision, str) and _REVISION.fullmatch(revision) and revision != HEAD:
                raise DataError(
                    f"data: {file} is at revision {revision} of its schema, and this program repairs {HEAD}. "
                    "Repair it with the gmd that wrote it"
                )
        yield each


@contextmanager
def _new_file(file: Path) -> Iterator[Path]:
    """Create an empty log next to a file, with the file's permissions; remove it at the end, if it still exists."""
    new = file.with_name(f"{file.name}.repaired")
    _remove(new)
    try:
        os.close(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        shutil.copymode(file, new)
        engine = open_engine(new)
        try:
            migrate(engine)
        finally:
            engine.dispose()
        yield new
    finally:
        _remove(new)


def _remove(file: Path) -> None:
    for ending in ("", _WAL, _SHM):
        file.with_name(file.name + ending).unlink(missing_ok=True)


def _write(connection: sqlite3.Connection, found: Salvaged) -> None:
    connection.execute("BEGIN IMMEDIATE")
    _insert(connection, "games", (game.row for game in found.games.values()))
    events = (
        {"game_id": game_id, "seq": seq, "event": event}
        for game_id, game in found.games.items()
        for seq, event in enumerate(game.events)
    )
    _insert(connection, "events", events)
    _insert(connection, "tokens", (row.columns for row in found.tokens.values()))
    _insert(connection, "players", map(columns_of, found.players.values()))
    _insert(connection, "contests", (row.columns for row in found.contests.values()))
    _insert(connection, "retired", [{"game_id": found.retired}] if found.retired else [])
    connection.execute("COMMIT")


def _insert(connection: sqlite3.Connection, table: str, rows: Iterable[Any]) -> None:
    names = [name for _, name, *_ in connection.execute(f"PRAGMA table_info({table})")]
    statement = f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join(f':{name}' for name in names)})"
    connection.executemany(statement, rows)


def _verify(new: Path) -> None:
    """Check the new file as ``gmd check`` does, and sync it to disk.

    :raises RepairFailed: it is not whole.
    """
    engine = open_read_only(new)
    try:
        problem = next(iter(damages(engine)), None)
        problems = (found for stored in LogReader(engine).everything() if (found := problem_of(stored)))
        problem = problem or next(problems, None)
    finally:
        engine.dispose()
    if problem is not None:
        raise RepairFailed(f"the new file would not be whole: {problem}. Nothing was changed")
    _remove_wal(new)
    _sync(new)


def _remove_wal(file: Path) -> None:
    """Remove SQLite's other files of a closed file: a read-only connection leaves them behind, empty."""
    for ending in (_WAL, _SHM):
        file.with_name(file.name + ending).unlink(missing_ok=True)


def _set_aside(file: Path, aside: Sequence[Aside]) -> Path | None:
    """Write what is not kept to a file that only its owner can read, because it holds digests of keys."""
    if not aside:
        return None
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as output:
        for each in aside:
            output.write(msgspec.json.encode(_shown(each)) + b"\n")
        output.flush()
        os.fsync(output.fileno())
    return file


def _shown(aside: Aside) -> dict[str, Any]:
    if aside.row is None:
        return {"why": aside.why, "page": aside.page}
    columns = {name: _plain(value) for name, value in aside.row.columns.items()}
    rowid = aside.row.record.rowid
    return {"why": aside.why, "page": aside.page, "table": aside.row.table, "row": rowid, "columns": columns}


def _plain(value: object) -> object:
    return {"base64": b64encode(value).decode()} if isinstance(value, bytes) else value


def _swap(file: Path, new: Path, name: str) -> Path:
    """Replace the damaged file by the new one, and keep it under a given name together with its write-ahead log."""
    original = file.with_name(name)
    for ending in ("", _WAL):
        each = file.with_name(file.name + ending)
        if each.exists() and each.stat().st_size:
            _link(each, original.with_name(original.name + ending))
    _sync(file.parent)
    _remove_wal(file)  # or SQLite would take it for the new file's log
    os.replace(new, file)
    _sync(file.parent)
    return original


def _link(file: Path, name: Path) -> None:
    try:
        os.link(file, name)
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        shutil.copy2(file, name)
        _sync(name)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
