"""The cost of a reply late in a game, and beside idle and slow neighbours."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median

from . import servers
from .games import shuffle
from .load import HELLO, NEW_GAME, Address, frame, latencies, move, one_shot

IDLE_CONNECTIONS = 1_000


def late_against_early(games: int) -> None:
    """Print the cost of a reply at ply 400 compared with ply 10; all positions are known."""
    early: list[float] = []
    late: list[float] = []
    with servers.gmd() as server:
        for game_id in range(1, games + 1):
            frames = [HELLO, NEW_GAME, *(move(game_id, ply, text) for ply, text in enumerate(shuffle(410)))]
            times = latencies(server.address, frames)[2:]
            if game_id > 1:  # the first game is a warm-up
                early += times[5:15]
                late += times[395:405]
    print(
        f"a reply at ply 400: {median(late) * 1e6:.0f} us, at ply 10: {median(early) * 1e6:.0f} us, "
        f"ratio {median(late) / median(early):.2f} (aim: at most 1.5)"
    )


def beside_neighbours(games: int) -> None:
    """Print the latency of a client alone, then beside a thousand idle connections and one that sends byte by byte."""
    with servers.gmd() as server:
        _play(server.address, 1, 2)
        alone: list[float] = []
        crowded: list[float] = []
        next_id = 3
        for _ in range(3):
            alone += _play(server.address, next_id, games)
            next_id += games
            with _idle(server.address), _trickle(server.address):
                crowded += _play(server.address, next_id, games)
            next_id += games
    print(
        f"latency beside {IDLE_CONNECTIONS} idle connections and a trickler: {median(crowded) * 1e6:.0f} us, "
        f"alone: {median(alone) * 1e6:.0f} us, ratio {median(crowded) / median(alone):.2f}"
    )


def beside_large_pgns(games: int) -> None:
    """Print the latency of a client alone, then while another loads PGNs of a mebibyte, one after the other."""
    for name, pgn in (
        ("a quarter of a million plies", "Nf3 Nf6 Ng1 Ng8 " * 62_500),
        ("nested variations", "1. e4 " + "(1. d4 (1. c4 " * 62_000 + "))" * 62_000 + " e5"),
    ):
        request = frame({"kind": "game_from_pgn", "player_white": 1, "player_black": 2, "pgn": pgn, "brief": True})
        with servers.gmd() as server:
            _play(server.address, 1, 1)
            alone = _look(server.address, games)
            with _load_on(server.address, request) as loaded:
                crowded = _look(server.address, games)
        print(
            f"latency beside PGNs of {len(request):,} bytes ({name}, {len(loaded)} loaded): "
            f"median {median(crowded) * 1e6:.0f} us, 99th percentile {_percentile(crowded) * 1e3:.1f} ms, "
            f"alone: {median(alone) * 1e6:.0f} us, {_percentile(alone) * 1e3:.1f} ms"
        )


def _percentile(times: list[float]) -> float:
    return sorted(times)[len(times) * 99 // 100]


def _look(address: Address, games: int) -> list[float]:
    """Return the latencies of ``state``, for as many requests as the games have moves; game ids are not predictable."""
    frames = [HELLO, *([frame({"kind": "state", "game_id": 1})] * 100)]
    return [time for _ in range(games) for time in latencies(address, frames)[1:]]


@contextmanager
def _load_on(address: Address, request: bytes) -> Iterator[list[None]]:
    """Send a request again and again, each in its own session; the list grows with each answer."""
    done = threading.Event()
    answered: list[None] = []

    def load() -> None:
        while not done.is_set():
            one_shot(address, [iter([request])], 1)
            answered.append(None)

    thread = threading.Thread(target=load)
    thread.start()
    try:
        yield answered
    finally:
        done.set()
        thread.join()


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
    """Keep a connection that sends a byte of a frame every second."""
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
