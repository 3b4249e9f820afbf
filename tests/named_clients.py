"""Several clients of one daemon, known by name: they play the examples of ``PROTOCOL`` and the vectors."""

from __future__ import annotations

from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager
from pathlib import Path

import trio

from tests.helpers import Client

#: The longest that an example or a vector may take on a busy machine.
PATIENCE_SECONDS = 60


#: The name of the client that connects to the operator's socket.
OPERATOR = "operator"


class NamedClients:
    """Clients that connect when they are first named."""

    def __init__(self, port: int, socket: Path | None = None) -> None:
        self._port = port
        self._socket = socket
        self._clients: dict[Hashable, Client] = {}

    def has(self, name: Hashable) -> bool:
        """Return whether this client is connected."""
        return name in self._clients

    async def client(self, name: Hashable) -> Client:
        """Return the client of that name, connecting it first if need be."""
        if name not in self._clients:
            self._clients[name] = Client(await self._connect(name))
        return self._clients[name]

    async def _connect(self, name: Hashable) -> trio.SocketStream:
        if name == OPERATOR:
            assert self._socket is not None, "this daemon has no operator's socket"
            return await trio.open_unix_socket(str(self._socket))
        return await trio.open_tcp_stream("127.0.0.1", self._port)

    async def receive_body(self, name: Hashable) -> bytes:
        """Return the next reply to this client; there must be one."""
        body = await (await self.client(name)).receive_body()
        assert body is not None, "the daemon closed without a reply"
        return body

    async def expect_closed(self, name: Hashable) -> None:
        """Assert that the daemon closes this client's connection and sends nothing more."""
        assert await self._clients[name].closed(), "the daemon sent more than one reply"
        await self._clients.pop(name).aclose()

    async def leave(self) -> None:
        """End every client that is still connected; each must have received all its replies."""
        for name in list(self._clients):
            await self._clients[name].end()
            await self.expect_closed(name)

    async def aclose(self) -> None:
        """Close at once, even while something is in progress."""
        for client in self._clients.values():
            await client.aclose()


@asynccontextmanager
async def named_clients(port: int, socket: Path | None = None) -> AsyncIterator[NamedClients]:
    """Yield clients whose connections are closed at the end; they must be done within the time limit.

    :param socket: the operator's.
    """
    clients = NamedClients(port, socket)
    try:
        with trio.fail_after(PATIENCE_SECONDS):
            yield clients
            await clients.leave()
    finally:
        await clients.aclose()
