"""Servers that do what a daemon would not, or that record what a client sends."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import BinaryIO

from tests.clients.running import OK, PATIENCE


class Peer:
    """The server's end of one connection."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self._file: BinaryIO = connection.makefile("rb")

    def read(self) -> bytes | None:
        """Return the bytes of the next request, or None if the client has ended the session."""
        header = self._file.read(4)
        if not header:
            return None
        return self._file.read(struct.unpack(">i", header)[0])

    def write(self, *bodies: bytes) -> None:
        self.connection.sendall(b"".join(struct.pack(">i", len(body)) + body for body in bodies))

    def close(self) -> None:
        self._file.close()
        self.connection.close()


@dataclass
class ScriptedServer:
    """A server that accepts one connection after the other and keeps the requests of each."""

    host: str
    port: int
    sessions: list[list[bytes]] = field(default_factory=list)


Script = Callable[[Peer, list[bytes]], None]


@contextmanager
def serving(script: Script) -> Iterator[ScriptedServer]:
    """Yield a server that runs ``script`` on each connection in turn, in its own thread."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = ScriptedServer(*listener.getsockname())

    def serve() -> None:
        while True:
            connection, _ = listener.accept()
            peer = Peer(connection)
            if server_ends.is_set():
                return peer.close()
            server.sessions.append([])
            script(peer, server.sessions[-1])
            peer.close()

    server_ends = threading.Event()
    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield server
    finally:
        server_ends.set()
        socket.create_connection((server.host, server.port)).close()
        thread.join(PATIENCE)
        listener.close()
    assert not thread.is_alive()


def answer_all(peer: Peer, requests: list[bytes]) -> None:
    """Answer every request alike until the client ends the session."""
    while (request := peer.read()) is not None:
        requests.append(request)
        peer.write(OK)


def answer_once(*bodies: bytes) -> Script:
    """Return a script that answers the first request with ``bodies`` and then closes."""

    def script(peer: Peer, requests: list[bytes]) -> None:
        requests.append(peer.read() or b"")
        peer.write(*bodies)

    return script
