"""The record of a match: a file of JSON lines, from which a match that was killed can be resumed.

The first line has the match's arguments. Each following line has a game, in the plan's order, and is durable before the
next is written: the file always has the first games of the plan, without gaps. A line that a crash has cut short is
ignored.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

from ..file_lock import lock

Record = dict[str, Any]

#: The version of the file's format.
VERSION = 2


class RecordUnusable(Exception):
    """A match cannot be resumed from a file, or written to it. The message says why, and what to do."""


class RecordFile:
    """A record that is being written.

    :ivar records: the games in it.
    :ivar contest: the token of the match on a server: of its games and reports.
    """

    def __init__(self, path: Path) -> None:
        """Open a file.

        :raises RecordUnusable: it cannot be written, or another match is writing to it.
        """
        self.path = path
        self.records: list[Record] = []
        self.contest = secrets.token_hex(16)
        with self._if_written():
            self._file = path.open("a+b")
        if not lock(self._file):
            self._file.close()
            raise RecordUnusable(f"{path} is being written by another running match")

    @classmethod
    def begin(cls, path: Path, arguments: Mapping[str, Any]) -> Self:
        """Begin a file; one that has no game yet is overwritten.

        :raises RecordUnusable: the file has games or other content, or cannot be written.
        """
        opened = cls(path)
        with opened._closed_if_unusable():
            if not _is_without_games(path):
                raise RecordUnusable(f"{path} exists already: continue it with --resume, or name another file")
            if path.is_file():
                opened._file.truncate(0)
            opened._write({"match": VERSION, "arguments": arguments, "contest": opened.contest})
        return opened

    @classmethod
    def resume(cls, path: Path, arguments: Mapping[str, Any]) -> Self:
        """Resume a file, or begin it if there is none.

        :raises RecordUnusable: the file belongs to another match, or cannot be written.
        """
        if not path.exists() or not path.stat().st_size:
            return cls.begin(path, arguments)
        opened = cls(path)
        with opened._closed_if_unusable():
            header, opened.records, end = read(path)
            _check_same(path, header.get("arguments"), json.loads(json.dumps(arguments)))
            opened._file.truncate(end)
            opened.contest = header["contest"]
        return opened

    def add(self, record: Record) -> None:
        """Append a game; it is durable when this returns.

        :raises RecordUnusable: the file cannot be written.
        """
        self._write(record)
        self.records.append(record)

    def finish(self, summary: Record) -> None:
        """Append the summary."""
        self._write({"summary": summary})

    def close(self) -> None:
        """Close the file; this is safe at any time."""
        with suppress(OSError):  # the error was reported when writing
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
    """Return the first line, the games, and the size of both in bytes.

    :raises RecordUnusable: the file is not a match's record.
    :raises OSError: the file cannot be read.
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
        raise RecordUnusable(f"{path} is not a match's record: its first line is not a record's header")
    return header, records, end


def _is_without_games(path: Path) -> bool:
    """Return whether a file may be overwritten: a match that ends before its first game leaves only one line."""
    try:
        return not path.is_file() or not path.stat().st_size or not read(path)[1]
    except RecordUnusable:
        return False


def _line(raw: bytes) -> Record | None:
    """Return a line's object; None for an incomplete or invalid line."""
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
            raise RecordUnusable(
                f"{path} belongs to another match: its {name} is {json.dumps(was)}, not {json.dumps(now)}"
            )
