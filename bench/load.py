"""The load: blocking sockets and prepared bytes, so that the server is measured and not the client."""

from __future__ import annotations

import json
import socket
import struct
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

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


def move(game_id: int, ply: int, text: str, players: tuple[int, int] = (1, 2)) -> bytes:
    """Return the frame of a move.

    :param players: White and Black.
    """
    return frame({"kind": "move", "player": players[ply % 2], "game_id": game_id, "move": text})


def session(address: Address, frames: Sequence[bytes], window: int) -> Measured:
    """Send frames in one session, with up to ``window`` requests unanswered."""
    with socket.create_connection(address) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
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


def latencies(address: Address, frames: Sequence[bytes]) -> list[float]:
    """Return the seconds to each reply, with one request at a time in one session."""
    times: list[float] = []
    with socket.create_connection(address) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for request in frames:
            begun = time.perf_counter()
            connection.sendall(request)
            buffer = bytearray()
            while not count_frames(buffer)[0]:
                buffer += some(connection)
            times.append(time.perf_counter() - begun)
    return times


def some(connection: socket.socket) -> bytes:
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
