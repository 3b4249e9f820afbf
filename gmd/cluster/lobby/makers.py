"""Other daemons that make games for the lobby's owner: so a game lives where its creator is connected.

The lobby's owner counts a game under an id of the other daemon's before it asks for it. It keeps asking until it knows
whether the game was made; when the daemon has lost the id's shard, the log says so. A token finds the game there, the
client's or one that is made up.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable

import trio

from gm_protocol.errors import GmError, Internal, Moved
from gmd.all_games import LIGHTEST
from gmd.arbiter import Arbiter
from gmd.cluster.directory import Directory
from gmd.cluster.links import LinkLost, Links
from gmd.cluster.shards import shard_of
from gmd.event_log.interface import TokenUse
from gmd.games.events import Created
from gmd.logger import get_logger

from .messages import GameIs, GiveIds, Ids, MakeGame
from .news import News
from .reading import read_again

logger = get_logger(__name__)

#: How many ids a daemon is asked for.
IDS_A_TIME = 16
#: Seconds for which another daemon is waited for, before games are made here.
ASK_SECONDS = 1.0
#: Seconds for which a request waits until it is known whether its game was made, and seconds between two attempts.
PATIENCE = 10.0
AGAIN_SECONDS = 0.2
#: Seconds after which the daemons are asked again how many live games they have.
LOAD_SECONDS = 5.0
#: Bytes of a token that is made up.
TOKEN_BYTES = 32


class Makers:
    """All daemons that can make games for this one, which has the lobby.

    :ivar term: grows whenever this daemon gets the lobby or loses it: what was counted before counts no more.
    """

    def __init__(self, arbiter: Arbiter, directory: Directory, links: Links, news: News) -> None:
        self.term = 0
        self.directory = directory
        self.links = links
        self.news = news
        self.log = arbiter.log
        self._arbiter = arbiter
        self._ids: dict[int, list[int]] = {}
        #: The live games of each daemon when they were last counted, and those that were made since.
        self._loads: dict[int, int] = {}
        self._counted = -LOAD_SECONDS
        self._counting = trio.Lock()

    def forget_all(self) -> None:
        """Forget everything: this daemon gets the lobby, or loses it."""
        self.term += 1
        self._ids.clear()
        self._loads.clear()
        self._counted = -LOAD_SECONDS

    def forget(self, daemon: int) -> None:
        """Forget a daemon that is dead, or that gives no ids."""
        self._ids.pop(daemon, None)
        self._loads.pop(daemon, None)

    async def maker(self, at: int) -> DaemonMaker | None:
        """Return the daemon that is to make a game; see :meth:`gmd.all_games.AllGames.maker`."""
        if at == LIGHTEST:
            at = await self._lightest()
        if at == self.directory.me or at not in self.directory.peers():
            return None
        if not self._ids.get(at):
            await self._get_ids(at)
        return DaemonMaker(self, at) if self._ids.get(at) else None

    def take_id(self, daemon: int) -> int:
        """Return an id of a daemon's; :meth:`maker` has seen to it that there is one."""
        return self._ids[daemon].pop(0)

    async def _lightest(self) -> int:
        """Return the daemon with the fewest live games; the game that it is to make counts."""
        async with self._counting:
            if trio.current_time() - self._counted >= LOAD_SECONDS:
                await self._count()
        living = self.directory.peers()
        loads = {daemon: games for daemon, games in self._loads.items() if daemon in living}
        if not loads:
            return self.directory.me
        found = min(loads, key=lambda daemon: loads[daemon])
        self._loads[found] += 1
        return found

    async def _count(self) -> None:
        """Ask every daemon how many live games it has."""
        self._loads.clear()
        self._loads[self.directory.me] = self._arbiter.live_games
        async with trio.open_nursery() as nursery:
            for daemon in self.directory.peers():
                if daemon != self.directory.me:
                    nursery.start_soon(self._get_ids, daemon)
        self._counted = trio.current_time()

    async def _get_ids(self, daemon: int) -> None:
        """Ask a daemon for ids, if it has few."""
        ids, term = self._ids.get(daemon, []), self.term
        number = 0 if len(ids) > IDS_A_TIME // 2 else IDS_A_TIME
        with trio.move_on_after(ASK_SECONDS):
            try:
                answer = await self.links.ask(daemon, GiveIds(number))
            except (LinkLost, GmError):
                pass
            else:
                assert isinstance(answer, Ids)
                if term == self.term:
                    self._ids.setdefault(daemon, []).extend(answer.ids)
                    self._loads[daemon] = answer.live_games
                return
        if term == self.term:
            self.forget(daemon)


