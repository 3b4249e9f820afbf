"""What the games of a match came to: a file of JSON lines, from which a match that was killed goes on.

The first line has the match's arguments. Each that follows has a game, in the plan's order, and is on disk before the
next is written: what is in the file are always the first games of the plan, all of them. A line that a crash has cut
short is none.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

Record = dict[str, Any]

#: Of the file's form.
VERSION = 1


class RecordUnusable(Exception):
    """A match cannot go on with a file, or be written to it. The message says why, and what to do."""


class RecordFile:
    """A file that is being written.

    :ivar records: the games in it.
    """

    def __init__(self, path: Path) -> None:
        """:raises RecordUnusable: it cannot be written, or another match is being written to it."""
        self.path = path
        self.records: list[Record] = []
        with self._if_written():
            self._file = path.open("a+b")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._file.close()
            raise RecordUnusable(f"{path} is being written by a match that is on") from None

    @classmethod
    def begin(cls, path: Path, arguments: Mapping[str, Any]) -> Self:
        """Begin a file, in the place of one that no game has come to.

        :raises RecordUnusable: there is one with games, or something else, or there cannot be one.
        """
        opened = cls(path)
        with opened._closed_if_unusable():
            if not _is_without_games(path):
                raise RecordUnusable(f"{path} is there already: go on with it (--resume), or name another")
            if path.is_file():
                opened._file.truncate(0)
            opened._write({"match": VERSION, "arguments": arguments})
        return opened

    @classmethod
    def resume(cls, path: Path, arguments: Mapping[str, Any]) -> Self:
        """Go on with a file, or begin it if there is none.

        :raises RecordUnusable: it is another match's, or cannot be written.
        """
        if not path.exists() or not path.stat().st_size:
            return cls.begin(path, arguments)
        opened = cls(path)
        with opened._closed_if_unusable():
            header, opened.records, end = read(path)
            _check_same(path, header.get("arguments"), json.loads(json.dumps(arguments)))
            opened._file.truncate(end)
        return opened

    def add(self, record: Record) -> None:
        """Append a game; it is on disk when this returns.

        :raises RecordUnusable: it cannot be written.
        """
        self._write(record)
        self.records.append(record)

    def finish(self, summary: Record) -> None:
        """Append what it all means."""
        self._write({"summary": summary})

    def close(self) -> None:
        """The file can be closed at any time."""
        with suppress(OSError):  # what could not be written, and was said to be so
            self._file.close()

    def _write(self, line: Record) -> None:
        with self._if_written():
            self._file.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
            self._file.flush()
            os.fsync(self._file.fileno())

    @contextmanager
    def _closed_if_unusable(self) -> Iterator[None]:
        try:
            yield
        except RecordUnusable:
            self.close()
            raise

    @contextmanager
    def _if_written(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise RecordUnusable(f"{self.path} cannot be written: {error.strerror or error}") from None


def read(path: Path) -> tuple[Record, list[Record], int]:
    """The first line, the games, and how many bytes these take.

    :raises RecordUnusable: it is no match's.
    :raises OSError: it cannot be read.
    """
    header: Record | None = None
    records: list[Record] = []
    end = 0
    for raw in path.read_bytes().splitlines(keepends=True):
        line = _line(raw)
        if line is None or (header is not None and line.get("game") != len(records) + 1):
            break
        if header is None:
            header = line
        else:
            records.append(line)
        end += len(raw)
    if header is None or header.get("match") != VERSION:
        raise RecordUnusable(f"{path} is no record of a match: its first line does not begin one")
    return header, records, end


def _is_without_games(path: Path) -> bool:
    """Whether nothing is lost where a record begins: a match that ends before its first game leaves one line."""
    try:
        return not path.is_file() or not path.stat().st_size or not read(path)[1]
    except RecordUnusable:
        return False


def _line(raw: bytes) -> Record | None:
    """None for what is no whole line."""
    try:
        line = json.loads(raw) if raw.endswith(b"\n") else None
    except ValueError:
        return None
    return line if isinstance(line, dict) else None


def _check_same(path: Path, recorded: Any, given: Record) -> None:
    recorded = recorded if isinstance(recorded, dict) else {}
    for name in [*given, *recorded]:
        was, now = recorded.get(name), given.get(name)
        if was != now:
            raise RecordUnusable(f"{path} is of another match: its {name} is {json.dumps(was)}, not {json.dumps(now)}")
