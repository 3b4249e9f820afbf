"""Concurrent clients, each of which continues as soon as it has its replies: one process, one selector.

A game begins with its own request, whose reply has the id that the moves need.
"""

from __future__ import annotations

import re
import selectors
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from .load import HELLO, NEW_GAME, READ_SIZE, Address, Measured, connect, count_frames, move, some

_GAME_ID = re.compile(rb'"game_id":(\d+)')


class Client(Protocol):
    """A client that plays games until there are no more.

    :ivar socket: its connection.
    :ivar replies: the number of replies received; ``reply_bytes`` is their size.
    """

    socket: socket.socket
    replies: int
    reply_bytes: int

    def begin(self) -> bool:
        """Send the first request of a game; return False if there is no game left."""

    def read(self) -> bool:
        """Read what has arrived and send the next requests, if needed on a new connection; return False at the end."""


#: Creates a client from a server's address and the games that all clients share.
MakeClient = Callable[[Address, Iterator[list[str]]], Client]


def play(make: MakeClient, number: int, address: Address, games: Sequence[list[str]]) -> Measured:
    """Let so many clients play games until all are done."""
    shared = iter(games)
    clients = [make(address, shared) for _ in range(number)]
    begun = time.perf_counter()
    with selectors.DefaultSelector() as selector:
        for client in clients:
            if client.begin():
                selector.register(client.socket, selectors.EVENT_READ, client)
        while selector.get_map():
            for key, _ in selector.select():
                _serve(selector, key.data)
    seconds = time.perf_counter() - begun
    return Measured(sum(each.replies for each in clients), seconds, sum(each.reply_bytes for each in clients))


def _serve(selector: selectors.BaseSelector, client: Client) -> None:
    connection = client.socket
    goes_on = client.read()
    if goes_on and client.socket is connection:
        return
    selector.unregister(connection)
    connection.close()
    if goes_on:
        selector.register(client.socket, selectors.EVENT_READ, client)


class Session:
    """A client with one connection, which sends all moves of a game in one write."""

    #: The most moves in one write.
    window = 1 << 30

    def __init__(self, address: Address, games: Iterator[list[str]]) -> None:
        self.socket = connect(address)
        self.replies = self.reply_bytes = 0
        self._games = games
        self._awaited = 0
        self._buffer = bytearray()
        self._moves: list[str] = []  # of the game that was just requested
        self._later: list[bytes] = []  # the next frame last
        self.socket.sendall(HELLO)
        while not count_frames(self._buffer)[0]:
            self._buffer += some(self.socket)
        self._buffer.clear()

    def begin(self) -> bool:
        moves = next(self._games, None)
        if moves is None:
            return False
        self._moves = moves
        self._send([NEW_GAME])
        return True

    def read(self) -> bool:
        self._buffer += some(self.socket)
        frames, size = count_frames(self._buffer)
        if frames < self._awaited:
            return True
        self.replies += frames
        self.reply_bytes += size
        _check(self._buffer)
        if self._moves:
            game_id = _game_id(self._buffer)
            self._later = [move(game_id, ply, text) for ply, text in enumerate(self._moves)][::-1]
            self._moves = []
        self._buffer.clear()
        if not self._later:
            return self.begin()
        self._send([self._later.pop() for _ in range(min(self.window, len(self._later)))])
        return True

    def _send(self, frames: list[bytes]) -> None:
        self._awaited = len(frames)
        self.socket.sendall(b"".join(frames))


class OneByOne(Session):
    """A client with one connection, which makes a move once it has the reply to the previous one."""

    window = 1


class Version1:
    """A client that opens a connection for each request."""

    def __init__(self, address: Address, games: Iterator[list[str]]) -> None:
        self.socket = socket.socket()
        self.replies = self.reply_bytes = 0
        self._address = address
        self._games = games
        self._moves: Iterator[tuple[int, str]] = iter(())
        self._game_id: int | None = None
        self._buffer = bytearray()

    def begin(self) -> bool:
        moves = next(self._games, None)
        if moves is None:
            return False
        self._moves = enumerate(moves)
        self._game_id = None
        self._send(NEW_GAME)
        return True

    def read(self) -> bool:
        data = self.socket.recv(READ_SIZE)
        self._buffer += data
        if data and not count_frames(self._buffer)[0]:
            return True
        if data and self.socket.recv(READ_SIZE):  # a version 1 session ends with its reply
            raise ConnectionError("the server sent more than one reply")
        self.replies += 1
        self.reply_bytes += len(self._buffer)
        _check(self._buffer)
        if self._game_id is None:
            self._game_id = _game_id(self._buffer)
        self._buffer.clear()
        ahead = next(self._moves, None)
        if ahead is None:
            return self.begin()
        self._send(move(self._game_id, *ahead))
        return True

    def _send(self, request: bytes) -> None:
        self.socket = socket.create_connection(self._address)
        self.socket.sendall(request)


def _check(reply: bytearray) -> None:
    """Check that nothing was refused, because a refusal would be quick."""
    if b'"error":"' in reply:
        raise RuntimeError(f"the server refused a request: {reply[-300:].decode()}")


def _game_id(reply: bytearray) -> int:
    """Return the id in the reply to ``new_game``; 1 if there is none, as with the echo server."""
    found = _GAME_ID.search(reply)
    return 1 if found is None else int(found[1])
