"""Commits to SQLite in a thread, as simply as that can be done: what the echo server's ``--commit`` waits for."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Sequence
from pathlib import Path

import trio

from gmd.event_log.sqlite import PRAGMAS

#: What was received, and the event to set once it is on disk.
_Entry = tuple[bytes, trio.Event]


class Committer:
    """Writes what it is given in batches: while one is being committed, the next one collects.

    It has the settings of the daemon's log, one table without an index, and one row for each read.
    """

    def __init__(self, directory: Path) -> None:
        self._file = directory / "echo.db"
        self._token = trio.lowlevel.current_trio_token()
        self._entries: list[_Entry] = []
        self._changed = threading.Condition()
        threading.Thread(target=self._run, daemon=True).start()

    async def commit(self, data: bytes) -> None:
        """Return when the data is on disk."""
        event = trio.Event()
        with self._changed:
            self._entries.append((data, event))
            self._changed.notify()
        await event.wait()

    def _run(self) -> None:
        database = sqlite3.connect(self._file, isolation_level=None)
        for name, value in PRAGMAS.items():
            database.execute(f"PRAGMA {name} = {value}")
        database.execute("CREATE TABLE requests (data BLOB NOT NULL)")
        while True:
            with self._changed:
                while not self._entries:
                    self._changed.wait()
                entries, self._entries = self._entries, []
            database.execute("BEGIN")
            database.executemany("INSERT INTO requests VALUES (?)", [(data,) for data, _ in entries])
            database.execute("COMMIT")
            self._token.run_sync_soon(_settle, entries)


def _settle(entries: Sequence[_Entry]) -> None:
    for _, event in entries:
        event.set()
