"""Durable play, compared with play in memory and with two bare echo servers.

One of them answers at once. The other commits what it has read to SQLite before it answers, and does nothing else: its
rate is the highest that a durable server on trio can be expected to reach on this machine.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from statistics import median
from typing import NamedTuple

from . import servers
from .clients import MakeClient, OneByOne, Session, Version1, play
from .games import long_games, random_game
from .load import Measured

#: Sessions play this many times the moves, so that a run takes as long as one of version 1: in a tenth of a second the
#: first games would count most.
SESSION_TIMES = 10
#: Plies of each game, and the number of games whose positions occur again and again.
PLIES = 30
KNOWN = 20


class Case(NamedTuple):
    """A way to play, and the lowest rate that is aimed at, as a share of the echo server's or of memory's."""

    name: str
    client: MakeClient
    clients: int
    of_echo: float | None = None
    of_memory: float | None = None


#: A connection for each game, which goes on during the whole run.
MANY_GAMES = (
    Case("move by move", OneByOne, 1),
    Case("move by move", OneByOne, 16),
    Case("move by move", OneByOne, 256, of_memory=0.95),
)
FEW_CLIENTS = (
    Case("version 1, seen", Version1, 1),
    Case("version 1, seen", Version1, 8, of_echo=0.65),
    Case("version 1, seen", Version1, 64),
    Case("version 1, new", Version1, 1),
    Case("version 1, new", Version1, 8, of_echo=0.5),
    Case("version 1, new", Version1, 64),
    Case("sessions, seen", Session, 1),
    Case("sessions, seen", Session, 8, of_echo=0.7),
    Case("sessions, seen", Session, 64),
    Case("sessions, new", Session, 1),
    Case("sessions, new", Session, 8, of_echo=0.22),
    Case("sessions, new", Session, 64),
)


class Run(NamedTuple):
    """A server's result with some games.

    :ivar rate: replies a second.
    :ivar main: processor time of the main thread per reply, in microseconds; NaN if unknown.
    :ivar others: the same for all other threads and the process that commits.
    """

    rate: float
    main: float
    others: float


class Round(NamedTuple):
    """The same games on all servers: gmd on disk and in memory, and the echo server without and with commits."""

    durable: Run
    memory: Run
    echo: Run
    committing: Run


class Commits(NamedTuple):
    """A daemon's commits: their number, the games in them, and the seconds that they took."""

    number: float
    games: float
    seconds: float


def measure(cases: Sequence[Case], moves: int, rounds: int) -> None:
    """Print a line for each case: medians, and the medians of the ratios round by round.

    :param moves: the approximate number of requests per run; sessions make ten times as many.
    """
    print(
        f"{'':26}  {'replies a second':^35}  {'ratio and its aim':^36}  {'us of processor a reply':^30}"
        f"  {'a commit':^12}\n"
        f"{'':19}{'clients':>7}  {'durable':>8}{'memory':>9}{'echo':>9}{'commits':>9}"
        f"  {'of echo':>12}{'of memory':>12}{'of commits':>12}"
        f"  {'main':>6}{'writer':>8}{'memory':>8}{'echo':>8}  {'games':>6}{'ms':>6}"
    )
    for case in cases:
        _report(case, *_compare(case, moves, rounds))
    print("commits: an echo server that commits what it reads to SQLite before it answers")
    print("main: the durable server's main thread; writer: all else of it; memory, echo: those servers' main threads")


def _report(case: Case, runs: Sequence[Round], commits: Commits) -> None:
    durable, memory, echo, committing = (Run(*map(median, zip(*of, strict=True))) for of in zip(*runs, strict=True))
    of_memory, of_echo, of_committing = (
        median(round_.durable.rate / round_[peer].rate for round_ in runs) for peer in (1, 2, 3)
    )
    print(
        f"{case.name:19}{case.clients:>7}  {durable.rate:>8,.0f}{memory.rate:>9,.0f}{echo.rate:>9,.0f}"
        f"{committing.rate:>9,.0f}"
        f"  {of_echo:>5.2f} {_aim(case.of_echo):>6}{of_memory:>5.2f} {_aim(case.of_memory):>6}{of_committing:>12.2f}"
        f"  {durable.main:>6.1f}{durable.others:>8.1f}{memory.main:>8.1f}{echo.main:>8.1f}"
        f"  {commits.games / commits.number:>6.1f}{commits.seconds / commits.number * 1e3:>6.2f}",
        flush=True,
    )


def _aim(ratio: float | None) -> str:
    return "" if ratio is None else f"({ratio:.2f})"


def _compare(case: Case, moves: int, rounds: int) -> tuple[list[Round], Commits]:
    """Play the same games on all four servers in turn; the first round, a warm-up, does not count."""
    with ExitStack() as stack:
        directory = stack.enter_context(tempfile.TemporaryDirectory(prefix="gmd-bench-"))
        durable, memory = stack.enter_context(servers.gmd(directory)), stack.enter_context(servers.gmd())
        warm = _games(case, moves, seed=0)
        _play(durable, case, warm)
        mean_bytes = _play(memory, case, warm).mean_bytes
        echo, committing = (
            stack.enter_context(servers.echo(mean_bytes, one_shot=case.client is Version1, commit=commit))
            for commit in (False, True)
        )
        _play(echo, case, warm)
        _play(committing, case, warm)
        before = _commits(durable)
        peers = (durable, memory, echo, committing)
        runs = []
        for seed in range(1, rounds + 1):
            games = _games(case, moves, seed)
            runs.append(Round(*(_run(server, case, games) for server in peers)))
        after = _commits(durable)
    return runs, Commits(*(late - early for late, early in zip(after, before, strict=True)))


def _run(server: servers.Server, case: Case, games: Sequence[list[str]]) -> Run:
    before = server.main_seconds(), server.all_seconds()
    measured = _play(server, case, games)
    main, every = (
        float("nan") if early is None or late is None else (late - early) / measured.replies * 1e6
        for early, late in zip(before, (server.main_seconds(), server.all_seconds()), strict=True)
    )
    return Run(measured.rate, main, every - main)


def _play(server: servers.Server, case: Case, games: Sequence[list[str]]) -> Measured:
    return play(case.client, case.clients, server.address, games)


def _commits(daemon: servers.Daemon) -> Commits:
    names = ("gmd_log_commit_games_count", "gmd_log_commit_games_sum", "gmd_log_commit_duration_seconds_sum")
    return Commits(*map(daemon.metric, names))


def _games(case: Case, moves: int, seed: int) -> list[list[str]]:
    """Return the games of a run; those with known positions are always the same."""
    if case.client is OneByOne:
        return long_games(moves, case.clients)
    count = max(case.clients, moves * (SESSION_TIMES if case.client is Session else 1) // (PLIES + 1))
    seen = case.name.endswith("seen")
    rng = random.Random(0 if seen else seed)
    games = [_game(rng) for _ in range(KNOWN if seen else count)]
    return [games[number % len(games)] for number in range(count)]


def _game(rng: random.Random) -> list[str]:
    while len(game := random_game(rng, PLIES)) < PLIES:
        pass
    return game
