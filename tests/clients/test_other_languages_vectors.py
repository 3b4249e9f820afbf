"""The clients for C and Node play the vectors against the daemon."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import trio

from tests.clients.other_languages import Driver, driving
from tests.clients.sessions import driver_of
from tests.conformance.script import compact
from tests.conformance.vectors import Vector, read_vectors, without
from tests.helpers import running_daemon

pytestmark = pytest.mark.slow


def playable(vector: Vector) -> bool:
    """Return whether a client can play a vector: it sends objects only, and speaks first."""
    return vector.live and all(isinstance(exchange.request, dict) for exchange in vector.exchanges)


@pytest.mark.parametrize("client", ["c", "node"])
async def test_client_gets_the_replies_of_the_vectors(client: str, compiled: Path) -> None:
    vectors = [vector for of_file in read_vectors().values() for vector in of_file if playable(vector)]
    assert len(vectors) > 60
    with driving(*driver_of(client, compiled)) as driver:
        for vector in vectors:
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
        assert without(reply, exchange.volatile) == without(exchange.reply, exchange.volatile), vector.name
        if exchange.closes:
            assert driver.ask("close", name) == "ok"
    for name in names.values():  # otherwise the daemon would wait for these connections to end
        driver.ask("close", name)
