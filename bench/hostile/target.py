"""A daemon under attack, as an attacker sees it: its two ports, and the attacker's source addresses."""

from __future__ import annotations

import json
import os
import resource
import socket
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from bench.load import HEADER, HELLO, READ_SIZE, Address, frame

#: The source addresses of attacks: the few addresses of one attacker, none of which is an honest bot's.
SOURCES = ("127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5")
#: Knights that move out and back, without end.
MOVES = ("g1f3", "g8f6", "f3g1", "f6g8")
#: Seconds that an attacker waits for a reply that it wants.
PATIENCE = 30.0


class Target(NamedTuple):
    """The daemon's ports."""

    tcp: Address
    http: Address

    def connect(self, number: int = 0, *, http: bool = False, small: bool = False) -> socket.socket:
        """Open a new connection.

        :param number: the index of its source address, modulo their number.
        :param small: whether its receive buffer is as small as possible, for replies that are not read.
        """
        return _connected(self.http if http else self.tcp, SOURCES[number % len(SOURCES)], 4_096 if small else None)

    def connect_from(self, source: str) -> socket.socket:
        """Open a new connection from an address of this machine, which does not block."""
        connection = _connected(self.tcp, source, None)
        connection.setblocking(False)
        return connection


def _connected(address: Address, source: str, receive_buffer: int | None) -> socket.socket:
    connection = socket.socket()
    connection.settimeout(PATIENCE)
    if receive_buffer is not None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    connection.bind((source, 0))
    connection.connect(address)
    return connection


class Talk:
    """A session that sends requests and reads replies; it reconnects after it was cut off."""

    def __init__(self, target: Target, number: int = 0) -> None:
        self._target, self._number = target, number
        self._socket: socket.socket | None = None

    def ask(self, **request: Any) -> dict[str, Any]:
        """Send a request and return its reply; an empty one if the connection was lost."""
        return self.ask_all([request])[0]

    def ask_all(self, requests: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Send requests in one write and return their replies; empty ones if the connection was lost."""
        try:
            if self._socket is None:
                self._socket = self._target.connect(self._number)
                self._exchange([HELLO])
            return self._exchange([frame(request) for request in requests])
        except OSError:
            self.close()
            return [{} for _ in requests]

    def patiently(self, **request: Any) -> dict[str, Any]:
        """Retry a request while the reply is ``too_many``, up to 20 times; return the last reply."""
        for _ in range(20):
            reply = self.ask(**request)
            if reply.get("code") != "too_many":
                break
            time.sleep(min(1.0, reply.get("retry_after") or 0.1))
        return reply

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _exchange(self, frames: Sequence[bytes]) -> list[dict[str, Any]]:
        assert self._socket is not None
        self._socket.sendall(b"".join(frames))
        return [json.loads(self._read(*HEADER.unpack(self._read(HEADER.size)))) for _ in frames]

    def _read(self, size: int) -> bytes:
        assert self._socket is not None
        data = bytearray()
        while len(data) < size:
            if not (more := self._socket.recv(min(size - len(data), 1 << 18))):
                raise ConnectionError("cut off")
            data += more
        return bytes(data)


def opened(count: int, target: Target, first: bytes, *, http: bool = False, small: bool = False) -> list[socket.socket]:
    """Open connections and send data on each; return those that could be opened."""
    connections: list[socket.socket] = []
    for number in range(count):
        with suppress(OSError):
            connections.append(target.connect(number, http=http, small=small))
            connections[-1].setblocking(False)
            connections[-1].send(first)
    return connections


def send(connection: socket.socket, data: bytes) -> int:
    """Send as much as possible without blocking; return the number of bytes."""
    with suppress(OSError):
        return connection.send(data)
    return 0


def read_what_is_there(connection: socket.socket) -> bool:
    """Read all that has arrived; return False if the connection has ended."""
    try:
        while connection.recv(READ_SIZE):
            pass
    except BlockingIOError:
        return True
    except OSError:
        pass
    connection.close()
    return False


def loaded_game(talk: Talk, plies: int) -> int:
    """Create a game with so many plies, and return its id."""
    pgn = "Nf3 Nf6 Ng1 Ng8 " * (plies // 4)
    made = talk.patiently(kind="game_from_pgn", player_white=1, player_black=2, pgn=pgn, brief=True)
    game_id: int = made["game_id"]
    return game_id


def raise_limits() -> None:
    """Raise the limit of descriptors as far as allowed, and lower the priority of this process."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    os.nice(5)  # a real attacker has its own machines, so it should not take this machine's processors
