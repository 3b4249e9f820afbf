"""The vectors, played by the clients for C and Node against the daemon."""

from __future__ import annotations

import json
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
    """Whether a client could have had that: it sends objects, and speaks first."""
    return vector.live and all(isinstance(exchange.request, dict) for exchange in vector.exchanges)


VECTORS = [
    pytest.param(vector, id=f"{file}: {vector.name}")
    for file, vectors in read_vectors().items()
    for vector in vectors
    if playable(vector)
]


@pytest.fixture(scope="module", params=["c", "node"])
def driver(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driver]:
    command: list[str | Path] = [HERE / "node" / "driver.mjs"]
    if request.param == "node":
        command.insert(0, require_tool("node"))
    else:
        command = [compile_c(tmp_path_factory.mktemp("c") / "driver", HERE / "c" / "driver.c")]
    with driving(*command) as running:
        yield running


@pytest.mark.parametrize("vector", VECTORS)
async def test_a_vector_is_answered_as_it_says(driver: Driver, vector: Vector) -> None:
    async with running_daemon(**vector.server) as daemon:
        await trio.to_thread.run_sync(_play, driver, vector, str(daemon.port))


def _play(driver: Driver, vector: Vector, port: str) -> None:
    """Play a vector: connections are opened as they are first spoken of."""
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
    for name in names.values():  # or the daemon would wait for them to take their leave
        driver.ask("close", name)


def test_most_vectors_are_played() -> None:
    assert len(VECTORS) > 60
