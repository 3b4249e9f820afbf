"""Several daemons in one trio program, which share one log in memory: no PostgreSQL and no leases.

    async with memory_cluster(3) as cluster:
        client = await cluster[1].connect(player=1)       # as tests.helpers.MemoryDaemon.connect
        reply = await client.new_game()
        owner = cluster.owner_of(reply["game_id"])        # cluster[1]: a game lives where it was made
        other = await cluster[2].connect(player=2)        # whose requests for the game are forwarded

Each daemon has services of its own (arbiter, lobby, ...), and ``links`` over streams in memory; with ``sockets=True``
over real sockets of the loopback address. All share one registry of players. The first daemon owns the lobby, and the
shards of games are shared out in turn: daemon ``i`` of ``n`` makes the games ``i``, ``i + n``, ...

- :meth:`MemoryCluster.hand_over` moves shards from one daemon to another, as a drain does;
- :meth:`MemoryCluster.cut` cuts links in the middle of whatever they do, and :meth:`MemoryCluster.kill` a daemon;
- :attr:`Member.directory` is a :class:`~tests.cluster.static_directory.StaticDirectory` (``suspend`` ends the lease);
- handlers for messages of your own: ``member.links.on_ask(...)`` in the function given as ``prepare``, which is called
  with each :class:`Member` before any link runs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from typing import Any

import trio
import trio.testing

from gm_protocol.errors import Moved
from gmd.arbiter import Arbiter
from gmd.cluster.directory import Peer
from gmd.cluster.links import Links
from gmd.cluster.router import Router
from gmd.cluster.shards import LOBBY, SHARDS, shard_of
from gmd.config import Config
from gmd.daemon import authenticator_of, lobby_of, ranked_of, services_of
from gmd.event_log.interface import TokenUse
from gmd.event_log.memory import Durable, MemoryLog
from gmd.games.events import AnyEvent
from gmd.games.game import GameSummary
from gmd.metrics import Metrics
from gmd.players.authenticator import Authenticator
from gmd.players.registry import Registry
from gmd.services import Services
from gmd.tcp.listener import SessionServer
from tests.cluster.static_directory import ClusterMap, StaticDirectory
from tests.helpers import MemoryDaemon, cheap_passwords

SECRET = b"the secret of the cluster's tests"
#: The key that signs the cookies of visitors.
PAGES_KEY = b"the key of the cluster's cookies"
#: The id of the first daemon; the others follow.
FIRST_DAEMON = 1 << 40


class OwnedLog:
    """One daemon's view of the shared log, which checks that it writes only games that the daemon owns."""

    def __init__(self, log: MemoryLog, directory: StaticDirectory) -> None:
        self._log = log
        self._directory = directory

    def append(
        self,
        game_id: int,
        expected_seq: int,
        events: Sequence[AnyEvent],
        summary: Callable[[], GameSummary],
        token: TokenUse | None = None,
    ) -> Durable:
        if self._directory.owner_of(shard_of(game_id)) != self._directory.me:
            raise AssertionError(f"game {game_id} is written by a daemon that does not own it")
        return self._log.append(game_id, expected_seq, events, summary, token)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._log, name)


class Member(MemoryDaemon):
    """One daemon of a cluster.

    :ivar id: its id in the cluster.
    :ivar router: :attr:`gmd.services.Services.cluster`.
    """

    def __init__(
        self,
        services: Services,
        session_server: SessionServer,
        nursery: trio.Nursery,
        directory: StaticDirectory,
        links: Links,
        router: Router,
    ) -> None:
        super().__init__(services, session_server, nursery)
        self.directory = directory
        self.links = links
        self.router = router
        self.log: MemoryLog = services.arbiter.log._log  # type: ignore[attr-defined]
        #: Whether games of all daemons have the ids 1, 2, 3, ... in the order in which they are made.
        self.follows_on = False
        #: The connections that have come in to its port for links.
        self.incoming: list[trio.abc.Stream] = []

    @property
    def id(self) -> int:
        return self.directory.me

    def new_id(self) -> int:
        """Return the lowest id above those that were given in any of this daemon's shards.

        :raises Moved: it owns none.
        """
        if self.follows_on:
            return self._next_id()
        mine = [shard for shard in range(SHARDS) if self.directory.is_mine(shard)]
        if not mine:
            raise Moved("this daemon owns no shard")
        shared = self.directory.shared
        game_id = min(shared.last_ids[shard] + SHARDS for shard in mine)
        shared.last_ids[shard_of(game_id)] = game_id
        self.log._last_id = max(self.log._last_id, game_id)
        return game_id

    def _next_id(self) -> int:
        """Return the id behind that of the cluster's last game; its shard, which is new, becomes this daemon's."""
        game_id = self.log.next_game_id()
        assert game_id <= SHARDS, "give the cluster of this test fewer games"
        self.directory.shared.give([shard_of(game_id)], self.id)
        return game_id


