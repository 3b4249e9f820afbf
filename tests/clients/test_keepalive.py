"""Connections of all clients to a machine that has lost its power: the system probes them, and gives up soon."""

from __future__ import annotations

import socket
import sys
import time
from pathlib import Path

import pytest

from gm_client import blocking, gmcat
from tests.clients.other_languages import compile_c, driving
from tests.clients.python_clients import HELLO, Clients, JsonPeer, dialogues
from tests.clients.running import PING, ask, conversation
from tests.clients.scripted import ScriptedServer, answer_all, serving
from tests.ended import ended
from tests.tools import require_tool

HERE = Path(__file__).parent

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows the timers of connections")


def seconds_to_probe(server: ScriptedServer) -> float:
    """Return the time until the system probes a client's idle connection to a server.

    While others open and close connections, a reading of the table may lack a row or have it twice.
    """
    timer, end = "", time.monotonic() + 10
    while not timer.startswith("02:"):
        assert time.monotonic() < end, f"there is no timer for a probe, but {timer!r}"
        rows = [line.split() for line in Path("/proc/net/tcp").read_text("ascii").splitlines()[1:]]
        timer = next((row[5] for row in rows if row[2].endswith(f":{server.port:04X}") and row[3] == "01"), timer)
    return int(timer.removeprefix("02:"), 16) / 100


def test_python_clients_probe_after_five_seconds(clients: Clients) -> None:
    def greet(peer: JsonPeer) -> None:
        peer.greet(HELLO)
        peer.read()

    with dialogues(greet) as server:
        client = clients.connect(server.port)
        assert seconds_to_probe(server) <= 5
        clients.close(client)


def test_gmcat_probes_after_five_seconds() -> None:
    with serving(answer_all) as server, ended(conversation(server)) as process:
        ask(process, kind="ping")
        assert seconds_to_probe(server) <= 5
        process.communicate()
    assert gmcat.KEEPALIVE == blocking.KEEPALIVE


@pytest.mark.parametrize("language", ["c", "node"])
def test_clients_of_other_languages_probe_after_five_seconds(language: str, tmp_path: Path) -> None:
    if language == "c":
        command = [compile_c(tmp_path / "driver", HERE / "c" / "driver.c")]
    else:
        command = [require_tool("node"), HERE / "node" / "driver.mjs"]
    with serving(answer_all) as server, driving(*command) as driver:
        assert driver.ask("open", "a", "127.0.0.1", str(server.port)) == "ok"
        driver.ask("ask", "a", PING.encode().hex())
        assert seconds_to_probe(server) <= 5
        driver.ask("close", "a")


def test_python_clients_set_all_options() -> None:
    with socket.socket() as connected:
        blocking.keep_alive(connected.setsockopt)
        found = {
            name: connected.getsockopt(socket.IPPROTO_TCP, getattr(socket, name))
            for name in blocking.KEEPALIVE
            if hasattr(socket, name)
        }
        assert connected.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
    assert found == {"TCP_KEEPIDLE": 5, "TCP_KEEPINTVL": 2, "TCP_KEEPCNT": 3, "TCP_USER_TIMEOUT": 10_000}
