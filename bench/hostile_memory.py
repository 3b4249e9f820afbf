"""Attacks on a daemon's memory, each as a context manager that attacks from a process of its own while it is open.

``python -m bench.hostile_memory`` runs each of them against a daemon, with an honest bot beside it.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import resource
import selectors
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from . import servers
from .load import HELLO, NEW_GAME, Address, count_frames, frame, some

MEBIBYTE = 1 << 20
#: Requests that each of them who reads slowly has sent.
UNREAD = 64

#: What an attacking process does: with the addresses of the game port and of HTTP, until it is ended.
Attacker = Callable[[Address, Address], None]
#: An attack: open from a daemon's addresses.
Attack = Callable[[Address, Address], contextlib.AbstractContextManager[None]]


def raise_descriptors() -> None:
    """Let this process have as many connections as it may."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def _attack(attacker: Attacker) -> Attack:
    @contextmanager
    def opened(address: Address, http_address: Address) -> Iterator[None]:
        process = multiprocessing.get_context("spawn").Process(target=attacker, args=(address, http_address))
        process.start()
        try:
            yield
        finally:
            process.terminate()
            process.join()

    return opened


class _Crowd:
    """Connections that send what they have as far as it is taken, are opened again when they end, and read as told."""

    def __init__(self, address: Address, size: int, data: bytes, read_size: int = 0, every: float = 0.0) -> None:
        """:param read_size: bytes that each of them reads ``every`` so many seconds."""
        raise_descriptors()
        self._address, self._data = address, memoryview(data)
        self._read_size, self._every = read_size, every
        self._selector = selectors.DefaultSelector()
        self._sent: dict[socket.socket, int] = {}
        self._size = size

    def run(self) -> None:
        """Attack until the process is ended."""
        read_at = time.monotonic() + self._every
        while True:
            for _ in range(min(100, self._size - len(self._sent))):
                self._open()
            for key, events in self._selector.select(0.05):
                connection = key.fileobj
                assert isinstance(connection, socket.socket)
                self._write(connection) if events & selectors.EVENT_WRITE else self._close(connection)
            if self._read_size and time.monotonic() >= read_at:
                read_at = time.monotonic() + self._every
                for connection in list(self._sent):
                    self._read(connection)

    def _open(self) -> None:
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        try:
            connection.connect(self._address)
        except OSError:
            connection.close()
            return
        connection.setblocking(False)
        self._sent[connection] = 0
        self._selector.register(connection, selectors.EVENT_WRITE)

    def _write(self, connection: socket.socket) -> None:
        sent = self._sent[connection]
        try:
            self._sent[connection] += connection.send(self._data[sent : sent + 262_144])
        except BlockingIOError:
            return
        except OSError:
            self._close(connection)
            return
        if self._sent[connection] == len(self._data):
            if self._read_size:
                self._selector.unregister(connection)
            else:
                self._selector.modify(connection, selectors.EVENT_READ)  # it has been cut off

    def _read(self, connection: socket.socket) -> None:
        left = self._read_size
        try:
            while left > 0 and (data := connection.recv(left)):
                left -= len(data)
            if left == self._read_size:
                self._close(connection)
        except BlockingIOError:
            pass
        except OSError:
            self._close(connection)

    def _close(self, connection: socket.socket) -> None:
        with contextlib.suppress(KeyError):
            self._selector.unregister(connection)
        self._sent.pop(connection, None)
        connection.close()


def _short_frames(address: Address, http_address: Address) -> None:
    """Frames of a mebibyte that lack ten bytes."""
    _Crowd(address, 5_000, (MEBIBYTE).to_bytes(4, "big") + b" " * (MEBIBYTE - 10)).run()


def _small_frames(address: Address, http_address: Address) -> None:
    """As many connections as there may be, each with as much as counts as nothing, and more and more."""
    _Crowd(address, 9_900, (20_000).to_bytes(4, "big") + b" " * 19_990).run()


def _large_pgns(address: Address, http_address: Address) -> None:
    """Whole requests that take their time: PGNs of a mebibyte, all at once."""
    moves = "1. e4 " + "(1. d4 (1. c4 " * 30_000 + "))" * 30_000 + " e5" + " {} " * 100_000
    request = {"kind": "game_from_pgn", "player_white": 1, "player_black": 2, "pgn": moves, "brief": True}
    _Crowd(address, 3_000, frame(request)).run()


def _slow_readers(address: Address, http_address: Address) -> None:
    """Those who ask for 64 long states, and read 150 kB every 20 seconds."""
    game_id = _long_game(address, 4_000)
    state = frame({"kind": "state", "game_id": game_id})
    _Crowd(address, 3_000, HELLO + state * UNREAD * 20, 150_000, 20.0).run()


def _half_bodies(address: Address, http_address: Address) -> None:
    """HTTP requests that lack ten bytes of a body of a mebibyte."""
    head = b"POST /api/games/1/move HTTP/1.1\r\nHost: here\r\nContent-Length: %d\r\n\r\n" % MEBIBYTE
    _Crowd(http_address, 990, head + b" " * (MEBIBYTE - 10)).run()