class MemoryCluster:
    """All daemons.

    :ivar members: the daemons; ``cluster[0]`` is the first, which owns the lobby.
    :ivar log: the shared log.
    :ivar map: who owns what.
    """

    def __init__(self, log: MemoryLog, shared: ClusterMap, nursery: trio.Nursery) -> None:
        self.log = log
        self.map = shared
        self.members: list[Member] = []
        self._nursery = nursery
        self._listeners: dict[int, trio.SocketListener] = {}
        self._reachable: set[int] = set()

    def __getitem__(self, index: int) -> Member:
        return self.members[index]

    def __len__(self) -> int:
        return len(self.members)

    def owner_of(self, game_id: int) -> Member:
        """Return the daemon that owns a game."""
        return self.member(self.map.owners[shard_of(game_id)])

    def others(self, game_id: int) -> list[Member]:
        """Return the daemons that do not own a game."""
        return [member for member in self.members if member is not self.owner_of(game_id)]

    def member(self, daemon: int | None) -> Member:
        """Return a daemon by its id."""
        return next(member for member in self.members if member.id == daemon)

    async def hand_over(self, shards: Iterable[int], to: Member) -> None:
        """Move shards from their owners to a daemon, as a drain does."""
        shards = set(shards)
        for member in self.members:
            leaving = {shard for shard in shards if self.map.owners[shard] == member.id and member is not to}
            if leaving:
                member.directory.leaving |= leaving
                await member.router.finish(leaving)
                left = await member.arbiter.lose(leaving)
                self.map.give(leaving, to.id)
                member.directory.leaving -= leaving
                to.arbiter.gain(left.items(), Counter())

    async def cut(self, member: Member) -> None:
        """Cut the links from others to a daemon; they connect again."""
        for stream in member.incoming:
            await trio.aclose_forcefully(stream)
        member.incoming.clear()

    async def kill(self, member: Member, heir: Member) -> None:
        """Let a daemon be dead, and its shards another's: nothing that is in its memory alone survives."""
        self.map.peers.pop(member.id)
        self._reachable.discard(member.id)
        await self.cut(member)
        shards = [shard for shard in range(LOBBY + 1) if self.map.owners[shard] == member.id]
        self.map.give(shards, heir.id)
        deadlines = [(row.game_id, row.seconds_left) for row in await self.log.deadlines()]
        heir.arbiter.gain([row for row in deadlines if shard_of(row[0]) in shards], Counter())

    async def dial(self, daemon: int) -> trio.abc.Stream:
        """Connect to the port for links of a daemon."""
        if daemon not in self._reachable:
            raise OSError("nobody listens")
        if daemon in self._listeners:
            return await trio.open_tcp_stream(*self._listeners[daemon].socket.getsockname()[:2])
        await trio.lowlevel.checkpoint()
        ours, theirs = trio.testing.memory_stream_pair()
        self._nursery.start_soon(self._serve, self.member(daemon), theirs)
        return ours

    async def _serve(self, member: Member, stream: trio.abc.Stream) -> None:
        member.incoming.append(stream)
        await member.links.serve(stream)

    async def listen(self, member: Member) -> None:
        """Let a daemon take links on a port of the loopback address."""
        [listener] = await trio.open_tcp_listeners(0, host="127.0.0.1")
        self._listeners[member.id] = listener

        async def serve(stream: trio.abc.Stream) -> None:
            await self._serve(member, stream)

        self._nursery.start_soon(trio.serve_listeners, serve, [listener])


