"""The load: blocking sockets and prepared bytes, so that the server is measured and not the client."""

from __future__ import annotations

import json
import socket
import struct
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

HEADER = struct.Struct(">i")
READ_SIZE = 1 << 18

Address = tuple[str, int]


@dataclass
class Measured:
    """The result of a run."""

    replies: int
    seconds: float
    reply_bytes: int

    @property
    def rate(self) -> float:
        """Replies a second."""
        return self.replies / self.seconds

    @property
    def mean_bytes(self) -> int:
        """The mean size of a reply in bytes, without its header."""
        return self.reply_bytes // self.replies - HEADER.size


def frame(request: dict[str, object]) -> bytes:
    """Return the frame of a request, as bytes."""
    body = json.dumps(request, separators=(",", ":")).encode()
    return HEADER.pack(len(body)) + body


HELLO = frame({"kind": "hello", "protocol": 2})
NEW_GAME = frame({"kind": "new_game", "player_white": 1, "player_black": 2})


def move(game_id: int, ply: int, text: str) -> bytes:
    """Return the frame of a move of player 1 or 2."""
    return frame({"kind": "move", "player": 1 + ply % 2, "game_id": game_id, "move": text})


def connect(address: Address) -> socket.socket:
    """Return a new connection that sends small frames at once."""
    connection = socket.create_connection(address)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


class Connection:
    """A connection from which whole replies are read, of the game protocol or of HTTP."""

    def __init__(self, address: Address) -> None:
        self._socket = connect(address)
        self._file = self._socket.makefile("rb")

    def fileno(self) -> int:
        """Return the number by which a selector knows it."""
        return self._socket.fileno()

    def send(self, data: bytes) -> None:
        """Send frames, or a part of an HTTP request."""
        self._socket.sendall(data)

    def ask(self, kind: str, **fields: object) -> Any:
        """Send a request and return its reply, which must not be an error."""
        self.send(frame({"kind": kind, **fields}))
        return self.reply()

    def reply(self) -> Any:
        """Read the next reply of the game protocol, which must not be an error."""
        reply = json.loads(self._file.read(HEADER.unpack(self._file.read(HEADER.size))[0]))
        assert reply["error"] is None, reply
        return reply

    def response(self) -> None:
        """Read the next HTTP response, which must have the status 200."""
        status, length = self._file.readline(), 0
        while (line := self._file.readline()) != b"\r\n":
            if line.lower().startswith(b"content-length:"):
                length = int(line.partition(b":")[2])
        body = self._file.read(length)
        assert b" 200 " in status, body

    def close(self) -> None:
        """Disconnect."""
        self._file.close()
        self._socket.close()


def session(address: Address, frames: Sequence[bytes], window: int) -> Measured:
    """Send frames in one session, with up to ``window`` requests unanswered."""
    with connect(address) as connection:
        begun = time.perf_counter()
        sent = answered = received = 0
        buffer = bytearray()
        while answered < len(frames):
            if sent < len(frames) and sent - answered <= window // 2:
                more = min(len(frames), answered + window)
                connection.sendall(b"".join(frames[sent:more]))
                sent = more
            buffer += some(connection)
            count, used = count_frames(buffer)
            del buffer[:used]
            answered += count
            received += used
        return Measured(answered, time.perf_counter() - begun, received)


def one_shot(address: Address, games: Iterable[Iterator[bytes]], at_once: int) -> Measured:
    """Send each request on its own connection, ``at_once`` of them open; each game has one request under way."""
    begun = time.perf_counter()
    replies = received = 0
    waiting = iter(games)
    playing = [game for _, game in zip(range(at_once), waiting, strict=False)]
    while playing:
        opened = []
        for game in playing:
            request = next(game, None)
            if request is None:
                game = next(waiting, iter(()))
                request = next(game, None)
            if request is not None:
                connection = socket.create_connection(address)
                connection.sendall(request)
                opened.append((game, connection))
        for _, connection in opened:
            received += _all(connection)
            replies += 1
        playing = [game for game, _ in opened]
    return Measured(replies, time.perf_counter() - begun, received)


def some(connection: socket.socket) -> bytes:
    """Read what has arrived, or wait for it."""
    data = connection.recv(READ_SIZE)
    if not data:
        raise ConnectionError("the server closed in the middle of the benchmark")
    return data


def _all(connection: socket.socket) -> int:
    """Read to the end, and return the number of bytes."""
    received = 0
    with connection:
        while data := connection.recv(READ_SIZE):
            received += len(data)
    return received


def count_frames(buffer: bytearray) -> tuple[int, int]:
    """Return the number of whole frames in a buffer, and their size in bytes."""
    count = at = 0
    while at + HEADER.size <= len(buffer):
        end = at + HEADER.size + HEADER.unpack_from(buffer, at)[0]
        if end > len(buffer):
            break
        count, at = count + 1, end
    return count, at
