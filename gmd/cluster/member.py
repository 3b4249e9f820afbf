"""One daemon of a cluster: its membership, its links to the others, and its part in what they share."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial

import psycopg
import trio

from gm_protocol.errors import GmError, Moved
from gmd.arbiter import Arbiter
from gmd.event_log.database import Database
from gmd.logger import get_logger
from gmd.players.authenticator import Authenticator
from gmd.shard_games import ShardGames
from gmd.version import VERSION

from .directory import Peer
from .game_ids import GameIds
from .handed_clocks import HandedClocks
from .leases import Fenced
from .link_messages import Done
from .link_port import dial_by_tcp
from .link_tls import Contexts
from .links import LinkLost, Links
from .lobby.service import LobbyService
from .membership import Membership
from .router import Router
from .secrets import shared_secret
from .shards import LOBBY
from .vitals import written

logger = get_logger(__name__)

#: Seconds for which shards wait until the lobby's owner knows this daemon; then somebody may have to be taken over.
ATTACH_SECONDS = 1.0
#: Seconds for the next owner of shards to take their clocks.
CLOCKS_SECONDS = 1.0
#: Seconds between two looks at what this daemon shows of itself to operators.
VITALS_SECONDS = 1.0
#: Seconds for which messages to other daemons may gather while there are other requests to answer.
GATHER_SECONDS = 0.002
#: Seconds between two attempts to read the accounts.
AGAIN_SECONDS = 0.5


class Member:
    """The parts of a daemon that is one of several. First make it, then :meth:`attach` services, then :meth:`joined`.

    :ivar new_id: gives new games their ids.
    :ivar certificate: puts TLS on links; None for plaintext.
    """

    def __init__(
        self, membership: Membership, url: str, certificate: Contexts | None = None, *, gives_home: bool = True
    ) -> None:
        """Block for a moment, to read the secrets of the links and of the pages.

        :param url: the database's; it has the tables of a cluster.
        :param certificate: puts TLS on links; None for plaintext.
        :param gives_home: whether clients learn where the owner of a game is.
        :raises psycopg.Error: the database cannot be used.
        """
        self.membership = membership
        self.certificate = certificate
        self.new_id = GameIds()
        self.links = Links(
            membership, shared_secret(url, "links"), dial_by_tcp(membership), certificate, GATHER_SECONDS
        )
        self.router = Router(membership, self.links, shared_secret(url, "pages"), gives_home=gives_home)
        self.links.on_ask(HandedClocks, self._on_clocks)
        self._attached = trio.Event()
        self._games: ShardGames
        self.lobby: LobbyService

    def attach(self, arbiter: Arbiter, authenticator: Authenticator, database: Database) -> None:
        """Take part with a daemon's games and accounts."""
        self._games = ShardGames(arbiter, self.new_id, database, self.membership, self._send_clocks)
        self.lobby = LobbyService(arbiter, authenticator, self.membership, self.links)
        self.router.presence_known = self.lobby.presence_known
        self.router.has_result = self.lobby.has_result

    async def join(self, peer: Peer) -> None:
        """Join the others. :meth:`running` must follow.

        :param peer: this daemon's addresses.
        :raises psycopg.Error: the database cannot be used.
        """
        await self.membership.join(peer._replace(joining=True), VERSION)

    @asynccontextmanager
    async def running(self, listeners: Sequence[trio.SocketListener]) -> AsyncIterator[None]:
        """Be one of the daemons for as long as the context is open; then leave.

        It opens when the lobby's owner knows this daemon.

        :param listeners: those of its links.
        """
        try:
            async with trio.open_nursery() as nursery:
                await nursery.start(self.links.run)
                nursery.start_soon(partial(trio.serve_listeners, self.links.serve, list(listeners)))
                nursery.start_soon(self.lobby.run)
                nursery.start_soon(self._attach)
                nursery.start_soon(self._give_up)
                nursery.start_soon(self._show_vitals)
                nursery.start_soon(self.membership.run, self)
                await self._attached.wait()
                yield
                nursery.cancel_scope.cancel()
        finally:
            await self.membership.leave()

    async def drain(self) -> None:
        """Hand everything over to the other daemons, if there are any."""
        await self.membership.drain()

    async def _attach(self) -> None:
        """Report to the lobby's owner; from then on this daemon may own shards and serve clients."""
        while not self._attached.is_set():
            try:
                lobby = await self.lobby.attach()
                await self.membership.settle()
            except GmError as error:
                logger.error("the accounts cannot be read", reason=str(error))
                await trio.sleep(AGAIN_SECONDS)
            except psycopg.Error as error:
                logger.error("the others cannot be joined", reason=str(error).strip())
                await trio.sleep(AGAIN_SECONDS)
            except Fenced:
                return
            else:
                # A new owner of the lobby asks daemons to report to it that were not joining any more when it began.
                if self.membership.owner_of(LOBBY) == lobby:
                    self._attached.set()

    async def _give_up(self) -> None:
        """Let nobody wait for the lobby's owner once this daemon is fenced."""
        await self.membership.fenced.wait()
        self._attached.set()

    async def _show_vitals(self) -> None:
        """Have each renewal of the lease store what this daemon shows of itself."""
        while True:
            self.membership.show(written(self.router.vitals()))
            await trio.sleep(VITALS_SECONDS)

    # --- Shards -------------------------------------------------------------------------------------------------------

    async def gained(self, shards: Mapping[int, int]) -> None:
        """Get ready to serve shards; see :class:`~gmd.cluster.membership.ShardHandler`."""
        with trio.move_on_after(ATTACH_SECONDS):
            await self._attached.wait()
        if not self._attached.is_set():
            raise Moved("the lobby's owner does not know this server yet")
        if LOBBY in shards:
            await self._start_lobby()
        if games := {shard: epoch for shard, epoch in shards.items() if shard != LOBBY}:
            await self._games.gained(games)

    async def _start_lobby(self) -> None:
        """Return when the lobby runs here.

        :raises Moved: it takes longer: a daemon that is silent may have to be taken over first.
        """
        with trio.move_on_after(ATTACH_SECONDS) as scope:
            await self.lobby.started()
        if scope.cancelled_caught:
            raise Moved("the lobby is not started yet")

    async def losing(self, shards: Mapping[int, int]) -> None:
        """Finish what is under way in shards; see :class:`~gmd.cluster.membership.ShardHandler`."""
        await self.router.finish(shards)
        if LOBBY in shards:
            await self.lobby.stop()
        if games := {shard: to for shard, to in shards.items() if shard != LOBBY}:
            await self._games.losing(games)

    def resumed(self, seconds: float) -> None:
        """Go on after an outage; see :class:`~gmd.cluster.membership.ShardHandler`."""
        self._games.resumed(seconds)

    async def _send_clocks(self, daemon: int, clocks: HandedClocks) -> None:
        try:
            with trio.fail_after(CLOCKS_SECONDS):
                await self.links.ask(daemon, clocks)
        except (LinkLost, GmError, trio.TooSlowError) as error:
            logger.warning("running clocks could not be handed over", daemon=daemon, reason=str(error))

    async def _on_clocks(self, clocks: HandedClocks, _daemon: int) -> Done:
        self._games.accept(clocks)
        return Done()
