"""Several clients of one daemon, by name: who plays the examples of ``PROTOCOL`` and the vectors."""

from __future__ import annotations

from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager
from pathlib import Path

import trio

from tests.helpers import Client

#: Longest that an example or a vector may take on a busy machine.
PATIENCE_SECONDS = 60


#: The client who comes by the operator's socket.
OPERATOR = "operator"


class NamedClients:
    """Clients that connect when they are first spoken of."""

    def __init__(self, port: int, socket: Path | None = None) -> None:
        self._port = port
        self._socket = socket
        self._clients: dict[Hashable, Client] = {}

    def has(self, name: Hashable) -> bool:
        """Whether this client is connected."""
        return name in self._clients

    async def client(self, name: Hashable) -> Client:
        """The client of that name."""
        if name not in self._clients:
            self._clients[name] = Client(await self._connect(name))
        return self._clients[name]

    async def _connect(self, name: Hashable) -> trio.SocketStream:
        if name == OPERATOR:
            assert self._socket is not None, "this daemon has no operator's socket"
            return await trio.open_unix_socket(str(self._socket))
        return await trio.open_tcp_stream("127.0.0.1", self._port)

    async def receive_body(self, name: Hashable) -> bytes:
        """The next reply to this client; there must be one."""
        body = await (await self.client(name)).receive_body()
        assert body is not None, "the daemon closed without a reply"
        return body

    async def expect_closed(self, name: Hashable) -> None:
        """The daemon closes this client's connection and sends nothing more."""
        assert await self._clients[name].closed(), "the daemon sent more than one reply"
        await self._clients.pop(name).aclose()

    async def leave(self) -> None:
        """Every client that is still connected has had all its replies, and says good-bye."""
        for name in list(self._clients):
            await self._clients[name].end()
            await self.expect_closed(name)

    async def aclose(self) -> None:
        """Close, whatever is under way."""
        for client in self._clients.values():
            await client.aclose()


@asynccontextmanager
async def named_clients(port: int, socket: Path | None = None) -> AsyncIterator[NamedClients]:
    """A cast whose connections are closed at the end, and who must be done in time.

    :param socket: the operator's.
    """
    cast = NamedClients(port, socket)
    try:
        with trio.fail_after(PATIENCE_SECONDS):
            yield cast
            await cast.leave()
    finally:
        await cast.aclose()
