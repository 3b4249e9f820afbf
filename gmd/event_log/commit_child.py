"""The process that commits batches to an SQLite file: it does what it is told on its standard input, in order.

It has an interpreter's lock of its own, so that the daemon's threads do not wait for it, nor it for them. It knows
nothing of games, and begins nothing that has not come whole. It ends when the daemon does: with the end of its input.

Imports the standard library alone. :mod:`gmd.event_log.commit_process` is the daemon's side.
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

#: What comes before each message: its length.
HEADER = struct.Struct("<I")
#: Bytes read at once. Of more, each would be memory asked of the kernel and given back.
READ_SIZE = 1 << 16

#: The answers, a byte each: it is prepared; a transaction is durable; nothing of it was written.
READY, DONE, FAILED = b"r", b"d", b"f"


def main() -> None:
    """Commit what comes until the input ends. The first message is a file, and what to prepare a connection with."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # they mean the daemon, which still has things to write then
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
    """Commit a transaction, and write down the note; where it cannot be, the daemon does it and finds out why."""
    if files.wal_lost or files.file_lost:
        return False
    try:
        execute(connection, transaction)
    except sqlite3.Error:
        return False
    if record is not None and note:
        with suppress(OSError):  # the disk is full: the commit is durable all the same
            os.pwrite(record, note, 0)
    return True


def _answer(answer: bytes) -> None:
    os.write(1, answer)


def _receiver(descriptor: int) -> Callable[[], Any]:
    """A function that returns the next message; None where there is none."""
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
