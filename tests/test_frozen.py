"""A daemon's process is stopped for longer than its players' time, as by ``kill -STOP`` or a paused machine."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import httpx
import pytest

from gm_protocol.framing import encode_frame
from gmd.background import BackgroundDaemon, background_daemon
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


def _frozen_with_moves(daemon: Served, version: int, seconds: float) -> list[Json] | None:
    """Return the replies to moves that were sent while the daemon was stopped; None where a flag fell before it was."""
    with ExitStack() as stack:
        client = Plain(daemon.port)
        stack.callback(client.socket.close)
        client.ask(kind="hello", protocol=2)
        games, since = begun(client, seconds, GAMES)
        movers = [Plain(daemon.port) for _ in games]
        for mover in movers:
            stack.callback(mover.socket.close)
            if version == 2:
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


@pytest.mark.parametrize("version", [1, 2])
def test_move_received_while_the_process_was_stopped_saves_the_game(version: int) -> None:
    with served() as daemon:
        replies = None
        for attempt in range(TRIES):
            replies = replies or _frozen_with_moves(daemon, version, SECONDS * 2**attempt)
        assert replies is not None
        assert [reply["error"] for reply in replies] == [None] * GAMES
        assert {reply["state"]["ply_index"] for reply in replies} == {1}


def test_thinking_players_keep_their_time_when_the_process_continues() -> None:
    seconds = 30.0
    with served() as daemon:
        client = Plain(daemon.port)
        client.ask(kind="hello", protocol=2)
        (game_id,), since = begun(client, seconds, 1)
        with stopped(daemon.process.pid):
            stopped_at = time.monotonic()
            wait_past(2.0, stopped_at)
            stopped_for = time.monotonic() - stopped_at
        left = client.ask(kind="state", game_id=game_id)["state"]["clock"]["white"]
        passed = time.monotonic() - since
        assert seconds - (passed - stopped_for) - 0.2 <= left <= seconds  # all the stopped time is forgiven
        client.socket.close()


def test_http_request_received_while_the_process_was_stopped_counts(tmp_path: Path) -> None:
    with served("--http", "--http-port", "0", "--data", str(tmp_path)) as daemon:
        port = next(int(found[1]) for line in daemon.lines if (found := re.search(r"http://[^:/]+:(\d+)", line)))
        client = Plain(daemon.port)
        client.ask(kind="hello", protocol=2)
        players = [client.ask(kind="register", name=name) for name in ("white-bot", "black-bot")]
        for attempt in range(TRIES):
            status = _frozen_with_sense(daemon, port, players, SECONDS * 2**attempt)
            if status is not None:
                break
        assert status == 200
        client.socket.close()


def _frozen_with_sense(daemon: Served, port: int, players: Sequence[Json], seconds: float) -> int | None:
    """Return the status of a sense that was posted while the daemon was stopped; None where the flag fell before it
    was.
    """
    white, black = players
    client = Plain(daemon.port)
    with ExitStack() as stack:
        stack.callback(client.socket.close)
        client.ask(kind="hello", protocol=2, player=white["player"], key=white["key"])
        ids = {"player_white": white["player"], "player_black": black["player"]}
        game_id = client.ask(kind="new_game", variant="rbc", clock={"initial": seconds}, **ids)["game_id"]
        theirs = {"player": black["player"], "key": black["key"], "game_id": game_id}
        client.ask(kind="join", **theirs)
        client.ask(kind="state", game_id=game_id)
        since = time.monotonic()
        client.ask(kind="state", **theirs)
        client.send(kind="wait", **theirs)  # gets a reply if the flag falls
        with stopped(daemon.process.pid):
            request = httpx.Request("POST", f"http://127.0.0.1:{port}/api/games/{game_id}/sense", json={"square": 9})
            next(httpx.BasicAuth(white["name"], white["key"]).auth_flow(request))
            head = "".join(f"{name}: {value}\r\n" for name, value in request.headers.items())
            connection = socket.create_connection(("127.0.0.1", port))
            stack.callback(connection.close)
            connection.sendall(f"POST {request.url.path} HTTP/1.1\r\n{head}\r\n".encode() + request.content)
            wait_past(seconds, since)
            if _has_come(client.socket):
                return None
        return int(connection.recv(65_536).split()[1])


def _block(daemon: BackgroundDaemon, seconds: float) -> None:
    """Block the daemon's thread for so long."""

    async def blocking(_daemon: object) -> None:
        time.sleep(seconds)  # noqa: ASYNC251 (nothing else is to be served)

    daemon.run(blocking)


def test_embedded_daemon_charges_no_player_while_its_thread_is_blocked() -> None:
    with background_daemon() as daemon:
        daemon.ask("new_game", player_white=1, player_black=2, clock={"initial": 2.0})
        for player in (1, 2):
            daemon.ask("state", game_id=1, player=player)
        _block(daemon, 3.0)
        assert daemon.ask("move", game_id=1, player=1, move="e4")["error"] is None
