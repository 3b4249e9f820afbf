"""How batches are committed to an SQLite file: transactions as data, and the process that executes them.

The process reads transactions from its standard input, in order. It has its own interpreter lock, so that it and the
daemon's threads do not wait for each other. It knows nothing of games, and begins a transaction only once it has read
all of it. It ends with the daemon: at the end of its input. What it does not take the writer's thread executes.

This imports only the standard library, so that the process starts quickly. :mod:`gmd.event_log.commit_process` is the
daemon's side.
"""

from __future__ import annotations

import os
import pickle
import signal
import sqlite3
import struct
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

#: A statement, and the rows of parameters with which it is executed, one after the other.
Statement = tuple[str, Sequence[Sequence[Any]]]
Transaction = Sequence[Statement]


def execute(connection: sqlite3.Connection, transaction: Transaction) -> None:
    """Execute a transaction durably, all or nothing.

    A single statement is its own transaction.

    :param connection: one that begins no transaction by itself.
    :raises sqlite3.Error: nothing was written.
    """
    if len(transaction) == 1 and len(transaction[0][1]) == 1:
        ((sql, (row,)),) = transaction
        connection.execute(sql, row).close()
        return
    connection.execute("BEGIN IMMEDIATE").close()
    try:
        for sql, rows in transaction:
            connection.executemany(sql, rows).close()
        connection.execute("COMMIT").close()
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK").close()


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


#: Bounds of the bytes added at a time: as many as the file has.
LEAST_ROOM = 1 << 16
MOST_ROOM = 1 << 20


class WalRoom:
    """Preallocated room in the file of one open write-ahead log.

    A commit that makes the file longer makes the file system write the new length to its own journal too. A commit that
    overwrites zeros does not, and takes about half as long. SQLite does not take the zeros for frames: it reads the
    file only up to the first frame whose salts differ from the log's.
    """

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


# --- The process ------------------------------------------------------------------------------------------------------

#: The header of each message: its length.
HEADER = struct.Struct("<I")
#: Bytes per read. A larger buffer would be requested from the kernel and given back on every read.
READ_SIZE = 1 << 16

#: The answers, one byte each: prepared; transaction durable; transaction failed, nothing of it was written.
READY, DONE, FAILED = b"r", b"d", b"f"


def main() -> None:
    """Commit transactions until the input ends. The first message holds the file and the preparation."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # they are for the daemon, which still has batches to write then
    receive = _receiver(0)
    first = receive()
    if first is None:
        return
    file, preparation, record = first
    connection = sqlite3.connect(file, isolation_level=None)
    for statement in preparation:
        connection.execute(statement).close()
    files = OpenFiles(file)
    room = WalRoom(connection, files.wal)
    _answer(READY)
    while (message := receive()) is not None:
        if _committed(connection, files, record, *message):
            _answer(DONE)
            room.keep()
        else:
            _answer(FAILED)
    connection.close()


def _committed(
    connection: sqlite3.Connection, files: OpenFiles, record: int | None, transaction: Transaction, note: bytes
) -> bool:
    """Commit a transaction and write its note; on failure return False, and the daemon retries to find the reason."""
    if files.wal_lost or files.file_lost:
        return False
    try:
        execute(connection, transaction)
    except sqlite3.Error:
        return False
    if record is not None and note:
        with suppress(OSError):  # the disk is full, but the commit is durable
            os.pwrite(record, note, 0)
    return True


def _answer(answer: bytes) -> None:
    os.write(1, answer)


def _receiver(descriptor: int) -> Callable[[], Any]:
    """Return a function that reads the next message, or returns None at the end of the input."""
    buffer = bytearray()

    def has(size: int) -> bool:
        while len(buffer) < size:
            data = os.read(descriptor, READ_SIZE)
            if not data:
                return False
            buffer.extend(data)
        return True

    def receive() -> Any:
        if not has(HEADER.size):
            return None
        end = HEADER.size + HEADER.unpack_from(buffer)[0]
        if not has(end):
            return None
        message = pickle.loads(memoryview(buffer)[HEADER.size : end])
        del buffer[:end]
        return message

    return receive
