"""Both Python clients behind one blocking interface, and servers that answer them by a script."""

from __future__ import annotations

import inspect
import json
import queue
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from socket import SO_LINGER, SOL_SOCKET
from typing import Any

import trio

from gm_client import blocking, trio_client
from tests.clients.running import PATIENCE
from tests.clients.scripted import Peer, ScriptedServer, serving

Json = dict[str, Any]

HELLO: Json = {
    "protocol": 2,
    "server": "scripted/1",
    "kinds": ["hello", "ping"],
    "player": None,
    "limits": {"max_message": 1 << 20, "max_wait_seconds": 60},
    "error": None,
}
OK: Json = {"error": None}


def framed(reply: Json) -> bytes:
    """Return a reply with its header."""
    body = json.dumps(reply).encode()
    return struct.pack(">i", len(body)) + body


class JsonPeer:
    """The server's end of one connection, in JSON."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer

    def read(self) -> Json | None:
        """Return the next request, or None if the client has gone."""
        try:
            body = self._peer.read()
        except ConnectionError:
            return None
        return None if body is None else json.loads(body)

    def greet(self, reply: Json = HELLO) -> Json | None:
        """Read a hello, answer it, and return it."""
        request = self.read()
        self.write(reply)
        return request

    def expect(self, *requests: Json) -> None:
        for request in requests:
            assert self.read() == request

    def write(self, *replies: Json) -> None:
        self._peer.write(*(json.dumps(reply).encode() for reply in replies))

    def write_bytes(self, data: bytes) -> None:
        self._peer.connection.sendall(data)

    def reset(self) -> None:
        """Reset the connection without a shutdown, unless it is closed."""
        if self._peer.connection.fileno() < 0:
            return
        self._peer.connection.setsockopt(SOL_SOCKET, SO_LINGER, struct.pack("ii", 1, 0))
        self._peer.close()


Dialogue = Callable[[JsonPeer], object]


@contextmanager
def dialogues(*scripts: Dialogue) -> Iterator[ScriptedServer]:
    """Yield a server with one script for each connection in turn; it closes further connections at once."""
    faults: list[BaseException] = []
    remaining = list(scripts)

    def script(peer: Peer, _: list[bytes]) -> None:
        if not remaining:
            return
        try:
            remaining.pop(0)(JsonPeer(peer))
        except BaseException as fault:
            faults.append(fault)

    with serving(script) as server:
        try:
            yield server
        finally:
            if faults:
                raise faults[0]
    assert not remaining, "the client has not connected as often as it should"


class OnTrio:
    """Wrapper that makes the methods of a trio object block."""

    def __init__(self, what: Any, token: trio.lowlevel.TrioToken) -> None:
        self._what, self._token = what, token

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._what, name)
        return partial(self._call, value) if callable(value) else value

    def _call(self, function: Callable[..., Any], *arguments: Any, **fields: Any) -> Any:
        async def run() -> Any:
            result = function(*arguments, **fields)
            return await result if inspect.isawaitable(result) else result

        result = trio.from_thread.run(run, trio_token=self._token)
        return OnTrio(result, self._token) if isinstance(result, trio_client.Turns | trio_client.Turn) else result

    def __iter__(self) -> OnTrio:
        return self

    def __next__(self) -> Any:
        try:
            return self._call(self._what.__anext__)
        except StopAsyncIteration:
            raise StopIteration from None


@contextmanager
def trio_in_a_thread() -> Iterator[trio.lowlevel.TrioToken]:
    """Yield the token of an event loop for :class:`OnTrio`."""
    tokens: queue.Queue[tuple[trio.lowlevel.TrioToken, trio.Event]] = queue.Queue()

    async def main() -> None:
        end = trio.Event()
        tokens.put((trio.lowlevel.current_trio_token(), end))
        await end.wait()

    thread = threading.Thread(target=trio.run, args=(main,))
    thread.start()
    token, end = tokens.get(timeout=PATIENCE)
    try:
        yield token
    finally:
        trio.from_thread.run_sync(end.set, trio_token=token)
        thread.join(PATIENCE)


class Clients:
    """Factory of clients of one kind."""

    def __init__(self, token: trio.lowlevel.TrioToken | None) -> None:
        self._token = token
        self._made: list[Any] = []

    @property
    def on_trio(self) -> bool:
        return self._token is not None

    def connect(self, port: int, **options: Any) -> Any:
        """Return a connected client."""
        client = self.unconnected(port, **options)
        client.open()
        return client

    def unconnected(self, port: int, **options: Any) -> Any:
        """Return a client that connects at its first request."""
        options = {"patience": 10.0, **options}
        if self._token is None:
            client: Any = blocking.Client(port=port, **options)
        else:
            client = OnTrio(trio_client.Client(port=port, **options), self._token)
        self._made.append(client)
        return client

    def close(self, client: Any) -> None:
        client.aclose() if self.on_trio else client.close()

    def close_all(self) -> None:
        for client in self._made:
            self.close(client)
