"""The delay of bots' moves while a thousand browsers watch some of their games by server-sent events.

Bots play in this process; the watchers read in a process of their own, as browsers on other machines do.
"""

from __future__ import annotations

import os
import random
import select
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from heapq import heappop, heappush
from itertools import chain, cycle
from statistics import median
from typing import NamedTuple

from . import servers
from .games import shuffle
from .load import READ_SIZE, Address, Connection, frame

#: Games between two bots each, those of them that are watched, and the watchers of all of these together.
GAMES, WATCHED, WATCHERS = 50, 10, 1_000
#: Seconds that a bot thinks before each move, on average: so fast, the games make 500 moves a second.
THINKS = 0.1
#: Seconds of a measurement, and before it, in which the games settle.
SECONDS, SETTLING = 10, 2
#: Seconds between two looks of the watchers at their connections.
PAUSE = 1.0
#: Connections that the watchers open before they read the heads of the responses.
A_STEP = 50

AIM_RATIO, AIM_BYTES = 1.3, 50_000


class Seen(NamedTuple):
    """The delays of the moves in each second of a measurement, and the share of a processor that the server used."""

    seconds: list[list[float]]
    load: float

    def percentile(self, percent: int) -> float:
        """Return a percentile of the delays in milliseconds: of the seconds' percentiles the median.

        So a pause of the machine in one second, which other programs cause, decides nothing.
        """
        return median(sorted(each)[len(each) * percent // 100] for each in self.seconds) * 1e3


class Bots:
    """Two bots for each game, each with a session; they think, move, and await the reply."""

    def __init__(self, address: Address, stack: ExitStack) -> None:
        self._sessions = [[stack.enter_context(closing(Connection(address))) for _ in range(2)] for _ in range(GAMES)]
        for player, session in enumerate(chain(*self._sessions), 1):
            session.ask("hello", protocol=2, player=player)
        self.games = [
            pair[0].ask("new_game", player_white=2 * game + 1, player_black=2 * game + 2)["game_id"]
            for game, pair in enumerate(self._sessions)
        ]
        self._moves = [enumerate(cycle(shuffle(4))) for _ in range(GAMES)]
        self._random = random.Random(1)

    def play(self, seconds: int) -> list[list[float]]:
        """Play on for so many seconds; return for each of them the seconds from each move to its reply."""
        poll, sent = select.epoll(), dict[int, tuple[int, Connection, float]]()
        delays: list[list[float]] = [[] for _ in range(seconds)]
        begun = time.perf_counter()
        due = [(begun + self._thought(), game) for game in range(GAMES)]
        due.sort()
        while due or sent:
            now = time.perf_counter()
            while due and due[0][0] <= now:
                _, game = heappop(due)
                if now - begun < seconds:
                    session = self._move(game)
                    poll.register(session.fileno(), select.EPOLLIN)
                    sent[session.fileno()] = game, session, time.perf_counter()
            wait = max(0.0, due[0][0] - time.perf_counter()) if due else 1.0
            for descriptor, _ in poll.poll(wait):
                game, session, at = sent.pop(descriptor)
                poll.unregister(descriptor)
                session.reply()
                now = time.perf_counter()
                delays[min(int(at - begun), seconds - 1)].append(now - at)
                heappush(due, (now + self._thought(), game))
        return delays

    def _thought(self) -> float:
        return self._random.uniform(0.0, 2 * THINKS)

    def _move(self, game: int) -> Connection:
        ply, san = next(self._moves[game])
        session = self._sessions[game][ply % 2]
        session.send(frame({"kind": "move", "game_id": self.games[game], "move": san, "brief": True}))
        return session


def measure(rounds: int) -> None:
    """Print the delays of moves with and without watchers, run by run, and the memory that a watcher takes."""
    arguments = ("--http-max-connections", str(2 * WATCHERS), "--start-timeout", "100000")
    with servers.gmd(":memory:", *arguments) as server, ExitStack() as stack:
        bots = Bots(server.address, stack)
        bots.play(SETTLING)
        alone, watched = list[Seen](), list[Seen]()
        held = 0
        for number in range(rounds):
            alone.append(_seen(bots, server))
            before = server.resident_bytes()
            with _watchers(server.http, bots.games[:WATCHED]) as watchers:
                bots.play(SETTLING)
                held = held or server.resident_bytes() - before
                counted, begun = watchers.events(), time.perf_counter()
                watched.append(_seen(bots, server))
                rate = (watchers.events() - counted) / (time.perf_counter() - begun)
            print(f"round {number + 1}: {_text(alone[-1])} alone; {_text(watched[-1])} watched, {rate:,.0f} events/s")
    for percent in (50, 99):
        ratio = median(
            one.percentile(percent) / other.percentile(percent) for one, other in zip(watched, alone, strict=True)
        )
        print(f"percentile {percent}: ratio {ratio:.2f} (aim: at most {AIM_RATIO})")
    print(f"memory: {held / WATCHERS / 1e3:.1f} KB for each of {WATCHERS:,} watchers (aim: under {AIM_BYTES // 1000})")


def _text(seen: Seen) -> str:
    return f"{seen.percentile(50):.2f} ms, 99 %: {seen.percentile(99):.2f} ms, load {seen.load:.0%}"


def _seen(bots: Bots, server: servers.Server) -> Seen:
    used, begun = server.main_seconds(), time.perf_counter()
    delays = bots.play(SECONDS)
    seconds, after = time.perf_counter() - begun, server.main_seconds()
    return Seen(
        [each for each in delays if each], float("nan") if used is None or after is None else (after - used) / seconds
    )


class Watchers:
    """The process of the watchers."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def events(self) -> int:
        """Return how many events all watchers have read so far."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())


@contextmanager
def _watchers(address: Address, games: list[int]) -> Iterator[Watchers]:
    """Run the watchers' process until they all have read their first event and the context is left."""
    pipe = subprocess.PIPE
    command = [sys.executable, "-m", "bench.watching", *map(str, (*address, *games))]
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        process.stdout.readline()
        yield Watchers(process)
        process.stdin.close()


def watch(address: Address, games: list[int]) -> None:
    """Watch games until standard input ends; at each line of it, print how many events have been read so far.

    Browsers on other machines do not compete for this one's processors. So the process runs when nothing else does, and
    reads once a second what the kernel has kept for it: woken by each event, it would delay the bots itself.
    """
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    poll, connections, events = select.epoll(), dict[int, socket.socket](), 0
    for start in range(0, WATCHERS, A_STEP):
        some_more = [_watcher(address, games[number % len(games)]) for number in range(start, start + A_STEP)]
        for connection in some_more:
            connections[connection.fileno()] = connection
            poll.register(connection.fileno(), select.EPOLLIN)
            events += connection.recv(READ_SIZE).count(b"\ndata: ")
    poll.register(sys.stdin.fileno(), select.EPOLLIN)
    print(len(connections), flush=True)
    while True:
        time.sleep(PAUSE)
        for descriptor, _ in poll.poll():
            if descriptor != sys.stdin.fileno():
                data = connections[descriptor].recv(READ_SIZE)
                if not data:
                    raise ConnectionError("the server ended a stream")
                events += data.count(b"\ndata: ")
            elif sys.stdin.readline():
                print(events, flush=True)
            else:
                return


def _watcher(address: Address, game_id: int) -> socket.socket:
    connection = socket.create_connection(address)
    connection.sendall(b"GET /games/%d/events HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n" % game_id)
    return connection


if __name__ == "__main__":
    host, port, *numbers = sys.argv[1:]
    watch((host, int(port)), [int(number) for number in numbers])
