"""Room in the write-ahead log's file, made before it is needed.

A commit that makes the file longer has the file system write the new length into its own journal, beside the commit. A
commit that overwrites zeros does not, and takes about half as long. SQLite takes the zeros for no frames: what it reads
of the file ends at the first frame whose salts are not the log's.

Imports the standard library alone, for the process that commits.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress

#: Bytes of room made at once: as many as the file has, within these bounds.
LEAST_ROOM = 1 << 16
MOST_ROOM = 1 << 20


class WalRoom:
    """The room of one open write-ahead log."""

    def __init__(self, connection: sqlite3.Connection, wal: str) -> None:
        """Open the log once more, for as long as the process lives.

        :param connection: one that has the log open and begins no transaction by itself.
        """
        self._connection = connection
        self._file: int | None = None
        self._end = 0  # of the room made last
        with suppress(OSError):
            self._file = os.open(wal, os.O_RDWR | os.O_CLOEXEC)
            self._end = os.fstat(self._file).st_size

    def keep(self) -> None:
        """Make more room where the last commit has used up what there was. Whatever fails leaves the log as it is."""
        if self._file is None or os.fstat(self._file).st_size <= self._end:
            return
        with suppress(OSError, sqlite3.Error):
            self._lengthen(self._file)
            os.fdatasync(self._file)

    def _lengthen(self, file: int) -> None:
        """Write zeros behind the end, while nobody else can write there.

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
