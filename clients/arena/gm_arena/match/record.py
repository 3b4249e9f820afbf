"""What the games of a match came to: a file of JSON lines, from which a match that was killed goes on.

The first line has the match's arguments. Each that follows has a game, in the plan's order, and is on disk before the
next is written: what is in the file are always the first games of the plan, all of them. A line that a crash has cut
short is none.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, Self

Record = dict[str, Any]

#: Of the file's form.
VERSION = 1


class RecordUnusable(Exception):
    """A match cannot go on with a file, or be written to it. The message says why, and what to do."""


class RecordFile:
    """A file that is being written.

    :ivar records: the games in it.
    """

    def __init__(self, file: IO[bytes], records: list[Record]) -> None:
        self._file = file
        self.records = records

    @classmethod
    def begin(cls, path: Path, arguments: Mapping[str, Any]) -> Self:
        """:raises RecordUnusable: there is such a file, or there cannot be one."""
        try:
            if path.exists() and path.stat().st_size:
                raise RecordUnusable(f"{path} is there already: go on with it (--resume), or name another")
            opened = cls(path.open("wb"), [])
        except OSError as error:
            raise RecordUnusable(f"{path} cannot be written: {error.strerror}") from None
        opened._write({"match": VERSION, "arguments": arguments})
        return opened

    @classmethod
    def resume(cls, path: Path, arguments: Mapping[str, Any]) -> Self:
        """Go on with a file, or begin it if there is none.

        :raises RecordUnusable: it is another match's.
        """
        if not path.exists() or not path.stat().st_size:
            return cls.begin(path, arguments)
        try:
            header, records, end = read(path)
            _check_same(path, header.get("arguments"), json.loads(json.dumps(arguments)))
            file = path.open("r+b")
        except OSError as error:
            raise RecordUnusable(f"{path} cannot be written: {error.strerror}") from None
        file.truncate(end)
        file.seek(end)
        return cls(file, records)

    def add(self, record: Record) -> None:
        """Append a game; it is on disk when this returns."""
        self.records.append(record)
        self._write(record)

    def finish(self, summary: Record) -> None:
        """Append what it all means."""
        self._write({"summary": summary})

    def close(self) -> None:
        """The file can be closed at any time."""
        self._file.close()

    def _write(self, line: Record) -> None:
        self._file.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())


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
