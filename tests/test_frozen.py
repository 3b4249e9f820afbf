"""A daemon's process is stopped for longer than its players' time, as by ``kill -STOP`` or a paused machine."""

from __future__ import annotations

import json
import os
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from gm_protocol.framing import encode_frame
from tests.helpers import Json
from tests.serving import Served, served

pytestmark = pytest.mark.slow

GAMES = 8
#: The seconds on the clocks at first. On a machine so slow that a flag falls before the daemon is stopped, the test
#: tries again with twice as many.
SECONDS, TRIES = 1.0, 7


class Plain:
    """A blocking client that sends and receives frames of JSON."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port))
        self._buffer = b""

    def send(self, **request: object) -> None:
        """Send a request."""
        self.socket.sendall(encode_frame(json.dumps(request).encode()))

    def receive(self) -> Json:
        """Return the next reply."""
        while len(self._buffer) < 4 or len(self._buffer) < 4 + int.from_bytes(self._buffer[:4], "big"):
            data = self.socket.recv(65_536)
            assert data, "the daemon has closed the connection"
            self._buffer += data
        end = 4 + int.from_bytes(self._buffer[:4], "big")
        reply: Json = json.loads(self._buffer[4:end])
        self._buffer = self._buffer[end:]
        return reply

    def ask(self, **request: object) -> Json:
        """Send a request and return its reply, which must be no error."""
        self.send(**request)
        reply = self.receive()
        assert reply["error"] is None, reply
        return reply


@contextmanager
def stopped(pid: int) -> Iterator[None]:
    """Stop a process, and let it continue afterwards."""
    os.kill(pid, signal.SIGSTOP)
    try:
        while Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "T":
            time.sleep(0.01)
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def begun(client: Plain, seconds: float, count: int) -> tuple[list[int], float]:
    """Return games whose clocks have just started, and the earliest time at which the first one's may have started."""
    games = [
        client.ask(kind="new_game", player_white=1, player_black=2, clock={"initial": seconds})["game_id"]
        for _ in range(count)
    ]
    since = time.monotonic()
    for game_id in games:
        for player in (1, 2):
            client.ask(kind="state", game_id=game_id, player=player)
    return games, since


def wait_past(seconds: float, since: float) -> None:
    """Wait until the players' time has passed."""
    while time.monotonic() < since + seconds + 0.5:
        time.sleep(0.05)


def _frozen_with_moves(daemon: Served, seconds: float) -> list[Json] | None:
    """Return the replies to moves that were sent while the daemon was stopped; None where a flag fell before it was."""
    with ExitStack() as stack:
        client = Plain(daemon.port)
        stack.callback(client.socket.close)
        client.ask(kind="hello", protocol=2)
        games, since = begun(client, seconds, GAMES)
        movers = [Plain(daemon.port) for _ in games]
        for number, mover in enumerate(movers):
            stack.callback(mover.socket.close)
            if number % 2:
                mover.ask(kind="hello", protocol=2)
        watcher = Plain(daemon.port)  # gets a reply if a flag falls before the daemon is stopped
        stack.callback(watcher.socket.close)
        watcher.ask(kind="hello", protocol=2)
        watcher.send(kind="wait", game_ids=games)
        with stopped(daemon.process.pid):
            for mover, game_id in zip(movers, games, strict=True):
                mover.send(kind="move", player=1, game_id=game_id, move="e4")
            wait_past(seconds, since)
            if _has_come(watcher.socket):
                return None
        return [mover.receive() for mover in movers]


def _has_come(connection: socket.socket) -> bool:
    with suppress(BlockingIOError):
        return bool(connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT))
    return False


def test_move_received_while_the_process_was_stopped_saves_the_game() -> None:
    """Half of the moves are on connections without a session."""
    with served() as daemon:
        replies = None
        for attempt in range(TRIES):
            replies = replies or _frozen_with_moves(daemon, SECONDS * 2**attempt)
        assert replies is not None
        assert [reply["error"] for reply in replies] == [None] * GAMES
        assert {reply["state"]["ply_index"] for reply in replies} == {1}
