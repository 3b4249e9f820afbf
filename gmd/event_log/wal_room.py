"""Preallocated room in the write-ahead log's file.

A commit that makes the file longer makes the file system write the new length to its own journal too. A commit that
overwrites zeros does not, and takes about half as long. SQLite does not take the zeros for frames: it reads the file
only up to the first frame whose salts differ from the log's.

It imports only the standard library, for the process that commits.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress

#: Bounds of the bytes added at a time: as many as the file has.
LEAST_ROOM = 1 << 16
MOST_ROOM = 1 << 20


class WalRoom:
    """The room of one open write-ahead log."""

    def __init__(self, connection: sqlite3.Connection, wal: str) -> None:
        """Open the log's file a second time, for as long as the process lives.

        :param connection: one that has the log open and begins no transaction by itself.
        """
        self._connection = connection
        self._file: int | None = None
        self._end = 0  # the end of the room
        with suppress(OSError):
            self._file = os.open(wal, os.O_RDWR | os.O_CLOEXEC)
            self._end = os.fstat(self._file).st_size

    def keep(self) -> None:
        """Add room if the last commit has used it up. A failure leaves the log unchanged."""
        if self._file is None or os.fstat(self._file).st_size <= self._end:
            return
        with suppress(OSError, sqlite3.Error):
            self._lengthen(self._file)
            os.fdatasync(self._file)

    def _lengthen(self, file: int) -> None:
        """Write zeros after the end, in a transaction so that nobody else can write there.

        :raises sqlite3.Error: another connection is writing.
        :raises OSError: the disk is full, or fails.
        """
        self._connection.execute("BEGIN IMMEDIATE").close()
        try:
            size = os.fstat(file).st_size
            self._end = size + min(max(size, LEAST_ROOM), MOST_ROOM)
            os.pwrite(file, bytes(self._end - size), size)
        finally:
            self._connection.execute("ROLLBACK").close()