def _unread_responses(address: Address, http_address: Address) -> None:
    """HTTP requests, one behind the other, whose responses nobody reads."""
    request = b"GET /schema/openapi.json HTTP/1.1\r\nHost: here\r\n\r\n"
    _Crowd(http_address, 990, request * 10_000).run()


def _long_games(address: Address, http_address: Address) -> None:
    """Games of many plies, one after the other, each waited for by somebody."""
    raise_descriptors()
    with socket.create_connection(address) as connection:
        connection.sendall(HELLO)
        waiting = []
        for number in range(10_000):
            game_id = _load_game(connection, 10_000, first=number == 0)
            waiter = socket.create_connection(address)
            waiting.append(waiter)
            waiter.sendall(HELLO + frame({"kind": "wait", "player": 2, "game_id": game_id}))
        time.sleep(3_600)


def _long_game(address: Address, plies: int) -> int:
    with socket.create_connection(address) as connection:
        connection.sendall(HELLO)
        return _load_game(connection, plies, first=True)


def _load_game(connection: socket.socket, plies: int, *, first: bool) -> int:
    """A game that has so many plies already; its id."""
    pgn = "Nf3 Nf6 Ng1 Ng8 " * (plies // 4)
    connection.sendall(frame({"kind": "new_game", "player_white": 1, "player_black": 2, "pgn": pgn, "brief": True}))
    replies = bytearray()
    while count_frames(replies)[0] < 1 + first:
        replies += some(connection)
    return int(replies.rpartition(b'"game_id":')[2].split(b",")[0].rstrip(b"}"))


#: Every attack, by its name.
ATTACKS: dict[str, Attack] = {
    "short frames": _attack(_short_frames),
    "small frames": _attack(_small_frames),
    "large PGNs": _attack(_large_pgns),
    "slow readers": _attack(_slow_readers),
    "half bodies": _attack(_half_bodies),
    "unread responses": _attack(_unread_responses),
    "long games": _attack(_long_games),
}


class _Honest(threading.Thread):
    """A bot that looks at its game again and again.

    :ivar times: seconds that each reply took.
    """

    def __init__(self, address: Address) -> None:
        super().__init__(daemon=True)
        self._address = address
        self._is_over = threading.Event()
        self.times: list[float] = []

    def run(self) -> None:
        with socket.create_connection(self._address) as connection:
            connection.sendall(HELLO + NEW_GAME)
            replies = bytearray()
            while count_frames(replies)[0] < 2:
                replies += some(connection)
            game_id = int(replies.rpartition(b'"game_id":')[2].split(b",")[0].rstrip(b"}"))
            request = frame({"kind": "state", "game_id": game_id})
            while not self._is_over.wait(0.01):
                begun = time.perf_counter()
                connection.sendall(request)
                replies = bytearray()
                while not count_frames(replies)[0]:
                    replies += some(connection)
                self.times.append(time.perf_counter() - begun)

    def finish(self) -> float:
        """Stop; the 99th percentile of its times, in seconds."""
        self._is_over.set()
        self.join()
        return sorted(self.times)[len(self.times) * 99 // 100]


def measure(seconds: float, names: list[str], checkout: str | None = None) -> None:
    """Print, for each attack, the most memory that the daemon had meanwhile and afterwards, and what a bot waited.

    :param seconds: how long each attack lasts.
    :param checkout: another checkout, whose daemon is attacked.
    """
    for name in names or ATTACKS:
        with servers.gmd(checkout=checkout) as daemon:
            honest = _Honest(daemon.address)
            honest.start()
            most, end = 0, time.monotonic() + seconds
            with ATTACKS[name](daemon.address, daemon.http):
                while time.monotonic() < end:
                    most = max(most, daemon.resident_bytes())
                    time.sleep(0.05)
            percentile, asked = honest.finish(), len(honest.times)
            time.sleep(3)  # those who were cut off linger for two seconds
            after = daemon.resident_bytes()
        print(
            f"{name:18} at most {most / MEBIBYTE:6,.0f} MiB, {after / MEBIBYTE:6,.0f} MiB afterwards; a bot's "
            f"99th percentile {percentile * 1e3:,.1f} ms of {asked:,} replies",
            flush=True,
        )


if __name__ == "__main__":
    import argparse

    parser = argparse.ArgumentParser(prog="python -m bench.hostile_memory", description=__doc__)
    parser.add_argument("attacks", nargs="*", metavar="ATTACK", help=f"of {', '.join(ATTACKS)} (default: all)")
    parser.add_argument("--seconds", type=float, default=30.0, help="of each attack (default: %(default)s)")
    parser.add_argument("--against", metavar="DIR", help="another checkout of gmd, whose daemon is attacked")
    options = parser.parse_args()
    measure(options.seconds, options.attacks, options.against)