@contextmanager
def held(member: Member) -> Iterator[None]:
    """Hold back what other daemons send to a daemon, but for the next message of each."""
    go_on = trio.Event()
    streams = [stream.receive_stream for stream in member.incoming if isinstance(stream, trio.StapledStream)]
    assert streams
    for stream in streams:
        stream.receive_some_hook = go_on.wait
    try:
        yield
    finally:
        for stream in streams:
            stream.receive_some_hook = None
        go_on.set()


@asynccontextmanager
async def memory_cluster(
    count: int = 2,
    *,
    sockets: bool = False,
    follows_on: bool = False,
    tells: bool = True,
    prepare: Callable[[Member], None] = lambda member: None,
    **settings: Any,
) -> AsyncIterator[MemoryCluster]:
    """Run a :class:`MemoryCluster`.

    :param sockets: whether links go over sockets of the loopback address.
    :param follows_on: whether games have the same ids as at one daemon, for at most 256 games.
    :param tells: whether a ``wait`` for any game learns of all daemons' games, by a short cut through memory.
    :param prepare: called with each daemon before links run.
    :param settings: of every daemon's configuration.
    """
    log = MemoryLog()
    ids = [FIRST_DAEMON + index for index in range(count)]
    shared = ClusterMap({daemon: Peer(f"link-{daemon}:1", f"game-{daemon}:2", f"http-{daemon}:3") for daemon in ids})
    async with AsyncExitStack() as stack, trio.open_nursery() as nursery:
        cluster = MemoryCluster(log, shared, nursery)
        registry: Registry | None = None
        for daemon in ids:
            member = await _member(cluster, daemon, registry, stack, nursery, Config(data=":memory:", **settings))
            registry = registry or member.authenticator.registry
            cluster.members.append(member)
            member.follows_on = follows_on
            if tells:
                first = cluster[0].arbiter
                member.arbiter.turns = first.turns
                member.arbiter.watchers._by_player = first.watchers._by_player
            prepare(member)
        for member in cluster.members:
            if sockets:
                await cluster.listen(member)
            cluster._reachable.add(member.id)
        for member in cluster.members:
            await nursery.start(member.links.run)
        try:
            yield cluster
        finally:
            nursery.cancel_scope.cancel()


async def _member(
    cluster: MemoryCluster,
    daemon: int,
    registry: Registry | None,
    stack: AsyncExitStack,
    nursery: trio.Nursery,
    config: Config,
) -> Member:
    directory = StaticDirectory(cluster.map, daemon)
    log: Any = OwnedLog(cluster.log, directory)
    arbiter = Arbiter(
        log,
        config.start_timeout,
        config.idle_games,
        config.max_memory // 2,
        tenure=directory,
        new_id=lambda: cluster.member(daemon).new_id(),
    )
    await arbiter.start()
    authenticator = authenticator_of(config, log)
    stack.callback(authenticator.close)
    if registry is None:
        await authenticator.registry.start()
        nursery.start_soon(authenticator.registry.run)
    else:
        authenticator = _sharing(authenticator, registry, config)
        stack.callback(authenticator.close)
    authenticator.passwords = cheap_passwords()
    nursery.start_soon(arbiter.run)
    lobby = lobby_of(config, arbiter, authenticator, local=True)
    await lobby.start()
    nursery.start_soon(lobby.run)
    ranked = ranked_of(config, authenticator, lobby)
    await ranked.start()
    links = Links(directory, SECRET, cluster.dial)
    router = Router(directory, links, PAGES_KEY)
    services = services_of(config, arbiter, authenticator, lobby, ranked, Metrics(), local=True, cluster=router)
    router.attach(services)
    return Member(services, SessionServer(services), nursery, directory, links, router)


def _sharing(authenticator: Authenticator, registry: Registry, config: Config) -> Authenticator:
    """Return an authenticator with a registry that another daemon has, too."""
    return Authenticator(
        registry,
        config.max_failures_per_minute,
        config.max_registrations_per_hour,
        authenticator.passwords,
        presence_seconds=config.presence_timeout,
    )
