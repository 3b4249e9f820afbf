"""The games of all daemons, as the lobby reaches them: those of others by asking their owners."""

from __future__ import annotations

import trio

from gm_protocol.errors import Internal, Moved
from gmd import loop_time
from gmd.all_games import OwnGames, call_off
from gmd.arbiter import Arbiter
from gmd.cluster.directory import Directory
from gmd.cluster.link_messages import Done, LinkMessage
from gmd.cluster.links import LinkLost, Links
from gmd.cluster.shards import shard_of
from gmd.event_log.interface import Pruned
from gmd.game_feed import GameFeed
from gmd.games.game_note import GameNote

from .makers import Makers
from .messages import CallGameOff, FinishInvitation, GameIs, Lapse, LookAtGame, Removed

#: Seconds for which a game without an owner is waited for, and seconds between two attempts.
PATIENCE = 10.0
AGAIN_SECONDS = 0.2


class ClusterGames:
    """All games; :class:`gmd.all_games.AllGames` says what its methods do."""

    def __init__(self, arbiter: Arbiter, feed: GameFeed, directory: Directory, links: Links, makers: Makers) -> None:
        """:param feed: the news of all games."""
        own = OwnGames(arbiter)
        self.feed = feed
        self.log = arbiter.log
        self.open = arbiter.open
        self.maker = makers.maker
        self._own = own
        self._arbiter = arbiter
        self._directory = directory
        self._links = links
        links.on_ask(LookAtGame, self._on_look)
        links.on_ask(CallGameOff, self._on_call_off)
        links.on_ask(FinishInvitation, self._on_finish)
        links.on_note(Lapse, self._on_lapse)
        links.on_note(Removed, self._on_removed)

    def lapse(self, game_id: int, seconds: float) -> None:
        owner = self._directory.owner_of(shard_of(game_id))
        if owner is None:
            self._links.spawn(self._lapse_later, game_id, seconds)
        else:
            self._links.tell(owner, Lapse(game_id, seconds))

    async def _lapse_later(self, game_id: int, seconds: float) -> None:
        while self._directory.owner_of(shard_of(game_id)) is None:
            await self._directory.changed()
        self.lapse(game_id, seconds)

    def removed(self, pruned: Pruned) -> None:
        """Tell everybody concerned that a game was removed from the log."""
        self.feed.pruned(pruned)
        owner = self._directory.owner_of(shard_of(pruned.game_id))
        if owner is not None:
            self._links.tell(owner, Removed(*pruned))

    async def look(self, game_id: int, peer: str = "") -> GameNote:
        answer = await self._ask(game_id, LookAtGame(game_id, peer))
        assert isinstance(answer, GameIs)
        return answer.game

    async def call_off(self, game_id: int, player: int) -> None:
        await self._ask(game_id, CallGameOff(game_id, player))

    async def expire(self, game_id: int) -> None:
        await self._ask(game_id, CallGameOff(game_id, None))

    async def finish(self, game_id: int, player: int, at: float, peer: str = "") -> None:
        await self._ask(game_id, FinishInvitation(game_id, player, loop_time.now() - at, peer))

    async def _ask(self, game_id: int, message: LinkMessage) -> LinkMessage:
        """Ask a game's owner; all that is asked here may be repeated.

        :raises GmError: the owner refused; or the game had no owner for a while.
        """
        with trio.move_on_after(PATIENCE):
            while True:
                owner = self._directory.owner_of(shard_of(game_id))
                if owner is not None:
                    try:
                        return await self._links.ask(owner, message)
                    except (LinkLost, Moved):
                        pass
                with trio.move_on_after(AGAIN_SECONDS):
                    await self._directory.changed()
        raise Internal(f"game {game_id}: the server that has it did not answer; nothing is known to be done")

    # --- As the owner of a game -----------------------------------------------------------------------------------

    async def _on_look(self, ask: LookAtGame, _daemon: int) -> GameIs:
        return GameIs(await self._own.look(ask.game_id, ask.peer))

    async def _on_call_off(self, ask: CallGameOff, _daemon: int) -> Done:
        if ask.player is None:
            await self._own.expire(ask.game_id)
        else:
            await call_off(self._arbiter, ask.game_id, ask.player, loop_time.now())
        return Done()

    async def _on_finish(self, ask: FinishInvitation, _daemon: int) -> Done:
        await self._own.finish(ask.game_id, ask.player, loop_time.now() - ask.waited, ask.peer)
        return Done()

    def _on_lapse(self, note: Lapse, _daemon: int) -> None:
        if self._arbiter.deadlines.deadline(note.game_id) is None:
            self._arbiter.lapse(note.game_id, note.seconds)

    def _on_removed(self, note: Removed, daemon: int) -> None:
        if daemon != self._directory.me:  # its own are forgotten already
            self._arbiter.forget(Pruned(note.game_id, note.players, note.ranked))
