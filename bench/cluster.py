"""Daemons on a PostgreSQL server of their own, as in production, and the processor time of all that belongs to them."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import psycopg

from gmd.cluster.shards import LOBBY, SHARDS
from tests.postgres import Postgres, own_postgres

from . import servers
from .load import HEADER

#: PostgreSQL's settings where they differ from those of a new installation of Debian's: none. fsync and
#: synchronous_commit are on.
SETTINGS = {"shared_buffers": "128MB"}
#: Seconds within which daemons have shared out the shards.
PATIENCE = 60


class Spent(NamedTuple):
    """Seconds of processor time, user and system: of each daemon with its child processes, and of PostgreSQL."""

    daemons: tuple[float, ...]
    database: float

    @property
    def total(self) -> float:
        """That of all of them."""
        return sum(self.daemons) + self.database

    def since(self, before: Spent) -> Spent:
        """Return what was spent since an earlier moment."""
        daemons = tuple(late - early for late, early in zip(self.daemons, before.daemons, strict=True))
        return Spent(daemons, self.database - before.database)


class Daemons:
    """Running daemons on one database; or one on SQLite; or their peers.

    :ivar daemons: in the order of their start.
    """

    def __init__(self, daemons: Sequence[servers.Server], postmaster: int | None) -> None:
        self.daemons = daemons
        self._postmaster = postmaster

    def spent(self) -> Spent:
        """Return the processor time so far."""
        database = 0.0 if self._postmaster is None else _with_ended(self._postmaster)
        return Spent(tuple(daemon.all_seconds() or 0.0 for daemon in self.daemons), database)

    def idle(self, seconds: float = 3.0) -> Spent:
        """Return the processor time a second while there are no requests: leases are renewed, and links kept up."""
        before, since = self.spent(), time.monotonic()
        time.sleep(seconds)
        spent, took = self.spent().since(before), time.monotonic() - since
        return Spent(tuple(each / took for each in spent.daemons), spent.database / took)

    def commits(self) -> tuple[float, float]:
        """Return how many commits there were, and how many games were in them, each as often as it was."""
        each = [daemon.commits() for daemon in self.daemons]
        return sum(number for number, _ in each), sum(games for _, games in each)

    def pids(self) -> list[int]:
        """Return the ids of the daemons' processes."""
        return [daemon.pid for daemon in self.daemons]


@contextmanager
def postgres() -> Iterator[Postgres]:
    """Run a PostgreSQL server."""
    with own_postgres(**SETTINGS) as server:
        yield server


@contextmanager
def on_postgres(server: Postgres, size: int, checkout: str | None = None) -> Iterator[Daemons]:
    """Run daemons on a new database; all shards have owners when they are given.

    The server's processor time is that of all its databases: only one cluster at a time should have something to do.

    :param checkout: the folder of another checkout, whose daemons are run instead of this one's.
    """
    url = server.new_database()
    with ExitStack() as stack:
        daemons: list[servers.Server] = []
        for number in range(size):
            directory = stack.enter_context(TemporaryDirectory(prefix="gmd-bench-"))
            options = ("--database", url, "--link-port", "0")
            daemons.append(stack.enter_context(servers.gmd(directory, *options, checkout=checkout)))
            _wait_for_shares(url, number + 1)
        time.sleep(1.5)  # the links are connected, and the first checkpoint's work is done
        yield Daemons(daemons, postmaster_of(server))


@contextmanager
def on_sqlite() -> Iterator[Daemons]:
    """Run one daemon on SQLite."""
    with TemporaryDirectory(prefix="gmd-bench-") as directory, servers.gmd(directory) as daemon:
        yield Daemons([daemon], None)


def _wait_for_shares(url: str, size: int) -> None:
    """Return when so many daemons have even shares."""
    until = time.monotonic() + PATIENCE
    with psycopg.connect(url, autocommit=True) as connection:
        while time.monotonic() < until:
            query = f"SELECT count(*) FROM shards WHERE daemon IS NOT NULL AND shard < {LOBBY} GROUP BY daemon"
            shares = [share for (share,) in connection.execute(query)]
            if len(shares) == size and sum(shares) == SHARDS and max(shares) - min(shares) <= 1:
                return
            time.sleep(0.05)
    raise RuntimeError(f"{size} daemons have not shared out the shards within {PATIENCE} seconds")


def postmaster_of(server: Postgres) -> int:
    """Return the id of a PostgreSQL server's first process."""
    return int((server.directory / "data" / "postmaster.pid").read_text().split()[0])


def _with_ended(postmaster: int) -> float:
    """Return the processor time of PostgreSQL's processes, with those that have ended."""
    fields = Path(f"/proc/{postmaster}/stat").read_text().rpartition(")")[2].split()
    ended = (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")
    return ended + sum(
        int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9 for pid in (postmaster, *_children(postmaster))
    )


def _children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def load() -> str:
    """Return the machine's load, for the caption of a table."""
    return "load of the machine: " + " ".join(f"{each:.1f}" for each in os.getloadavg()) + f" on {os.cpu_count()} cores"


def body(data: bytes) -> dict[str, object]:
    """Return a reply that was read with its header."""
    reply: dict[str, object] = json.loads(data[HEADER.size :])
    return reply
