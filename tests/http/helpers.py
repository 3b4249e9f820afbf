"""HTTP clients for tests: httpx for what any client does, bare sockets for what only a hostile client does."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import trio
from prometheus_client.parser import text_string_to_metric_families

from gmd.config import Config
from gmd.daemon import Daemon
from gmd.http.asgi import Application
from gmd.http.server import HttpServer
from gmd.net.memory_ledger import MemoryLedger, MemoryLimits
from gmd.net.proxies import Proxies
from gmd.net.send_timeout import SendTimeout
from gmd.play.limits import limits_of
from tests.helpers import running_daemon

#: Limits that clients of a daemon with default settings are shown, for tests of a port alone.
PORT_LIMITS = limits_of(Config(), local=True)

#: Key of a sample: its name and its labels.
Sample = tuple[str, frozenset[tuple[str, str]]]


@asynccontextmanager
async def http_daemon(**settings: Any) -> AsyncIterator[tuple[Daemon, httpx.AsyncClient]]:
    """Yield a daemon that serves HTTP, and a client of it."""
    async with (
        running_daemon(http=True, http_port=0, **settings) as daemon,
        http_client(daemon.http_port) as client,
    ):
        yield daemon, client


def http_client(port: int, **options: Any) -> httpx.AsyncClient:
    """Return a client of a port without TLS. Without ``verify`` it would read all of the system's certificates."""
    return httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False, verify=False, **options)


class Scrape:
    """The contents of ``/metrics`` at one time."""

    def __init__(self, text: str) -> None:
        self.types: dict[str, str] = {}
        self._samples: dict[Sample, float] = {}
        for family in text_string_to_metric_families(text):
            self.types[family.name] = family.type
            for sample in family.samples:
                self._samples[sample.name, frozenset(sample.labels.items())] = sample.value

    def value(self, name: str, **labels: str) -> float | None:
        """Return a sample's value, or None if there is none."""
        return self._samples.get((name, frozenset(labels.items())))

    def labelled(self, name: str) -> dict[tuple[str, ...], float]:
        """Return the nonzero samples of a name, by the values of their labels, in the order of the labels' names."""
        return {
            tuple(value for _, value in sorted(labels)): count
            for (found, labels), count in self._samples.items()
            if found == name and count
        }


async def scrape(client: httpx.AsyncClient) -> Scrape:
    """Return the current metrics."""
    response = await client.get("/metrics")
    assert response.status_code == 200
    return Scrape(response.text)


def ledger(limit: int) -> MemoryLedger:
    """Return a ledger under which connections may hold so many bytes, of one address or of all."""
    return MemoryLedger(MemoryLimits(total=limit, per_address=limit))


@asynccontextmanager
async def port_serving(
    app: Application, max_connections: int = 9, **settings: Any
) -> AsyncIterator[tuple[HttpServer, int]]:
    """Yield an HTTP server without a daemon, and the number of its port."""
    others = {"memory": ledger(1 << 30), "send_timeout": SendTimeout(30.0, 1.0), "proxies": Proxies(), **settings}
    server = HttpServer(app, PORT_LIMITS, max_connections, **others)
    listeners = await trio.open_tcp_listeners(0)
    async with trio.open_nursery() as connections, trio.open_nursery() as nursery:
        nursery.start_soon(server.run, listeners, connections)
        yield server, listeners[0].socket.getsockname()[1]
        nursery.cancel_scope.cancel()
        connections.cancel_scope.cancel()


async def open_http(daemon: Daemon) -> trio.SocketStream:
    """Return a bare connection to a daemon's HTTP port."""
    assert daemon.http_port is not None
    return await trio.open_tcp_stream("127.0.0.1", daemon.http_port)


async def leave(stream: trio.SocketStream, how: str) -> None:
    """Leave a connection: "close" it, "reset" it, or send no more, at "half" of it."""
    if how == "half":
        await stream.send_eof()
    elif how == "reset":
        stream.setsockopt(trio.socket.SOL_SOCKET, trio.socket.SO_LINGER, bytes.fromhex("0100000000000000"))
        stream.socket.close()
    else:
        await stream.aclose()


async def read_to_end(stream: trio.abc.ReceiveStream) -> bytes:
    """Return everything until the other side closes."""
    return b"".join([bytes(data) async for data in stream])
