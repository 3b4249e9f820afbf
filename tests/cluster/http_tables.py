"""Players of reconnaissance blind chess over HTTP who are at another daemon than the one that owns their game."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

from gmd.arbiter import Arbiter
from gmd.cluster.shards import shard_of
from gmd.daemon import Daemon
from tests.cluster.http_cluster import HttpCluster, HttpMember, client_of, http_cluster
from tests.http.rbc import NAMES, Player, Table
from tests.http.twins import Tables, alike


class Entry(HttpMember):
    """The viewer's daemon, with the games of the daemon that owns them: what tests use of a daemon is spread here.

    :ivar arbiter: that of the games' owner.
    :ivar owner: the games' owner.
    """

    def __init__(self, entry: HttpMember, owner: HttpMember) -> None:
        super().__init__(entry.member, entry.http, entry.local)
        self.owner = owner
        self.arbiter: Arbiter = owner.member.arbiter


class ClusterTable(Table):
    """A cluster of three daemons: the first owns the lobby, all players are at the second, and the third owns the games
    that are made here.
    """

    def __init__(self, cluster: HttpCluster, entry: Entry, client: Any, players: list[Player]) -> None:
        super().__init__(cast(Daemon, entry), client, players)
        self._cluster = cluster

    async def new_game(self, **options: Any) -> int:
        game_id = await super().new_game(**options)
        await self._cluster.games.hand_over([shard_of(game_id)], self._cluster[2].member)
        return game_id

    @property
    def daemons(self) -> list[Daemon]:
        return cast(list[Daemon], self._cluster.members)


@asynccontextmanager
async def cluster_table(**settings: Any) -> AsyncIterator[Table]:
    """Yield a :class:`ClusterTable`, which may have at most 256 games."""
    async with (
        http_cluster(3, follows_on=True, **settings) as cluster,
        client_of(cluster[1]) as client,
    ):
        for member in cluster.members[1:]:  # what others tell the lobby's owner, by a short cut
            member.authenticator.presence.on_seen = cluster[0].authenticator.presence.seen_elsewhere
            member.member.arbiter.feed = cluster[0].member.arbiter.feed
        players = [Player(client, await cluster[1].ask_as_operator("register", name=name)) for name in NAMES]
        yield ClusterTable(cluster, Entry(cluster[1], cluster[2]), client, players)


def two_cluster_tables() -> Tables:
    """Yield two such clusters with the same short history."""
    return alike(cluster_table)
