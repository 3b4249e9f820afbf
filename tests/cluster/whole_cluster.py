"""Several daemons in one trio program with a lobby that one of them has, and accounts of their own.

    async with whole_cluster(3) as cluster:
        alice = await cluster.enter(1, "alice")      # a session at the second daemon
        bob = await cluster.enter(2, "bob")
        await cluster.kill_lobby(cluster[1])          # the second daemon has the lobby from now on

It is :func:`tests.cluster.memory_cluster.memory_cluster` with :class:`gmd.cluster.lobby.service.LobbyService`: nothing
is shared but the log and the stores of accounts and contests.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import trio
import trio.testing

from gmd.all_games import AllGames
from gmd.arbiter import Arbiter
from gmd.cluster.directory import Peer
from gmd.cluster.links import Links
from gmd.cluster.lobby.service import LobbyService
from gmd.cluster.router import Router
from gmd.cluster.shards import LOBBY
from gmd.config import Config
from gmd.contests.book import Contests
from gmd.daemon import lobby_of, ranked_of, services_of
from gmd.event_log.memory import MemoryLog
from gmd.metrics import Metrics
from gmd.players.authenticator import Authenticator
from gmd.players.memory import MemoryPlayers
from gmd.players.registry import Registry
from gmd.tcp.listener import SessionServer
from tests.cluster.memory_cluster import FIRST_DAEMON, SECRET, Member, MemoryCluster, OwnedLog
from tests.cluster.shared_contests import SharedContests
from tests.cluster.static_directory import ClusterMap, StaticDirectory
from tests.helpers import Client, cheap_passwords


class WholeMember(Member):
    """One daemon.

    :ivar service: its part in the lobby.
    :ivar scope: ends all its tasks.
    """

    service: LobbyService
    scope: trio.CancelScope


class WholeCluster(MemoryCluster):
    """All daemons, and their players' keys."""

    members: list[WholeMember]  # type: ignore[assignment]

    def __init__(self, log: MemoryLog, shared: ClusterMap, nursery: trio.Nursery) -> None:
        super().__init__(log, shared, nursery)
        self.keys: dict[str, str] = {}

    def __getitem__(self, index: int) -> WholeMember:
        return self.members[index]

    @property
    def lobby(self) -> WholeMember:
        """The daemon that has the lobby."""
        member = self.member(self.map.owners[LOBBY])
        assert isinstance(member, WholeMember)
        return member

    async def enter(self, index: int, name: str) -> Client:
        """Open a session of a player at a daemon; register the player there if need be."""
        client = await self.members[index].connect()
        if name not in self.keys:
            self.keys[name] = (await client.ask("register", name=name))["key"]
        reply = await client.ask("hello", name=name, key=self.keys[name])
        assert reply["error"] is None, reply
        client.player = reply["player"]  # type: ignore[attr-defined]
        await trio.testing.wait_all_tasks_blocked()
        return client

    async def kill_lobby(self, heir: WholeMember) -> None:
        """Kill the daemon that has the lobby; its shards and the lobby are another's."""
        await self.die(self.lobby, heir)

    async def die(self, member: WholeMember, heir: WholeMember) -> None:
        """Kill a daemon: nothing that is in its memory alone survives. Return when its heir serves its shards."""
        member.scope.cancel()
        await trio.testing.wait_all_tasks_blocked()
        has_lobby = self.map.owners[LOBBY] == member.id
        if has_lobby:
            heir.directory.leaving.add(LOBBY)
        await self.kill(member, heir)
        self.members.remove(member)
        if has_lobby:
            await heir.service.started()
            heir.directory.leaving.discard(LOBBY)
            self.map.tell()
        await settled()

    async def hand_lobby_over(self, to: WholeMember) -> None:
        """Hand the lobby over to a daemon."""
        owner = self.lobby
        if owner is to:
            return
        owner.directory.leaving.add(LOBBY)
        to.directory.leaving.add(LOBBY)
        await owner.router.finish([LOBBY])
        await owner.service.stop()
        self.map.give([LOBBY], to.id)
        owner.directory.leaving.discard(LOBBY)
        await to.service.started()
        to.directory.leaving.discard(LOBBY)
        self.map.tell()


async def settled() -> None:
    """Return when nothing happens any more without time passing."""
    await trio.testing.wait_all_tasks_blocked()
    await trio.sleep(1.0)
    await trio.testing.wait_all_tasks_blocked()


@asynccontextmanager
async def whole_cluster(count: int = 2, **settings: Any) -> AsyncIterator[WholeCluster]:
    """Run a :class:`WholeCluster`; the first daemon has the lobby.

    :param settings: of every daemon's configuration.
    """
    ids = [FIRST_DAEMON + index for index in range(count)]
    shared = ClusterMap({daemon: Peer(f"link-{daemon}:1", f"game-{daemon}:2") for daemon in ids})
    config, players, contests = Config(data=":memory:", **settings), MemoryPlayers(), SharedContests()
    async with AsyncExitStack() as stack, trio.open_nursery() as nursery:
        cluster = WholeCluster(MemoryLog(), shared, nursery)
        for daemon in ids:
            member = await nursery.start(_live, cluster, daemon, config, players, contests, stack)
            cluster.members.append(member)
            cluster._reachable.add(member.id)
        try:
            for member in cluster.members:
                await member.service.attach()
            await cluster.lobby.service.started()
            await settled()
            yield cluster
        finally:
            nursery.cancel_scope.cancel()


async def _live(
    cluster: WholeCluster,
    daemon: int,
    config: Config,
    players: MemoryPlayers,
    contests: SharedContests,
    stack: AsyncExitStack,
    *,
    task_status: trio.TaskStatus[WholeMember],
) -> None:
    """Run one daemon until it dies."""
    directory = StaticDirectory(cluster.map, daemon)
    log: Any = OwnedLog(cluster.log, directory)
    arbiter = Arbiter(
        log,
        config.start_timeout,
        config.idle_games,
        tenure=directory,
        new_id=lambda: cluster.member(daemon).new_id(),
    )
    registry = Registry(players, config.max_players)
    authenticator = Authenticator(
        registry,
        config.max_failures_per_minute,
        config.max_registrations_per_hour,
        cheap_passwords(),
        presence_seconds=config.presence_timeout,
    )
    stack.callback(authenticator.close)
    links = Links(directory, SECRET, cluster.dial)
    service = LobbyService(arbiter, authenticator, directory, links)
    games: AllGames = service.games
    lobby = lobby_of(config, arbiter, authenticator, local=True, games=games)
    ranked = ranked_of(config, authenticator, lobby)
    book = Contests(contests)
    service.connect(lobby, ranked, book, config.keep_finished)
    router = Router(directory, links)
    router.seeks = service.seeks
    services = services_of(
        config, arbiter, authenticator, lobby, ranked, Metrics(), contests=book, local=True, cluster=router
    )
    router.presence_known = service.presence_known
    router.has_result = service.has_result
    router.attach(services)
    async with trio.open_nursery() as nursery:
        member = WholeMember(services, SessionServer(services), nursery, directory, links, router)
        member.service, member.scope = service, nursery.cancel_scope
        for task in (arbiter.run, registry.run, links.run, service.run):
            nursery.start_soon(task)
        task_status.started(member)
