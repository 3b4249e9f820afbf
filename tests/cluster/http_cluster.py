"""Several daemons with HTTP in one trio program: :func:`tests.cluster.memory_cluster.memory_cluster` over sockets.

async with http_cluster(2) as cluster:
    game_id = await made(cluster[1])              # a game of cluster[1]
    async with browsing(cluster[0]) as browser:   # whose requests for it are passed on (tests.http.pages.browser)
        page = await browser.get(f"/games/{game_id}")
"""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import httpx
import trio

from gmd.config import Config
from gmd.http.backend import Vitals
from gmd.http.proxy.service import OtherDaemons
from gmd.http.service import HttpService
from gmd.in_process import InProcessClient
from gmd.requests.session import Authority
from gmd.tls import Certificate
from tests.cluster.memory_cluster import Member, MemoryCluster, memory_cluster
from tests.helpers import Json
from tests.http.helpers import http_client
from tests.http.rbc import PATIENCE_SECONDS


class HttpMember:
    """One daemon with HTTP, with the attributes of :class:`gmd.daemon.Daemon` that tests use.

    :ivar member: the daemon.
    """

    def __init__(self, member: Member, http: HttpService, local: InProcessClient) -> None:
        self.member = member
        self.http = http
        self.local = local
        self.authenticator = member.services.authenticator
        self.http_port = http.addresses[0][1]

    @property
    def others(self) -> OtherDaemons:
        assert self.http.others is not None
        return self.http.others

    @property
    def forwarded(self) -> int:
        """How many requests it has passed on."""
        return self.others.proxy.forwarded

    async def ask(self, kind: str, /, **fields: Any) -> Json:
        """Send a request of the protocol; a refusal is raised."""
        return await self.local.ask(Authority.CLIENT, kind, fields)

    async def ask_as_operator(self, kind: str, /, **fields: Any) -> Json:
        """Send a request of the protocol as the operator; a refusal is raised."""
        return await self.local.ask(Authority.OPERATOR, kind, fields)


class HttpCluster:
    """All daemons.

    :ivar games: their games, links and owners.
    """

    def __init__(self, games: MemoryCluster, members: Sequence[HttpMember]) -> None:
        self.games = games
        self.members = members

    def __getitem__(self, index: int) -> HttpMember:
        return self.members[index]

    def owner_of(self, game_id: int) -> HttpMember:
        """Return the daemon that owns a game."""
        owner = self.games.owner_of(game_id)
        return next(each for each in self.members if each.member is owner)

    async def cut(self, at: HttpMember) -> None:
        """Cut all connections of other daemons to one."""
        await self.games.cut(at.member)


@asynccontextmanager
async def http_cluster(
    count: int = 2, certificate: Certificate | None = None, follows_on: bool = False, **settings: Any
) -> AsyncIterator[HttpCluster]:
    """Run daemons with HTTP, whose links go over sockets.

    :param certificate: puts TLS on the connections of clients.
    :param follows_on: as for :func:`memory_cluster`.
    :param settings: of every daemon's configuration.
    """
    members: list[HttpMember] = []
    config = Config(data=":memory:", http=True, **settings)

    def prepare(member: Member) -> None:
        members.append(_with_http(member, config, certificate))

    async with AsyncExitStack() as stack:
        opened = memory_cluster(count, sockets=True, follows_on=follows_on, prepare=prepare, **settings)
        games = await stack.enter_async_context(opened)
        nursery = await stack.enter_async_context(trio.open_nursery())
        for member in members:
            nursery.start_soon(member.http.run, nursery)
        yield HttpCluster(games, members)
        nursery.cancel_scope.cancel()


def _with_http(member: Member, config: Config, certificate: Certificate | None) -> HttpMember:
    bound = socket.create_server(("127.0.0.1", 0))
    listener = trio.SocketListener(trio.socket.from_stdlib_socket(bound))
    vitals = Vitals(
        services=member.services,
        game_port=member.session_server,
        operator_port=None,
        http_ports={},
        metrics_token=config.metrics_token,
    )
    local = InProcessClient(member.services)
    return HttpMember(member, HttpService(config, [listener], vitals, local, certificate), local)


def client_of(member: HttpMember) -> httpx.AsyncClient:
    """Return an HTTP client of a daemon."""
    return http_client(member.http_port, timeout=PATIENCE_SECONDS)


async def made(member: HttpMember, white: int | None = 1, black: int | None = 2, **options: Any) -> int:
    """Make a game at a daemon, which owns it; return its id."""
    game_id: int = (await member.ask("new_game", player_white=white, player_black=black, **options))["game_id"]
    return game_id