class DaemonMaker:
    """One daemon that makes games; :class:`gmd.all_games.Maker` says what its methods do."""

    def __init__(self, makers: Makers, daemon: int) -> None:
        self._makers = makers
        self._daemon = daemon

    def take_id(self) -> int:
        return self._makers.take_id(self._daemon)

    async def make(
        self, game_id: int, created: Created, token: TokenUse | None, lost: Callable[[], None]
    ) -> int | None:
        token = token or TokenUse(None, secrets.token_bytes(TOKEN_BYTES), b"")
        order = _Order(self._makers, self._daemon, MakeGame(game_id, created, *token), lost)
        self._makers.links.spawn(order.run)
        with trio.move_on_after(PATIENCE):
            await order.done.wait()
        if not order.done.is_set():
            raise Internal("the server that was asked to make the game does not answer; look whether it is made")
        if order.error is not None:
            raise order.error
        return order.game_id


class _Order:
    """A game that a daemon was asked to make.

    :ivar done: set when it is known whether it was made.
    :ivar game_id: the game's id then; None if nothing was done.
    :ivar error: why it cannot be made at any daemon.
    """

    def __init__(self, makers: Makers, daemon: int, message: MakeGame, lost: Callable[[], None]) -> None:
        self.done = trio.Event()
        self.game_id: int | None = None
        self.error: GmError | None = None
        self._makers = makers
        self._term = makers.term
        self._daemon = daemon
        self._message = message
        self._lost = lost

    async def run(self) -> None:
        """Have the game made, or learn that it was not."""
        try:
            self.game_id = await self._outcome()
        except GmError as error:
            self.error = error
        if self.game_id != self._message.game_id and self._term == self._makers.term:
            self._lost()
            await self._take_other()
        self.done.set()

    async def _outcome(self) -> int | None:
        """Return the id of the game, once it is durable; None if it was not made.

        :raises GmError: it was not made; nothing was written.
        """
        directory, shard = self._makers.directory, shard_of(self._message.game_id)
        while True:
            owner = directory.owner_of(shard)
            try:
                if owner == self._daemon:
                    return await self._ask()
                if owner is not None:  # the daemon can write nothing in this shard any more
                    return await self._look()
            except Moved:
                return None
            except LinkLost:
                pass
            with trio.move_on_after(AGAIN_SECONDS):
                await directory.changed()

    async def _ask(self) -> int:
        answer = await self._makers.links.ask(self._daemon, self._message)
        assert isinstance(answer, GameIs)
        if self._term == self._makers.term:
            self._makers.news.take_game(answer.game)
        return answer.game.id

    async def _look(self) -> int | None:
        """Look whether the game is in the log.

        :raises LinkLost: that cannot be known now.
        """
        makers, message = self._makers, self._message
        try:
            made = await makers.log.made_under(message.token_player, message.token)
        except GmError as error:
            logger.warning("nobody knows whether a game was made", game_id=message.game_id, reason=str(error))
            raise LinkLost(self._daemon, sent=True) from error
        if made is None or made[1] != message.content:
            return None
        if self._term == makers.term:
            await read_again(makers.log, makers.news, [made[0]])
        return made[0]

    async def _take_other(self) -> None:
        """Take in again the game that has the id now, if there is one: the next owner of the shard has made it."""
        makers = self._makers
        if makers.directory.owner_of(shard_of(self._message.game_id)) != self._daemon:
            makers.news.forget(self._message.game_id)
            await read_again(makers.log, makers.news, [self._message.game_id])
