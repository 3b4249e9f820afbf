"""Connections of all clients to a machine that has lost its power: the system probes them, and gives up soon."""

from __future__ import annotations

import socket
import sys
import time
from pathlib import Path

import pytest

from gm_client import blocking, gmcat
from tests.clients.python_clients import HELLO, OK, JsonPeer, dialogues
from tests.clients.sessions import Opener


def seconds_to_probe(port: int) -> float:
    """Return the time until the system probes a client's idle connection to a server.

    While others open and close connections, a reading of the table may lack a row or have it twice.
    """
    timer, end = "", time.monotonic() + 60
    while not timer.startswith("02:"):
        assert time.monotonic() < end, f"there is no timer for a probe, but {timer!r}"
        rows = [line.split() for line in Path("/proc/net/tcp").read_text("ascii").splitlines()[1:]]
        timer = next((row[5] for row in rows if row[2].endswith(f":{port:04X}") and row[3] == "01"), timer)
    return int(timer.removeprefix("02:"), 16) / 100


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows the timers of connections")
def test_client_has_its_connection_probed_after_five_seconds(opened: Opener) -> None:
    def greet(peer: JsonPeer) -> None:
        peer.greet(HELLO)
        peer.expect({"kind": "ping"})
        peer.write(OK)
        peer.read()

    with dialogues(greet) as server, opened(server.port) as session:
        session.ask("ping")
        assert seconds_to_probe(server.port) <= 5


def test_python_clients_set_all_options() -> None:
    assert gmcat.KEEPALIVE == blocking.KEEPALIVE
    with socket.socket() as connected:
        blocking.keep_alive(connected.setsockopt)
        found = {
            name: connected.getsockopt(socket.IPPROTO_TCP, getattr(socket, name))
            for name in blocking.KEEPALIVE
            if hasattr(socket, name)
        }
        assert connected.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
    assert found == {"TCP_KEEPIDLE": 5, "TCP_KEEPINTVL": 2, "TCP_KEEPCNT": 3, "TCP_USER_TIMEOUT": 10_000}
