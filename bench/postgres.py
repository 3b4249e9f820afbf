"""The processor time of a durable move on PostgreSQL, all processes of it included, beside that of a move on SQLite."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import NamedTuple

from tests.postgres import own_postgres

from . import servers
from .clients import OneByOne, play
from .games import long_games

#: PostgreSQL's settings where they differ from those of a new installation of Debian's: none. fsync and
#: synchronous_commit are on.
SETTINGS = {"shared_buffers": "128MB"}
#: Games at a time, with the most that PostgreSQL should cost as a multiple of SQLite.
AT_ONCE = {1: None, 16: 1.4, 64: 1.4, 256: 1.4}


class Side(NamedTuple):
    """A running daemon, and the first process of PostgreSQL's server if it is on that."""

    daemon: servers.Server
    postmaster: int | None = None

    def spent(self) -> tuple[float, float]:
        """Return the seconds of processor time so far: of the daemon with its child processes, and of PostgreSQL."""
        database = 0.0 if self.postmaster is None else _with_ended(self.postmaster)
        return self.daemon.all_seconds() or 0.0, database


def measure(moves: int, rounds: int) -> None:
    """Print a line for each number of games, with the medians of the ratios pair by pair.

    :param moves: moves per run.
    """
    print("postgres: processor time of a move, in microseconds, on SQLite and on PostgreSQL; " + _load())
    print(f"{'games':>7}{'SQLite':>9}{'PostgreSQL':>12}{'(daemon':>10}{'server)':>9}{'ratio':>8}{'aim':>6}")
    with _sides() as (sqlite, other):
        for games, aim in AT_ONCE.items():
            each = moves if games > 1 else moves // 3
            _run(sqlite, games, games * 20), _run(other, games, games * 20)
            pairs = [(_run(sqlite, games, each), _run(other, games, each)) for _ in range(rounds)]
            first, second = ([median(run) for run in zip(*runs, strict=True)] for runs in zip(*pairs, strict=True))
            ratios = [sum(b) / sum(a) for a, b in pairs]
            said = "" if aim is None else f"{aim:.2f}"
            print(
                f"{games:>7}{sum(first):>9.1f}{sum(second):>12.1f}{second[0]:>10.1f}{second[1]:>9.1f}"
                f"{median(ratios):>8.2f}{said:>6}   ({min(ratios):.2f} to {max(ratios):.2f})",
                flush=True,
            )
    print("counted: the daemon with its threads and child processes; all processes of PostgreSQL")


def _run(side: Side, games: int, moves: int) -> tuple[float, float]:
    """Return microseconds a reply: of the daemon, and of the database's server."""
    before = side.spent()
    replies = play(OneByOne, games, side.daemon.address, long_games(moves, games)).replies
    daemon, database = (late - early for late, early in zip(side.spent(), before, strict=True))
    return daemon / replies * 1e6, database / replies * 1e6


@contextmanager
def _sides() -> Iterator[tuple[Side, Side]]:
    """Run a daemon on SQLite, and one on a new database of a PostgreSQL server for this run."""
    with (
        own_postgres(**SETTINGS) as server,
        TemporaryDirectory(prefix="gmd-bench-") as first,
        TemporaryDirectory(prefix="gmd-bench-") as second,
        servers.gmd(first) as on_sqlite,
        servers.gmd(second, "--database", server.new_database()) as on_postgres,
    ):
        postmaster = int((server.directory / "data" / "postmaster.pid").read_text().split()[0])
        yield Side(on_sqlite), Side(on_postgres, postmaster)


def _with_ended(postmaster: int) -> float:
    """Return the processor time of PostgreSQL's processes, with those that have ended."""
    fields = Path(f"/proc/{postmaster}/stat").read_text().rpartition(")")[2].split()
    ended = (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")
    children = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split()
    return ended + sum(
        int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9 for pid in (postmaster, *children)
    )


def _load() -> str:
    """Return the machine's load, for the caption of a table."""
    return "load of the machine: " + " ".join(f"{each:.1f}" for each in os.getloadavg()) + f" on {os.cpu_count()} cores"
