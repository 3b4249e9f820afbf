"""Memberships of several daemons in one process, on a real database."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Protocol

import psycopg
import pytest
import trio
from sqlalchemy import create_engine

from gmd.cluster.directory import Peer
from gmd.cluster.lease_thread import uptime
from gmd.cluster.leases import _remove
from gmd.cluster.membership import Membership
from gmd.cluster.shards import LOBBY, SHARDS
from gmd.cluster.tables import create_cluster

#: Seconds after which something that should happen soon counts as never.
PATIENCE = 20


class Keeper:
    """A handler of shards that notes its calls.

    :ivar hold: is waited for before shards are let go.
    """

    def __init__(self) -> None:
        self.has: set[int] = set()
        self.events: list[str] = []
        self.hold = trio.Event()
        self.hold.set()

    async def gained(self, shards: Mapping[int, int]) -> None:
        assert not self.has & set(shards)
        self.events.append(f"gained {len(shards)}")
        self.has |= set(shards)

    def resumed(self, seconds: float) -> None:
        self.events.append("resumed")

    async def losing(self, shards: Mapping[int, int]) -> None:
        self.events.append(f"losing {len(shards)}")
        await self.hold.wait()
        assert self.has >= shards.keys()
        self.has -= shards.keys()


class HasMembership(Protocol):
    """A daemon of a test."""

    membership: Membership


class Joined:
    """A member that runs."""

    def __init__(self, membership: Membership, keeper: Keeper) -> None:
        self.membership = membership
        self.keeper = keeper

    @property
    def me(self) -> int:
        return self.membership.me

    def mine(self) -> set[int]:
        """Return the shards that it serves now."""
        return {shard for shard in range(LOBBY + 1) if self.membership.is_mine(shard)}

    def games(self) -> int:
        """Return the number of shards of games that it serves now."""
        return len(self.mine() - {LOBBY})


@asynccontextmanager
async def joined(url: str, name: str = "one", *, joining: bool = False) -> AsyncIterator[Joined]:
    """Run a member until the end of the block; then it leaves."""
    membership, keeper = Membership(url), Keeper()
    await membership.join(Peer(f"{name}:7190", f"{name}:7100", joining=joining), "0")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(membership.run, keeper)
        try:
            yield Joined(membership, keeper)
        finally:
            nursery.cancel_scope.cancel()
            await membership.leave()


async def until(member: Joined, condition: Callable[[], bool]) -> None:
    """Wait for changes of the map until a condition holds."""
    with trio.fail_after(PATIENCE):
        while not condition():
            await member.membership.changed()


async def shared_out(*members: Joined) -> None:
    """Wait until all shards are served, in even shares, and all members know it."""
    share = {SHARDS // len(members), -(-SHARDS // len(members))}

    def is_done() -> bool:
        even = all(member.games() in share for member in members)
        owners = {shard: member.me for member in members for shard in member.mine() if shard < SHARDS}
        known = all(member.membership.owner_of(shard) == owner for member in members for shard, owner in owners.items())
        return even and known and len(owners) == SHARDS

    with trio.fail_after(PATIENCE):
        while not is_done():
            await members[-1].membership.renewed()


async def lapsed(member: HasMembership) -> None:
    """Wait until the lease is no longer valid for the member itself."""
    while (rest := member.membership.valid_until - uptime()) > 0:  # noqa: ASYNC110 (no event comes by then)
        await trio.sleep(rest)


def take_over(url: str, daemon: int) -> None:
    """Free the shards of a daemon, as another one does that finds its lease run out."""
    with psycopg.connect(url) as connection:
        _remove(connection, [daemon])


@pytest.fixture
def cluster_url(database_url: str) -> str:
    """Return the URL of a database with the cluster's tables."""
    create_tables(database_url)
    return database_url


def create_tables(url: str) -> None:
    """Create the cluster's tables."""
    engine = create_engine(f"postgresql+psycopg{url.removeprefix('postgresql')}")
    with engine.begin() as connection:
        create_cluster(connection)
    engine.dispose()
