"""The times of a daemon's start and of its queries, on logs of very different sizes."""

from __future__ import annotations

import time
from contextlib import ExitStack
from pathlib import Path
from statistics import median

from . import servers
from .load import HELLO, NEW_GAME, Address, frame, latencies
from .stored import FIRST_PLAYER, Played, directory, make_ranked

FINISHED: Played = ({}, ["f3", "e5", "g4", "Qh4#"])
CLOCKED: Played = ({"clock": {"initial": 86_400}}, ["e4", "e5"])
#: The content of each log: a game, and the number of copies.
LOGS: dict[str, tuple[Played, int]] = {
    "1 game": (FINISHED, 1),
    "1,000,000 finished": (FINISHED, 1_000_000),
    "1,000,000 ranked": (FINISHED, 1_000_000),
    "10,000 live, clocked": (CLOCKED, 10_000),
}
#: The log in which all games count for ratings, of a thousand players.
RANKED = "1,000,000 ranked"
#: Requests that search the log; none may take longer because there are more games that do not match.
REQUESTS: dict[str, bytes] = {
    "games": frame({"kind": "games"}),
    "live": frame({"kind": "games", "status": "live"}),
    "over": frame({"kind": "games", "status": "over"}),
    "of player": frame({"kind": "games", "player": FIRST_PLAYER}),
    "live of": frame({"kind": "games", "player": FIRST_PLAYER, "status": "live"}),
    "variant": frame({"kind": "games", "variant": "crazyhouse"}),
    "new_game": NEW_GAME,
    # By a player without games, and by one with a thousand games or ten live ones: each reads the log.
    "wait any": frame({"kind": "wait", "any": True, "player": 99, "timeout": 0, "brief": True}),
    "wait any of": frame({"kind": "wait", "any": True, "player": FIRST_PLAYER, "timeout": 0, "brief": True}),
}


def measure(rounds: int) -> None:
    """Print a line for each log: medians, in milliseconds."""
    with ExitStack() as stack:
        paths = {name: stack.enter_context(directory([played], count)) for name, (played, count) in LOGS.items()}
        make_ranked(paths[RANKED])
        print(f"{'milliseconds':22}{'start':>8}" + "".join(f"{name:>12}" for name in REQUESTS))
        starts: dict[str, list[float]] = {name: [] for name in paths}
        times: dict[str, list[list[float]]] = {name: [] for name in paths}
        for _ in range(rounds):
            for name, path in paths.items():
                seconds, asked = _start(path)
                starts[name].append(seconds)
                times[name].append(asked)
        for name in paths:
            medians = [median(each) for each in zip(*times[name], strict=True)]
            print(f"{name:22}{median(starts[name]) * 1e3:>8.0f}" + "".join(f"{each * 1e3:>12.1f}" for each in medians))


def _start(path: Path) -> tuple[float, list[float]]:
    """Return the seconds until a daemon serves, and to each reply."""
    begun = time.perf_counter()
    with servers.gmd(str(path)) as server:
        seconds = time.perf_counter() - begun
        return seconds, _ask(server.address)


def _ask(address: Address) -> list[float]:
    ping = frame({"kind": "ping"})
    return latencies(address, [HELLO, ping, *REQUESTS.values()])[2:]
