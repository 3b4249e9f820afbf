"""A daemon alone and one of several, which must answer the same, byte for byte, whoever owns a game."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from trio.testing import MockClock

from tests.cluster.memory_cluster import MemoryCluster, memory_cluster
from tests.helpers import memory_daemon
from tests.paired_daemons import MOST_POSITIONS, UNLIMITED, Daemon, PairedDaemons, paired


@asynccontextmanager
async def one_and_cluster(clock: MockClock) -> AsyncIterator[PairedDaemons]:
    """Run a daemon alone, and a cluster where the two players of a game are connected to different daemons.

    Games are at the observer's daemon, at the opponent's, or at a third one, which has the lobby: whoever makes a game
    makes it where it is connected, and games with kept seats are made at the lobby's owner.
    """
    async with (
        memory_daemon(**UNLIMITED) as one,
        memory_cluster(3, follows_on=True, **UNLIMITED) as cluster,
        paired(clock, Daemon(one), Daemon(cluster[1], cluster[2])) as daemons,
    ):
        _believe_alike(cluster)
        yield daemons


@asynccontextmanager
async def two_clusters(clock: MockClock) -> AsyncIterator[PairedDaemons]:
    """Run two clusters where the two players of a game are connected to different daemons."""
    async with (
        memory_cluster(3, follows_on=True, **UNLIMITED) as one,
        memory_cluster(3, follows_on=True, **UNLIMITED) as other,
        paired(clock, Daemon(one[1], one[2]), Daemon(other[1], other[2])) as daemons,
    ):
        _believe_alike(one)
        _believe_alike(other)
        yield daemons


def _believe_alike(cluster: MemoryCluster) -> None:
    """Let all daemons keep as few positions as a pair's do: any of them may own a game."""
    for member in cluster.members:
        member.services.beliefs.cap = MOST_POSITIONS
