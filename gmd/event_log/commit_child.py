"""The process that commits batches to an SQLite file, as it reads them from its standard input, in order.

It has its own interpreter lock, so that it and the daemon's threads do not wait for each other. It knows nothing of
games, and begins a transaction only once it has read all of it. It ends with the daemon: at the end of its input.

It imports only the standard library. :mod:`gmd.event_log.commit_process` is the daemon's side.
"""

from __future__ import annotations

import os
import pickle
import signal
import sqlite3
import struct
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from gmd.event_log.open_files import OpenFiles
from gmd.event_log.transaction import Transaction, execute
from gmd.event_log.wal_room import WalRoom

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
