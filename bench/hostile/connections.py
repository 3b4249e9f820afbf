"""Attacks by connections: many of them, halves of requests, replies that are not read."""

from __future__ import annotations

import random
import socket
import ssl
import time
from collections.abc import Iterator
from contextlib import suppress

from bench.load import HEADER, HELLO, READ_SIZE, frame, session

from .target import MOVES, Talk, Target, loaded_game, opened, read_what_is_there, send

PING = frame({"kind": "ping"})
MEBIBYTE = 1 << 20


def unread(target: Target) -> Iterator[None]:
    """Request replies on three hundred connections, and read only a little of them now and then."""
    game_id = Talk(target).patiently(kind="new_game", player_white=1, player_black=2)["game_id"]
    moves = [
        frame({"kind": "move", "player": 1 + ply % 2, "game_id": game_id, "move": MOVES[ply % 4]}) for ply in range(400)
    ]
    session(target.tcp, [HELLO, *moves], 64)
    request = frame({"kind": "state", "game_id": game_id}) * 64
    yield
    connections = opened(300, target, HELLO + request, small=True)
    while True:
        for connection in connections:
            with suppress(OSError):
                connection.recv(512)
            send(connection, request)
        time.sleep(0.2)


def slow_readers(target: Target) -> Iterator[None]:
    """Request long states on three thousand connections, and read 150 kB from each every 20 seconds."""
    game_id = loaded_game(Talk(target), 4_000)
    yield
    connections = opened(3_000, target, HELLO + frame({"kind": "state", "game_id": game_id}) * 1_280, small=True)
    while True:
        for connection in connections:
            with suppress(OSError):
                connection.recv(150_000)
        time.sleep(20.0)


def short_frames(target: Target) -> Iterator[None]:
    """Send two thousand frames of a mebibyte, each short by ten bytes."""
    size = MEBIBYTE - 16
    yield
    _fill(target, 2_000, HEADER.pack(size) + b" " * (size - 10))


def small_frames(target: Target) -> Iterator[None]:
    """Open as many connections as possible, each with a part of a frame that counts as small."""
    yield
    _fill(target, 9_900, HEADER.pack(20_000) + b" " * 19_990)


def half_bodies(target: Target) -> Iterator[None]:
    """Send HTTP requests on 990 connections, each with half of a large body."""
    lines = (
        "POST /api/users/ HTTP/1.1",
        "Host: x",
        "Content-Type: application/json",
        f"Content-Length: {MEBIBYTE}",
    )
    yield
    _fill(target, 990, "\r\n".join([*lines, "", ""]).encode() + b" " * (MEBIBYTE // 2), http=True)


def unread_responses(target: Target) -> Iterator[None]:
    """Send pipelined HTTP requests, and read no responses."""
    yield
    _fill(target, 990, b"GET /schema/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n" * 10_000, http=True)


def _fill(target: Target, size: int, data: bytes, *, http: bool = False) -> None:
    """Send the same data on so many connections, as far as they accept it, and replace those that are cut off."""
    sent = dict.fromkeys(opened(size, target, b"", http=http, small=True), 0)
    while True:
        sent |= dict.fromkeys(opened(min(10, size - len(sent)), target, b"", http=http, small=True), 0)
        for connection, done in list(sent.items()):
            try:
                sent[connection] += connection.send(data[done : done + READ_SIZE])
            except BlockingIOError:
                continue
            except OSError:
                connection.close()
                del sent[connection]
                continue
            if done == len(data) and not read_what_is_there(connection):
                del sent[connection]
        time.sleep(0.01)


def half_heads(target: Target) -> Iterator[None]:
    """Open a thousand HTTP connections with request heads that never end, and replace them every few seconds."""
    yield
    while True:
        connections = opened(1_000, target, b"GET /healthz HTTP/1.1\r\nHost: ", http=True)
        for _ in range(5):
            time.sleep(1.0)
            for connection in connections:
                send(connection, b"x")
        for connection in connections:
            connection.close()


def idle_sessions(target: Target) -> Iterator[None]:
    """Open ten thousand sessions that send a hello and nothing more."""
    yield
    connections = opened(10_000, target, HELLO)
    while connections:
        time.sleep(1.0)


def many_addresses(target: Target) -> Iterator[None]:
    """Send a ping from each of 9,000 addresses at the same moment, again and again."""
    connections = []
    for number in range(9_000):
        with suppress(OSError):
            connections.append(target.connect_from(f"127.1.{number // 200}.{1 + number % 200}"))
            send(connections[-1], HELLO)
    yield
    while True:
        for connection in connections:
            read_what_is_there(connection)
            send(connection, PING)
        time.sleep(0.5)


def tls_pipelines(target: Target) -> Iterator[None]:
    """Send pipelined HTTP requests without pause on a hundred connections under TLS."""
    connections = [_under_tls(target.connect(number, http=True)) for number in range(100)]
    yield
    while True:
        for connection in connections:
            with suppress(OSError):
                connection.recv(READ_SIZE)
            send(connection, b"GET /api/version HTTP/1.1\r\nHost: x\r\n\r\n" * 300)
        time.sleep(0.001)


def tls_unread(target: Target) -> Iterator[None]:
    """Send pipelined HTTP requests on four thousand connections under TLS, and read no responses."""
    request = b"GET /schema/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n" * 300
    yield
    connections: list[ssl.SSLSocket] = []
    while True:
        with suppress(OSError):
            connection = _under_tls(target.connect(len(connections), http=True, small=True))
            send(connection, request)
            connections.append(connection)
        if len(connections) > 4_000:
            connections.pop(0).close()


def _under_tls(connection: socket.socket) -> ssl.SSLSocket:
    """Begin TLS on a connection, which then does not block."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    secured = context.wrap_socket(connection)
    secured.setblocking(False)
    return secured


def chunks(target: Target) -> Iterator[None]:
    """Send HTTP bodies in chunks of one byte, on twenty connections."""
    head = b"POST /api/users/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    yield
    connections: list[socket.socket] = []
    while True:
        connections += opened(20 - len(connections), target, head, http=True)
        for connection in list(connections):
            try:
                connection.send(b"1\r\nx\r\n" * 10_000)
            except BlockingIOError:
                pass
            except OSError:
                connection.close()
                connections.remove(connection)
        time.sleep(0.01)


def churn(target: Target) -> Iterator[None]:
    """Open connections and close them at once, in the middle of a frame."""
    yield
    while True:
        for connection in opened(100, target, b"\0\0\0\7"):
            connection.close()


def junk(target: Target) -> Iterator[None]:
    """Send frames of random bytes, and of JSON that is deep, long or not a request."""
    rng = random.Random(0)
    texts = [b"[" * 5_000, b'{"kind": "' + b"x" * 100_000 + b'"}', b'{"kind":"state","game_id":' + b"9" * 4_000 + b"}"]
    yield
    while True:
        body = rng.choice([rng.randbytes(rng.randrange(2_000)), *texts])
        with suppress(OSError), target.connect(rng.randrange(4)) as connection:
            connection.sendall((HELLO + HEADER.pack(len(body)) + body) * 3)
            connection.recv(READ_SIZE)
