"""The processor time of a durable move on PostgreSQL, all processes of it included, beside that of a move on SQLite."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import NamedTuple

from tests.postgres import Postgres, own_postgres

from . import servers
from .closed_loop import LONGEST, Player, new_games, play

#: PostgreSQL's settings where they differ from those of a new installation of Debian's: none. fsync and
#: synchronous_commit are on.
SETTINGS = {"shared_buffers": "128MB"}
#: Games at a time, with the most that PostgreSQL should cost as a multiple of SQLite.
AT_ONCE = {1: None, 16: 1.4, 64: 1.4, 256: 1.4}


class Spent(NamedTuple):
    """Seconds of processor time, user and system: of the daemon with its child processes, and of PostgreSQL."""

    daemon: float
    database: float

    def since(self, before: Spent) -> Spent:
        """Return what was spent since an earlier moment."""
        return Spent(self.daemon - before.daemon, self.database - before.database)


class Measured:
    """A running daemon, on SQLite or on PostgreSQL."""

    def __init__(self, daemon: servers.Server, postmaster: int | None = None) -> None:
        """:param postmaster: the first process of PostgreSQL's server."""
        self.address = daemon.address
        self._daemon = daemon
        self._postmaster = postmaster

    def spent(self) -> Spent:
        """Return the processor time so far."""
        database = 0.0 if self._postmaster is None else _with_ended(self._postmaster)
        return Spent(self._daemon.all_seconds() or 0.0, database)


def measure(moves: int, rounds: int) -> None:
    """Print a line for each number of games, with the medians of the ratios pair by pair.

    :param moves: moves per run.
    """
    print("postgres: processor time of a move, in microseconds, on SQLite and on PostgreSQL; " + _load())
    print(f"{'games':>7}{'SQLite':>9}{'PostgreSQL':>12}{'(daemon':>10}{'server)':>9}{'ratio':>8}{'aim':>6}")
    with own_postgres(**SETTINGS) as server, _on_sqlite() as sqlite, _on_postgres(server) as other:
        for games, aim in AT_ONCE.items():
            each = min(moves if games > 1 else moves // 3, games * LONGEST)
            _run(sqlite, games, games * 20), _run(other, games, games * 20)
            pairs = [(_run(sqlite, games, each), _run(other, games, each)) for _ in range(rounds)]
            first, second = ([median(run) for run in zip(*runs, strict=True)] for runs in zip(*pairs, strict=True))
            ratios = [b[0] / a[0] for a, b in pairs]
            said = "" if aim is None else f"{aim:.2f}"
            print(
                f"{games:>7}{first[0]:>9.1f}{second[0]:>12.1f}{second[1]:>10.1f}{second[2]:>9.1f}"
                f"{median(ratios):>8.2f}{said:>6}   ({min(ratios):.2f} to {max(ratios):.2f})",
                flush=True,
            )
    print("counted: the daemon with its threads and child processes; all processes of PostgreSQL")


def _run(measured: Measured, games: int, moves: int) -> tuple[float, float, float]:
    """Return microseconds a move: of all, of the daemon, of the database's server."""
    address = measured.address
    players = [Player(address, game_id) for game_id in new_games(address, games)]
    before = measured.spent()
    number = play(players, moves)
    spent = measured.spent().since(before)
    for player in players:
        player.close()
    return sum(spent) / number * 1e6, spent.daemon / number * 1e6, spent.database / number * 1e6


@contextmanager
def _on_sqlite() -> Iterator[Measured]:
    with TemporaryDirectory(prefix="gmd-bench-") as directory, servers.gmd(directory) as daemon:
        yield Measured(daemon)


@contextmanager
def _on_postgres(server: Postgres) -> Iterator[Measured]:
    """Run a daemon on a new database. The processor time is that of all of the server's databases."""
    with (
        TemporaryDirectory(prefix="gmd-bench-") as directory,
        servers.gmd(directory, "--database", server.new_database()) as daemon,
    ):
        yield Measured(daemon, int((server.directory / "data" / "postmaster.pid").read_text().split()[0]))


def _with_ended(postmaster: int) -> float:
    """Return the processor time of PostgreSQL's processes, with those that have ended."""
    fields = Path(f"/proc/{postmaster}/stat").read_text().rpartition(")")[2].split()
    ended = (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")
    return ended + sum(
        int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9 for pid in (postmaster, *_children(postmaster))
    )


def _children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _load() -> str:
    """Return the machine's load, for the caption of a table."""
    return "load of the machine: " + " ".join(f"{each:.1f}" for each in os.getloadavg()) + f" on {os.cpu_count()} cores"
