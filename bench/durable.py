"""Moves a second with every reply durable, against the same with games in memory."""

from __future__ import annotations

import json
import selectors
import socket
import tempfile
import time
from collections.abc import Iterator
from itertools import cycle
from statistics import median

from . import servers
from .load import HEADER, HELLO, NEW_GAME, READ_SIZE, Address, move, one_shot

SHUFFLE = ("Nf3", "Nf6", "Ng1", "Ng8")
#: Moves of one game in a run: it must not reach the length at which games end.
LONGEST = 5_000
#: How many games are played at once, and how the rates are to compare there.
AT_ONCE: dict[int, float | None] = {1: None, 16: None, 256: 0.95}


def measure(moves: int, rounds: int) -> None:
    """Print a line for each number of games: medians, and the median of the ratios pair by pair.

    :param moves: moves a run.
    """
    print(f"{'games at once':24}{'durable/s':>10}{'memory/s':>10}{'ratio':>8}{'aim':>7}")
    for games, aim in AT_ONCE.items():
        pairs = [_pair(games, moves) for _ in range(rounds)]
        ratio = median(durable / memory for durable, memory in pairs)
        durable, memory = (median(pair[kind] for pair in pairs) for kind in (0, 1))
        print(f"{games:<24}{durable:>10,.0f}{memory:>10,.0f}{ratio:>8.2f}{'' if aim is None else f'{aim:>7.2f}'}")


def _pair(games: int, moves: int) -> tuple[float, float]:
    """Moves a second on disk, and in memory."""
    with tempfile.TemporaryDirectory(prefix="gmd-bench-") as directory:
        rates = []
        for data in (directory, ":memory:"):
            with servers.gmd(data) as server:
                _play(server.address, games, games * 20)
                rates.append(_play(server.address, games, min(moves, games * LONGEST)))
        return rates[0], rates[1]


def _play(address: Address, games: int, moves: int) -> float:
    """Play games side by side, each over a connection of its own, with one request under way; moves a second."""
    first_id = 1 + _newest(address)
    one_shot(address, [iter([NEW_GAME]) for _ in range(games)], 1)
    players = [_Player(address, _moves(first_id + number)) for number in range(games)]
    selector = selectors.DefaultSelector()
    for player in players:
        selector.register(player.connection, selectors.EVENT_READ, player)
    begun, answered = time.perf_counter(), 0
    for player in players:
        player.send()
    while answered < moves:
        for key, _ in selector.select():
            answered += key.data.answered()
    seconds = time.perf_counter() - begun
    for player in players:
        player.connection.close()
    return answered / seconds


class _Player:
    """Both sides of one game."""

    def __init__(self, address: Address, frames: Iterator[bytes]) -> None:
        self.connection = socket.create_connection(address)
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._frames = frames
        self._buffer = bytearray()
        self.connection.sendall(HELLO)
        while not self._whole():
            self._buffer += self.connection.recv(READ_SIZE)
        self._buffer.clear()

    def send(self) -> None:
        """Make the next move."""
        self.connection.sendall(next(self._frames))

    def answered(self) -> bool:
        """Read; where that was the rest of a reply, make the next move."""
        self._buffer += self.connection.recv(READ_SIZE)
        if not self._whole():
            return False
        self._buffer.clear()
        self.send()
        return True

    def _whole(self) -> bool:
        size = len(self._buffer)
        return size >= HEADER.size and size == HEADER.size + HEADER.unpack_from(self._buffer)[0]


def _newest(address: Address) -> int:
    """The highest id of a game, found by making one."""
    with socket.create_connection(address) as connection:
        connection.sendall(NEW_GAME)
        received = b"".join(iter(lambda: connection.recv(READ_SIZE), b""))
    game_id: int = json.loads(received[HEADER.size :])["game_id"]
    return game_id


def _moves(game_id: int) -> Iterator[bytes]:
    """Knights out and home again, for ever: the server has seen all of it before."""
    for ply, text in enumerate(cycle(SHUFFLE)):
        yield move(game_id, ply, text)
