"""What a reply costs late in a game, and beside idle and trickling neighbours."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median

from . import servers
from .games import shuffle
from .load import NEW_GAME, Address, frame, latencies, move

HELLO = frame({"kind": "hello", "protocol": 2})
IDLE_CONNECTIONS = 1_000


def late_against_early(games: int) -> None:
    """Print the cost of a reply at ply 400 against that at ply 10, all positions being known ones."""
    early: list[float] = []
    late: list[float] = []
    with servers.gmd() as address:
        for game_id in range(1, games + 1):
            frames = [HELLO, NEW_GAME, *(move(game_id, ply, text) for ply, text in enumerate(shuffle(410)))]
            times = latencies(address, frames)[2:]
            if game_id > 1:  # the first one warms
                early += times[5:15]
                late += times[395:405]
    print(
        f"a reply at ply 400: {median(late) * 1e6:.0f} us, at ply 10: {median(early) * 1e6:.0f} us, "
        f"ratio {median(late) / median(early):.2f} (aim: at most 1.5)"
    )


def beside_neighbours(games: int) -> None:
    """Print the latency of a client alone, then beside a thousand idle connections and one that trickles."""
    with servers.gmd() as address:
        _play(address, 1, 2)
        alone: list[float] = []
        crowded: list[float] = []
        next_id = 3
        for _ in range(3):
            alone += _play(address, next_id, games)
            next_id += games
            with _idle(address), _trickle(address):
                crowded += _play(address, next_id, games)
            next_id += games
    print(
        f"latency beside {IDLE_CONNECTIONS} idle connections and a trickler: {median(crowded) * 1e6:.0f} us, "
        f"alone: {median(alone) * 1e6:.0f} us, ratio {median(crowded) / median(alone):.2f}"
    )


def _play(address: Address, first_id: int, games: int) -> list[float]:
    times: list[float] = []
    for game_id in range(first_id, first_id + games):
        frames = [HELLO, NEW_GAME, *(move(game_id, ply, text) for ply, text in enumerate(shuffle(100)))]
        times += latencies(address, frames)[2:]
    return times


@contextmanager
def _idle(address: Address) -> Iterator[None]:
    connections = [socket.create_connection(address) for _ in range(IDLE_CONNECTIONS)]
    for connection in connections:
        connection.sendall(HELLO)
    try:
        yield
    finally:
        for connection in connections:
            connection.close()


@contextmanager
def _trickle(address: Address) -> Iterator[None]:
    """A connection that sends a byte of a frame every second."""
    done = threading.Event()

    def send() -> None:
        with socket.create_connection(address) as connection:
            for byte in HELLO:
                connection.sendall(bytes([byte]))
                if done.wait(1.0):
                    return

    thread = threading.Thread(target=send)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
