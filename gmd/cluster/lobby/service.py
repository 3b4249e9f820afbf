"""All parts of one daemon in the lobby of a cluster, wired together."""

from __future__ import annotations

import trio

from gm_protocol.errors import GmError, Moved
from gmd.arbiter import Arbiter
from gmd.cluster.directory import Directory
from gmd.cluster.link_messages import Done
from gmd.cluster.links import LinkLost, Links
from gmd.cluster.shards import LOBBY
from gmd.contests.book import Contests
from gmd.lobby.lobby import Lobby
from gmd.logger import get_logger
from gmd.players.authenticator import Authenticator
from gmd.ranked.play import RankedPlay

from .accounts import Accounts
from .bots import BotsEverywhere
from .everybody import Everybody
from .failures import FailuresEverywhere
from .games import ClusterGames
from .makers import Makers
from .making import Making
from .messages import Attach, ReportToMe, Unreachable, Watched
from .news import News
from .ownership import Ownership
from .places import Places
from .presence import PresenceEverywhere
from .reach import ADVICE, Reach
from .reporter import Reporter
from .seeks import Seeks
from .watching import Watching

logger = get_logger(__name__)

#: Seconds between two attempts to reach the lobby's owner.
AGAIN_SECONDS = 0.2


class LobbyService:
    """The part of one daemon in the lobby of a cluster.

    First make it; then the lobby and ranked play with its ``games``; then :meth:`connect` them, and :meth:`run` it
    beside the links. Before the daemon owns a shard, or serves a client, :meth:`attach` it.

    :ivar games: all games, for the lobby, its quotas and ranked play.
    :ivar seeks: keeps the seeks of players who are connected here.
    :ivar bots: the bots of the server.
    """

    def __init__(self, arbiter: Arbiter, authenticator: Authenticator, directory: Directory, links: Links) -> None:
        self._directory = directory
        self._links = links
        self._arbiter = arbiter
        self._authenticator = authenticator
        me = directory.me
        self._everybody = Everybody(directory, links)
        self._reach = Reach(directory, links, self._everybody)
        self._reporter = Reporter(arbiter, links, me)
        self._news = News(arbiter, links, me)
        self._making = Making(arbiter, directory, links, self._reporter)
        self._makers = Makers(arbiter, directory, links, self._news)
        self.games = ClusterGames(arbiter, self._news.feed, directory, links, self._makers)
        self._watching = Watching(arbiter, links, self._everybody, self._reporter)
        self._accounts = Accounts(authenticator.registry, links, self._everybody, self._reporter, me)
        self._presence = PresenceEverywhere(authenticator.presence, links, self._reporter, me)
        FailuresEverywhere(authenticator.failures, directory, links)
        self.bots = BotsEverywhere(links, self._everybody, self._reporter, me)
        links.on_ask(ReportToMe, self._on_report)
        links.on_ask(Attach, self._on_attach)
        #: Where others have tried to reach this daemon, and could not.
        self._unreached: str | None = None
        self._places: Places
        self.seeks: Seeks
        self._ownership: Ownership

    def connect(self, lobby: Lobby, ranked: RankedPlay, contests: Contests, keep_days: float | None = None) -> None:
        """Connect the services, which are not started.

        :param keep_days: how long finished games are kept; None for ever.
        """
        links, reporter, directory = self._links, self._reporter, self._directory
        self._places = Places(lobby.quotas, directory, links, reporter)
        self.seeks = Seeks(lobby, self._authenticator.presence, links, reporter, directory.me, self.started)
        self._ownership = Ownership(
            self._arbiter,
            lobby,
            ranked,
            contests,
            self.games,
            self._news,
            directory,
            self._everybody,
            keep_days,
            self._become,
            self._lose,
            self._forget,
            self._reach.watch,
        )
        links.on_gap(self._ownership.miss)

    async def run(self) -> None:
        """Have the lobby whenever the directory says so, until cancelled."""
        await self._ownership.run()

    async def started(self) -> None:
        """Return when the lobby runs at this daemon, its owner. It serves no request for the lobby before."""
        await self._ownership.started()

    @property
    def is_running(self) -> bool:
        """Whether the lobby runs at this daemon."""
        return self._ownership.is_running

    async def turned(self) -> None:
        """Return when the lobby next starts or ends at this daemon."""
        await self._ownership.turned()

    async def stop(self) -> None:
        """End the lobby at this daemon, its owner, before it is handed over."""
        await self._ownership.stop()

    async def presence_known(self) -> None:
        """Return when the lobby's owner knows who has sessions at this daemon."""
        await self._presence.known()

    def has_result(self, game_id: int, player: int) -> None:
        """Note, at the lobby's owner, that a player has the result of a game."""
        self._news.has_result(game_id, player)

    async def attach(self) -> int:
        """Report to the lobby's owner from now on, and read the accounts; return who that is when that is done.

        It is repeated for as long as the lobby's owner does not reach this daemon.

        :raises GmError: the accounts cannot be read.
        """
        while True:
            lobby = self._directory.owner_of(LOBBY)
            if lobby == self._directory.me:
                return lobby  # starting the lobby does it
            if lobby is not None and await self._attach_to(lobby):
                await self._accounts.reload()
                return lobby
            with trio.move_on_after(AGAIN_SECONDS):
                await self._directory.changed()

    async def _attach_to(self, lobby: int) -> bool:
        """Report to a daemon from now on; return whether it agrees that it has the lobby."""
        if self._reporter.lobby != lobby:
            self._follow(lobby)
        try:
            answer = await self._links.ask(lobby, Attach())
        except (LinkLost, GmError):
            return False
        if isinstance(answer, Unreachable):
            if answer.address != self._unreached:
                logger.error("the other servers cannot reach this one", address=answer.address, advice=ADVICE)
            self._unreached = answer.address
            return False
        assert isinstance(answer, Watched)
        self._unreached = None
        self._reporter.watched.update(answer.players)
        self.bots.take_in(answer.bots)
        return True

    def _follow(self, lobby: int) -> None:
        """Report to a new owner of the lobby from now on."""
        self._reporter.lobby = lobby
        self._reporter.watched.clear()
        self._accounts.follow()
        self._making.follow()
        self._places.follow()
        self._presence.tell_all()
        self.seeks.tell_all()

    async def _on_report(self, _ask: ReportToMe, daemon: int) -> Done:
        self._follow(daemon)
        await self._making.settled()
        await self._accounts.reload()
        await self._presence.known()
        return Done()

    async def _on_attach(self, _ask: Attach, daemon: int) -> Watched | Unreachable:
        if not self._ownership.is_mine:
            raise Moved("the lobby has another owner among the servers; nothing was done; send it again")
        if not await self._reach.can_reach(daemon):
            peer = self._directory.peers().get(daemon)
            address = "" if peer is None else peer.link
            logger.warning("another server that wants to join cannot be reached", address=address, advice=ADVICE)
            return Unreachable(address)
        if not self._ownership.is_mine:
            raise Moved("the lobby has another owner among the servers; nothing was done; send it again")
        self._everybody.joins(daemon)
        return Watched(list(self._watching.players), tuple(self.bots.listed()))

    # --- As the lobby's owner -------------------------------------------------------------------------------------

    async def _become(self) -> None:
        self._watching.forget()
        self._makers.forget_all()
        self._presence.forget_all()
        self._follow(self._directory.me)
        await self._accounts.reload()

    def _lose(self) -> None:
        self._watching.forget()
        self._makers.forget_all()
        self.seeks.forget()

    def _forget(self, daemon: int) -> None:
        self._presence.forget(daemon)
        self._places.forget(daemon)
        self._makers.forget(daemon)


__all__ = ["LobbyService"]
