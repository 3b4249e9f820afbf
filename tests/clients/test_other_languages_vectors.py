"""The clients for C, Node and Python play the vectors against the daemon."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import trio

from tests.clients.other_languages import Driver, compile_c, driving
from tests.conformance.script import compact
from tests.conformance.vectors import Vector, read_vectors, without
from tests.helpers import running_daemon
from tests.tools import require_tool

HERE = Path(__file__).parent


def playable(vector: Vector) -> bool:
    """Return whether a client can play a vector: it sends objects only, and speaks first."""
    return vector.live and all(isinstance(exchange.request, dict) for exchange in vector.exchanges)


VECTORS = [
    pytest.param(vector, id=f"{file}: {vector.name}")
    for file, vectors in read_vectors().items()
    for vector in vectors
    if playable(vector)
]


@pytest.fixture(scope="module", params=["c", "node", "python", "python-trio"])
def driver(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driver]:
    command: list[str | Path]
    match request.param:
        case "node":
            command = [require_tool("node"), HERE / "node" / "driver.mjs"]
        case "c":
            command = [compile_c(tmp_path_factory.mktemp("c") / "driver", HERE / "c" / "driver.c")]
        case "python":
            command = [sys.executable, HERE / "python" / "driver.py", "blocking"]
        case "python-trio":
            command = [sys.executable, HERE / "python" / "driver.py", "trio"]
    with driving(*command) as running:
        yield running


@pytest.mark.parametrize("vector", VECTORS)
async def test_client_gets_the_replies_of_the_vector(driver: Driver, vector: Vector) -> None:
    async with running_daemon(**vector.server) as daemon:
        await trio.to_thread.run_sync(_play, driver, vector, str(daemon.port))


def _play(driver: Driver, vector: Vector, port: str) -> None:
    """Play a vector, opening each connection at its first use."""
    names: dict[int, str] = {}
    for exchange in vector.exchanges:
        if exchange.connection not in names:
            names[exchange.connection] = str(len(names) % 10)
            assert driver.ask("open", names[exchange.connection], "127.0.0.1", port) == "ok"
        name = names[exchange.connection]
        answer = driver.ask("ask", name, compact(exchange.request).encode().hex())
        reply = json.loads(bytes.fromhex(answer))
        assert without(reply, exchange.volatile) == without(exchange.reply, exchange.volatile)
        if exchange.closes:
            assert driver.ask("close", name) == "ok"
    for name in names.values():  # otherwise the daemon would wait for these connections to end
        driver.ask("close", name)


def test_most_vectors_are_playable() -> None:
    assert len(VECTORS) > 60
