"""Daemons without ports, several in one process and on one database."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import trio

from gmd.arbiter import Arbiter
from gmd.cluster.directory import Peer
from gmd.cluster.game_ids import GameIds
from gmd.cluster.handed_clocks import HandedClocks
from gmd.cluster.membership import Membership
from gmd.cluster.shards import SHARDS, shard_of
from gmd.event_log.batching import BatchingLog
from gmd.event_log.migrations import migrate
from gmd.event_log.postgres import PostgresStore
from gmd.event_log.postgres_engine import open_engine
from gmd.shard_games import ShardGames
from tests.cluster.members import PATIENCE
from tests.helpers import MemoryDaemon, memory_daemon


class Node:
    """A daemon without ports."""

    def __init__(self, membership: Membership, daemon: MemoryDaemon, games: ShardGames) -> None:
        self.membership = membership
        self.daemon = daemon
        self.games = games
        self.arbiter = daemon.arbiter

    @property
    def me(self) -> int:
        return self.membership.me

    def owns(self, game_id: int) -> bool:
        """Return whether it serves a game."""
        return self.membership.is_mine(shard_of(game_id))

    async def until_shares(self, daemons: int) -> None:
        """Wait until it has the share of one of so many daemons."""
        with trio.fail_after(PATIENCE):
            while len(set(self.membership.ready()) - {SHARDS}) not in (SHARDS // daemons, -(-SHARDS // daemons)):
                await self.membership.changed()

    async def until_owns(self, game_id: int) -> None:
        """Wait until it serves a game."""
        with trio.fail_after(PATIENCE):
            while not self.owns(game_id):
                await self.membership.changed()


class Nodes:
    """The nodes of one database, by their ids: they reach each other as by links."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._games: dict[int, ShardGames] = {}
        engine = open_engine(url)
        migrate(engine)
        engine.dispose()

    @asynccontextmanager
    async def node(self, *, dies: bool = False, **settings: float) -> AsyncIterator[Node]:
        """Run a node. At the end of the block it leaves, or it dies: then its lease has to run out."""
        membership, ids = Membership(self.url), GameIds()
        store = PostgresStore(open_engine(self.url), membership)
        log = BatchingLog(store)
        arbiter = Arbiter(log, settings.get("start_timeout", 300), 300, tenure=membership, new_id=ids)
        games = ShardGames(arbiter, ids, log, membership, self._send)
        self._games[membership.me] = games
        await membership.join(Peer("link", "game"), "0")
        async with memory_daemon(log, arbiter) as daemon, trio.open_nursery() as nursery:
            nursery.start_soon(membership.run, games)
            try:
                yield Node(membership, daemon, games)
            finally:
                nursery.cancel_scope.cancel()
                await (membership.stop() if dies else membership.leave())
        log.close()
        store.close()

    async def _send(self, daemon: int, clocks: HandedClocks) -> None:
        await trio.lowlevel.checkpoint()
        self._games[daemon].accept(clocks)
