"""The peer: a bare trio server that only answers every frame with one of a given size.

``python -m bench.echo REPLY_BYTES [--one-shot] [--commit]``: with ``--one-shot`` it closes after the first reply, like
a version 1 session. With ``--commit`` it answers what it has read once that is in an SQLite database: nothing that
acknowledges only what is durable can do less.
"""

from __future__ import annotations

import sqlite3
import sys
import tempfile
import threading
from functools import partial
from pathlib import Path

import trio

from gmd.event_log.sqlite import PRAGMAS

from .load import HEADER, count_frames


class Committer:
    """A thread that writes what it is given in batches: while one is being committed, the next one collects.

    It has the settings of the daemon's log, one table without an index, and one row for each read.
    """

    def __init__(self, directory: Path) -> None:
        self._file = directory / "echo.db"
        self._token = trio.lowlevel.current_trio_token()
        self._entries: list[tuple[bytes, trio.Event]] = []
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


def _settle(entries: list[tuple[bytes, trio.Event]]) -> None:
    for _, event in entries:
        event.set()


async def echo(stream: trio.SocketStream, reply: bytes, one_shot: bool, committer: Committer | None) -> None:
    """Answer frames until the client closes."""
    buffer = bytearray()
    async with stream:
        async for chunk in stream:
            buffer += chunk
            frames, size = count_frames(buffer)
            del buffer[:size]
            if frames and committer is not None:
                await committer.commit(bytes(chunk))
                await stream.send_all(reply * frames)
            else:
                for _ in range(frames):
                    await stream.send_all(reply)
            if frames and one_shot:
                return


async def main(reply_bytes: int, one_shot: bool, commit: bool) -> None:
    """Serve on a free port, and print the port."""
    reply = HEADER.pack(reply_bytes) + b"x" * reply_bytes
    with tempfile.TemporaryDirectory(prefix="gmd-bench-") as directory:
        committer = Committer(Path(directory)) if commit else None
        (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
        print(f"echo listening on 127.0.0.1:{listener.socket.getsockname()[1]}", flush=True)
        await trio.serve_listeners(partial(echo, reply=reply, one_shot=one_shot, committer=committer), [listener])


if __name__ == "__main__":
    trio.run(main, int(sys.argv[1]), "--one-shot" in sys.argv, "--commit" in sys.argv)
