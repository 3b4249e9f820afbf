"""Few descriptors: a client that is connected is served in full, and the others are refused with ``too_many``, never
``internal``.
"""

from __future__ import annotations

import http.client
import json
import signal
import subprocess
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
import trio

from gm_protocol.framing import FrameDecoder
from gm_protocol.messages import REQUESTS
from gmd.net.descriptors import LEAST, RESERVED
from tests.helpers import Client, Json
from tests.serving import SERVE, START_SECONDS, STOP_SECONDS, Served, environment, served

#: The descriptors that the shell allows the daemon, hard and soft.
LIMIT = 64
PASSWORD = "correct horse"
#: More connections than there is room for.
CROWD = 100

#: Fields with which a request of each kind is answered or refused for its content: of game 1, or of no game.
FIELDS: dict[str, Json] = {
    "hello": {"name": "ann", "password": PASSWORD},
    "new_game": {"player_white": 1, "player_black": 2, "token": "of the crowd"},
    "move": {"game_id": 1, "player": 1, "move": "e4"},
    "sense": {"game_id": 1, "player": 1, "square": "e4"},
    "end_game": {"game_id": 2, "player": 1, "termination": "resignation_white"},
    "wait": {"game_id": 2, "player": 1, "timeout": 0},
    "games": {"player": 1, "limit": 10},
    "register": {"name": "bob", "password": PASSWORD},
    "challenge": {"opponent": "ann"},
    "pair": {"white": "ann", "black": "bob"},
    "rekey": {"token": "x" * 32},
    "game_from_pgn": {"player_white": 1, "player_black": 2, "pgn": "1. e4 e5"},
}
OF_A_GAME = ("state", "actions", "history", "join", "accept", "decline")


def request_of(kind: str) -> Json:
    sent = "new_game" if kind == "game_from_pgn" else kind
    return {"kind": sent, **FIELDS.get(kind, {"game_id": 2} if kind in OF_A_GAME else {})}


async def crowd_at(daemon: Served, port: int) -> list[trio.SocketStream]:
    """Open more connections to a port than there is room for."""
    return [await trio.open_tcp_stream(daemon.host, port) for _ in range(CROWD)]


async def said_to(stream: trio.SocketStream) -> Json:
    """Return the error that a connection gets that finds no room."""
    decoder = FrameDecoder(1 << 20)
    while (body := decoder.next_frame()) is None:
        data = await stream.receive_some()
        assert data, "closed without a word"
        decoder.feed(data)
    said: Json = json.loads(body)
    return said


@pytest.mark.slow
@pytest.mark.parametrize("crowded", ["game", "http"])
async def test_every_request_is_answered_when_a_crowd_has_taken_all_descriptors(crowded: str, tmp_path: Path) -> None:
    arguments = ("--data", str(tmp_path), "--http", "--http-port", "0", "--max-failures-per-minute", "1000")
    with served(*arguments, limit=f"-n {LIMIT}") as daemon:
        http_port = int(daemon.http.rpartition(":")[2])
        client = Client(await trio.open_tcp_stream(daemon.host, daemon.port))
        await client.ask("hello")
        connection = http.client.HTTPConnection("127.0.0.1", http_port, timeout=STOP_SECONDS)
        paths = asked(connection, "GET", "/schema/openapi.json")[1]["paths"]
        await client.ask("register", name="ann", password=PASSWORD)
        await client.new_game(1, 2, variant="rbc")
        streams = await crowd_at(daemon, http_port if crowded == "http" else daemon.port)
        if crowded == "game":
            refused = await said_to(streams[-1])
            assert refused["code"] == "too_many"
            assert refused["error"] == (
                f"max_connections: this process may have {LIMIT} descriptors (ulimit -n) and keeps {RESERVED} for "
                "itself; try again later"
            )
        else:
            refusal = (await streams[-1].receive_some()).decode()
            assert refusal.startswith("HTTP/1.1 503")
            assert f"this process may have {LIMIT} descriptors" in refusal
        for kind in REQUESTS:
            await client.send(request_of(kind))
            reply = await client.receive()
            assert reply.get("code") != "internal", (kind, reply)
        for kind in ("hello", "games", "register"):
            reply = await client.ask(**{"kind": kind, **FIELDS[kind]})
            assert reply["error"] is None or kind == "register", reply
        for path, methods in paths.items():
            for method in methods:
                status, reply = asked(connection, method.upper(), path.replace("{game_id}", "1"))
                assert status < 500, (method, path, status, reply)
        await client.aclose()
        connection.close()
        for stream in streams:
            await stream.aclose()
        daemon.process.send_signal(signal.SIGTERM)
        said = daemon.process.communicate(timeout=STOP_SECONDS)[1]
    assert daemon.process.returncode == 0
    assert "Traceback" not in said
    assert "there are fewer descriptors than connections that the settings let in" in said


def asked(connection: http.client.HTTPConnection, method: str, path: str) -> tuple[int, Any]:
    """Send a request over HTTP as a player with a password; return the status, and the body, decoded if it is JSON."""
    for name in ("invitation_id", "game_id"):
        path = path.replace(f"{{{name}}}", "1")
    authorization = b64encode(f"ann:{PASSWORD}".encode()).decode()
    body = b"{}" if method == "POST" else None
    headers = {"authorization": f"Basic {authorization}", "content-type": "application/json"}
    connection.request(method, path, body, headers)
    with connection.getresponse() as response:
        data = response.read()
    try:
        return response.status, json.loads(data)
    except ValueError:
        return response.status, data.decode()


@pytest.mark.slow
def test_too_few_descriptors_to_start_with_are_reported(tmp_path: Path) -> None:
    limit = 12
    command = ["sh", "-c", f'ulimit -n {limit} && exec "$@"', "sh", *SERVE, "--port", "0", "--data", str(tmp_path)]
    ran = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=START_SECONDS, check=False)
    assert ran.returncode == 1
    (line,) = [line for line in ran.stderr.splitlines() if line.startswith("Error: ")]
    assert line == (
        f"Error: too few file descriptors: this process may open {limit}, and "
        f"the daemon needs at least {LEAST}. Raise ulimit -n (LimitNOFILE of a service)"
    )
    assert "Traceback" not in ran.stderr
