"""Having the lobby: starting it on a running daemon, and reading again what a dead daemon may not have reported."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import trio

from gm_protocol.errors import GmError
from gmd.arbiter import Arbiter
from gmd.cluster.directory import Directory
from gmd.cluster.shards import LOBBY, SHARDS, shard_of
from gmd.contests.book import Contests
from gmd.lobby.lobby import Lobby
from gmd.logger import get_logger
from gmd.ranked.play import RankedPlay
from gmd.retention import prune_finished

from .everybody import Everybody
from .games import ClusterGames
from .messages import ReportToMe
from .news import News
from .reading import read_again

logger = get_logger(__name__)

#: Seconds until another attempt where the log cannot be read.
AGAIN_SECONDS = 1.0


class Ownership:
    """One daemon's ownership of the lobby: it runs the lobby while the directory says that this daemon has it."""

    def __init__(
        self,
        arbiter: Arbiter,
        lobby: Lobby,
        ranked: RankedPlay,
        contests: Contests,
        games: ClusterGames,
        news: News,
        directory: Directory,
        everybody: Everybody,
        keep_days: float | None,
        become: Callable[[], Awaitable[None]],
        lose: Callable[[], None],
        forget: Callable[[int], None],
        watch: Callable[[], Awaitable[None]],
    ) -> None:
        """:param keep_days: how long finished games are kept; None for ever.
        :param become: follows this daemon as the new owner of the lobby, as every other daemon does.
        :param lose: called when this daemon has the lobby no longer.
        :param forget: called with a daemon that is dead.
        :param watch: expels daemons that cannot be reached, also while the lobby is being started.
        """
        self._arbiter = arbiter
        self._lobby = lobby
        self._ranked = ranked
        self._contests = contests
        self._games = games
        self._news = news
        self._directory = directory
        self._everybody = everybody
        self._keep_days = keep_days
        self._become = become
        self._lose = lose
        self._forget = forget
        self._started, self._turned = trio.Event(), trio.Event()
        self._watch = watch
        self._ended = trio.Event()
        self._ended.set()
        self._scope = trio.CancelScope()
        #: The shards that each living daemon has owned since it was first seen.
        self._owned: dict[int, set[int]] = {}
        #: The daemons that have dropped reports, and an event for the first of them.
        self._missed: set[int] = set()
        self._has_missed = trio.Event()

    @property
    def is_mine(self) -> bool:
        """Whether this daemon has the lobby, started or not; also while its lease is not valid and nobody else's."""
        return LOBBY in self._directory.epochs

    async def started(self) -> None:
        """Return when the lobby runs at this daemon; at once, if it does."""
        await self._started.wait()

    @property
    def is_running(self) -> bool:
        """Whether the lobby runs at this daemon."""
        return self._started.is_set()

    async def turned(self) -> None:
        """Return when the lobby next starts or ends at this daemon."""
        await self._turned.wait()

    async def run(self) -> None:
        """Have the lobby whenever the directory says so, until cancelled."""
        while True:
            await self._until(is_mine=True)
            self._ended = trio.Event()
            try:
                with trio.CancelScope() as self._scope:
                    await self._have()
            finally:
                self._started = trio.Event()
                self._note_turn()
                self._news.close()
                self._lose()
                self._ended.set()
            await self._until(is_mine=False)

    async def stop(self) -> None:
        """End the lobby here, with what it has to write, before it is handed over."""
        self._scope.cancel()
        await self._ended.wait()

    async def _until(self, *, is_mine: bool) -> None:
        while self.is_mine != is_mine:
            await self._directory.changed()

    async def _have(self) -> None:
        """Run the lobby until this daemon has it no longer."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._serve)
            nursery.start_soon(self._watch)
            await self._until(is_mine=False)
            nursery.cancel_scope.cancel()

    async def _serve(self) -> None:
        while True:
            try:
                await self._start()
                break
            except GmError as error:
                logger.error("the lobby could not be started", reason=str(error))
                await trio.sleep(AGAIN_SECONDS)
        logger.info("this server has the lobby")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._lobby.run)
            nursery.start_soon(self._ranked.run)
            nursery.start_soon(self._contests.run)
            nursery.start_soon(self._watch_daemons)
            nursery.start_soon(self._watch_gaps)
            if self._keep_days is not None:
                nursery.start_soon(prune_finished, self._arbiter, self._keep_days, self._games.removed)

    async def _start(self) -> None:
        """Start the lobby from the log.

        First every living daemon promises to report to this one from now on; then the log is read. So everything that
        happens is in the log by then, or it is reported.

        :raises GmError: the log cannot be read.
        """
        self._news.close()
        self._lobby.seeking.queue.clear()
        self._note_owned()
        await self._become()
        await self._everybody.ask(ReportToMe)
        await self._lobby.start()
        await self._ranked.start()
        await self._contests.start()
        reported = self._news.open()
        if reported is None:
            await self._read_again(set(range(SHARDS)))
        else:
            await read_again(self._games.log, self._news, reported)
        self._started.set()
        self._note_turn()

    def _note_turn(self) -> None:
        self._turned.set()
        self._turned = trio.Event()

    # --- Other daemons --------------------------------------------------------------------------------------------

    def _note_owned(self) -> None:
        for daemon in self._directory.peers():
            self._owned.setdefault(daemon, set())
        for shard in range(LOBBY):
            owner = self._directory.owner_of(shard)
            if owner is not None:
                self._owned.setdefault(owner, set()).add(shard)

    async def _watch_daemons(self) -> None:
        """Read again what concerns the shards of daemons that die, until cancelled."""
        while True:
            self._note_owned()
            dead = self._owned.keys() - self._directory.peers().keys()
            for daemon in dead:
                self._forget(daemon)
            shards = set().union(*(self._owned.pop(daemon) for daemon in dead))
            if shards:
                await self._read_until_done(shards)
            else:
                await self._directory.changed()

    def miss(self, daemon: int) -> None:
        """Note that a daemon has dropped reports."""
        self._missed.add(daemon)
        self._has_missed.set()

    async def _watch_gaps(self) -> None:
        """Read again what concerns the shards of daemons that have dropped reports, until cancelled."""
        while True:
            await self._has_missed.wait()
            self._has_missed = trio.Event()
            missed, self._missed = self._missed, set()
            self._note_owned()
            await self._read_until_done(set().union(*(self._owned.get(daemon, ()) for daemon in missed)))

    async def _read_until_done(self, shards: set[int]) -> None:
        while True:
            try:
                await self._read_again(shards)
                return
            except GmError as error:
                logger.error("games could not be read again", reason=str(error))
                await trio.sleep(AGAIN_SECONDS)

    async def _read_again(self, shards: set[int]) -> None:
        """Take in the games of some shards as the log has them; they may have been changed and not reported.

        :raises GmError: the log cannot be read.
        """
        log = self._games.log
        listed = {each.game_id for each in await log.playing()}
        listed |= {each.game_id for each in await log.unanswered()}
        known = self._news.unfinished() | self._lobby.book.unfinished() | self._ranked.ratings.unfinished()
        known |= {*self._lobby.quotas.games} | listed
        concerned = {game_id for game_id in known if game_id > 0 and shard_of(game_id) in shards}
        for game in await read_again(log, self._news, concerned):
            if game.lapsing and game.created.lapses is not None:
                self._games.lapse(game.id, game.created.lapses)
        self._arbiter.turns.clear()  # turns may not have been reported either: a waiting session reads the log again
        self._arbiter.watchers.notify_all_players()
        logger.info("games that may not have been reported were read again", games=len(concerned))
