"""Moves a second with every reply durable, compared with games in memory."""

from __future__ import annotations

import json
import selectors
import socket
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import cycle
from statistics import median
from typing import NamedTuple

from . import servers
from .load import HEADER, HELLO, NEW_GAME, READ_SIZE, Address, move, one_shot

SHUFFLE = ("Nf3", "Nf6", "Ng1", "Ng8")
#: Most moves of one game in a run, below the length at which games end.
LONGEST = 5_000
#: Numbers of concurrent games, and the ratio of the rates that is aimed at.
AT_ONCE: dict[int, float | None] = {1: None, 16: None, 256: 0.95}


class Run(NamedTuple):
    """Moves a second, and the server's processor time per move in microseconds (NaN if unknown)."""

    rate: float
    cost: float


def measure(moves: int, rounds: int) -> None:
    """Print a line for each number of games: medians, and the median of the ratios pair by pair.

    :param moves: moves per run.
    """
    print(
        f"{'games at once':15}{'durable/s':>10}{'memory/s':>10}{'ratio':>8}{'aim':>7}"
        f"{'durable us':>12}{'memory us':>11}"
    )
    for games, aim in AT_ONCE.items():
        pairs = [_pair(games, moves) for _ in range(rounds)]
        ratio = median(durable.rate / memory.rate for durable, memory in pairs)
        rates, costs = ([[run[what] for run in pair] for pair in pairs] for what in (0, 1))
        print(
            f"{games:<15}{_median(rates, 0):>10,.0f}{_median(rates, 1):>10,.0f}{ratio:>8.2f}"
            f"{'' if aim is None else f'{aim:.2f}':>7}{_median(costs, 0):>12.1f}{_median(costs, 1):>11.1f}"
        )
    print("us: the server's processor time per move, on all cores; an otherwise idle core writes to the disk")


def _median(pairs: Sequence[Sequence[float]], which: int) -> float:
    return median(pair[which] for pair in pairs)


def _pair(games: int, moves: int) -> tuple[Run, Run]:
    """Run the same moves on disk and in memory."""
    with tempfile.TemporaryDirectory(prefix="gmd-bench-") as directory:
        return _run(directory, games, moves), _run(":memory:", games, moves)


def _run(data: str, games: int, moves: int) -> Run:
    moves = min(moves, games * LONGEST)
    with servers.gmd(data) as server:
        _play(server.address, games, games * 20)
        before = server.cpu_seconds()
        rate = _play(server.address, games, moves)
        after = server.cpu_seconds()
    return Run(rate, float("nan") if before is None or after is None else (after - before) / moves * 1e6)


def _play(address: Address, games: int, moves: int) -> float:
    """Play concurrent games, each over its own connection with one request under way; return moves a second."""
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
        """Read; after a whole reply, make the next move and return True."""
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
    """Return the highest id of a game, found by creating one."""
    with socket.create_connection(address) as connection:
        connection.sendall(NEW_GAME)
        received = b"".join(iter(lambda: connection.recv(READ_SIZE), b""))
    game_id: int = json.loads(received[HEADER.size :])["game_id"]
    return game_id


def _moves(game_id: int) -> Iterator[bytes]:
    """Yield endless moves of knights out and back: the server has seen all positions before."""
    for ply, text in enumerate(cycle(SHUFFLE)):
        yield move(game_id, ply, text)
