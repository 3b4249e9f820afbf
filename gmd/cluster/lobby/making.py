"""Making, at this daemon, games that the lobby's owner has admitted.

The lobby's owner first asks for ids, so that it can count a game before it asks for it. An id is good for as long as
this daemon owns its shard, without a break, and reports to that lobby's owner.
"""

from __future__ import annotations

import trio

from gm_protocol.errors import Moved
from gmd.all_games import durably
from gmd.arbiter import Arbiter
from gmd.cluster.directory import Directory
from gmd.cluster.links import Links
from gmd.cluster.shards import shard_of
from gmd.event_log.interface import TokenUse
from gmd.games.game_note import note_of
from gmd.games.variants import make_game
from gmd.live_games import LiveGame

from .messages import GameIs, GiveIds, Ids, MakeGame
from .reporter import Reporter

#: The most ids given at once.
MAX_IDS = 64


class Making:
    """The part of one daemon, as the owner of games that the lobby makes."""

    def __init__(self, arbiter: Arbiter, directory: Directory, links: Links, reporter: Reporter) -> None:
        self._arbiter = arbiter
        self._directory = directory
        self._reporter = reporter
        #: The ids that were given and not used, with the epochs of their shards.
        self._given: dict[int, int] = {}
        #: How many games are being made, and what is set when there are none.
        self._under_way = 0
        self._idle = trio.Event()
        self._idle.set()
        links.on_ask(GiveIds, self._on_give)
        links.on_ask(MakeGame, self._on_make)

    def follow(self) -> None:
        """Follow another owner of the lobby: what the one before asks for from now on is refused."""
        self._given.clear()

    async def settled(self) -> None:
        """Return when every game that was being made is durable, or is not made."""
        await self._idle.wait()

    async def _on_give(self, ask: GiveIds, daemon: int) -> Ids:
        self._check(daemon)
        ids = [self._arbiter.new_id() for _ in range(min(ask.number, MAX_IDS))]
        self._given |= {game_id: self._directory.epochs.get(shard_of(game_id), 0) for game_id in ids}
        return Ids(ids, self._arbiter.live_games)

    async def _on_make(self, ask: MakeGame, daemon: int) -> GameIs:
        self._check(daemon)
        if not self._under_way:
            self._idle = trio.Event()
        self._under_way += 1
        try:
            live = await durably(await self._made(ask))
            return GameIs(note_of(live.game, live.version))
        finally:
            self._under_way -= 1
            if not self._under_way:
                self._idle.set()

    async def _made(self, ask: MakeGame) -> LiveGame:
        """Return the game, made now or by the same ask before.

        :raises Moved: it was not made, and will not be.
        """
        token = TokenUse(ask.token_player, ask.token, ask.content)
        epoch = self._given.pop(ask.game_id, None)
        if epoch is not None and self._directory.epochs.get(shard_of(ask.game_id)) == epoch:
            return self._arbiter.open(make_game(ask.created), [ask.created], token, ask.game_id)
        made = await self._arbiter.log.made_under(token.player, token.token)
        if made is None or made[1] != token.content:
            raise Moved(f"game {ask.game_id} cannot be made at this server; nothing was done")
        return await self._arbiter.live_game(made[0])

    def _check(self, daemon: int) -> None:
        """Check that an ask comes from the lobby's owner.

        :raises Moved: it does not.
        """
        if daemon != self._reporter.lobby:
            raise Moved("the lobby has another owner among the servers; nothing was done")
