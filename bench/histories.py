"""An honest bot's moves while another client requests a hundred histories at once: ``python -m bench histories``.

With ``--against DIR`` another checkout's server is measured on the same games too.
"""

from __future__ import annotations

import multiprocessing
import socket
import tempfile
import time
from multiprocessing.connection import Connection
from statistics import median

import trio
from rich.progress import track

from gmd.config import Config
from gmd.daemon import open_daemon

from . import servers
from .games import shuffle
from .load import HELLO, NEW_GAME, Address, count_frames, frame, move
from .stretches import long_rbc, stored_game

#: Concurrent requests of histories, each on its own connection; the number of games; and the plies of each, about the
#: default limit.
REQUESTS = 100
GAMES = 25
PLIES = 1_996
#: Moves that the honest bot makes meanwhile, and seconds between them: together longer than the histories take.
MOVES = 400
PAUSE = 0.01


def measure(against: str | None) -> None:
    """Print the honest bot's latencies, alone and during the histories."""
    with tempfile.TemporaryDirectory() as data:
        trio.run(_store, data)
        for turn, checkout in enumerate((against, None) if against else (None,)):
            with servers.gmd(data, checkout=checkout) as server:
                alone, _ = _moves(server.address, GAMES + 2 * turn + 1, beside=False)
                crowded, took = _moves(server.address, GAMES + 2 * turn + 2, beside=True)
            print(
                f"{'this checkout' if checkout is None else checkout}: {REQUESTS} histories of {PLIES} plies in "
                f"{took:.1f} s; a move meanwhile: median {median(crowded) * 1e3:.1f} ms, 99th percentile "
                f"{sorted(crowded)[len(crowded) * 99 // 100] * 1e3:.1f} ms, worst {max(crowded) * 1e3:.0f} ms; "
                f"alone: median {median(alone) * 1e3:.1f} ms, worst {max(alone) * 1e3:.0f} ms"
            )


async def _store(data: str) -> None:
    async with open_daemon(Config(port=0, data=data)) as daemon:
        for _ in track(range(GAMES), "playing"):
            stored_game(daemon, long_rbc(PLIES))
            await trio.lowlevel.checkpoint()


def _moves(address: Address, game_id: int, *, beside: bool) -> tuple[list[float], float]:
    """Return the latencies of an honest bot's moves, and of the histories in the meantime, in seconds."""
    receiver, sender = multiprocessing.Pipe(duplex=False)
    attacker = multiprocessing.Process(target=_ask, args=(address, sender))
    if beside:
        attacker.start()
    times: list[float] = []
    frames = [HELLO, NEW_GAME, *(move(game_id, ply, text) for ply, text in enumerate(shuffle(MOVES)))]
    with socket.create_connection(address) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for each in frames:
            began = time.perf_counter()
            connection.sendall(each)
            _receive(connection)
            times.append(time.perf_counter() - began)
            time.sleep(PAUSE)
            if beside and not attacker.is_alive():
                break
    return times[2:], receiver.recv() if beside else 0.0


def _ask(address: Address, took: Connection) -> None:
    """Request all histories at once, read them one after the other, and send the seconds that they took."""
    connections = [socket.create_connection(address) for _ in range(REQUESTS)]
    began = time.perf_counter()
    for number, connection in enumerate(connections):
        connection.sendall(HELLO + frame({"kind": "history", "game_id": number % GAMES + 1}))
    for connection in connections:
        _receive(connection, 2)
    took.send(time.perf_counter() - began)


def _receive(connection: socket.socket, frames: int = 1) -> None:
    """Read so many replies."""
    buffer = bytearray()
    found = 0
    while found < frames:
        buffer += connection.recv(1 << 20)
        counted, used = count_frames(buffer)
        found += counted
        del buffer[:used]
