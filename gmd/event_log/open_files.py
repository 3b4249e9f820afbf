"""Checks that the files of an open log are still those that SQLite has open.

It imports only the standard library, for the process that commits.
"""

from __future__ import annotations

import os


class OpenFiles:
    """An SQLite file and its write-ahead log, both already open in a connection."""

    def __init__(self, file: str | os.PathLike[str]) -> None:
        self.file = os.fspath(file)
        self.wal = f"{self.file}-wal"
        self._file = _identity(self.file)
        self._wal = _identity(self.wal)

    @property
    def file_lost(self) -> bool:
        """Whether the database file was deleted, moved or replaced."""
        return _identity(self.file) != self._file

    @property
    def wal_lost(self) -> bool:
        """Whether the write-ahead log was: commits would then be lost in a crash."""
        return _identity(self.wal) != self._wal


def _identity(name: str) -> tuple[int, int] | None:
    try:
        found = os.stat(name)
    except OSError:
        return None
    return found.st_dev, found.st_ino
