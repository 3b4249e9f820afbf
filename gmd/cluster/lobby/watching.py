"""The turns of players who wait for any game, at whichever daemon their games are.

Before the lobby's owner reads from the log which games are due to a player, every daemon has promised to report all
later turns of that player. So a turn is in the log when that is read, or it is reported: none is lost.
"""

from __future__ import annotations

import trio

from gmd.arbiter import Arbiter
from gmd.cluster.link_messages import Done
from gmd.cluster.links import Links

from .everybody import Everybody
from .messages import Unwatch, Watch
from .reporter import Reporter

#: Players watched at a time, beyond which those who neither wait nor are cached are dropped.
MAX_WATCHED = 20_000


class Watching:
    """The players whose turns are reported to the lobby's owner.

    :ivar players: at the lobby's owner, those whose games every daemon reports, or is about to.
    """

    def __init__(self, arbiter: Arbiter, links: Links, everybody: Everybody, reporter: Reporter) -> None:
        self.players: dict[int, None] = {}
        self._promised: set[int] = set()
        #: Those who are being dropped, while the lock is held.
        self._leaving: set[int] = set()
        self._sweeping = trio.Lock()
        self._arbiter = arbiter
        self._everybody = everybody
        self._reporter = reporter
        arbiter.turns.watch = self._watch
        links.on_ask(Watch, self._on_watch)
        links.on_ask(Unwatch, self._on_unwatch)

    def forget(self) -> None:
        """Forget all players: another daemon has the lobby, or had it."""
        self.players.clear()
        self._promised.clear()
        self._arbiter.turns.clear()

    async def _watch(self, player: int) -> None:
        """Return when every daemon reports the turns of a player."""
        if player in self._promised:
            return
        if player in self._leaving:  # else the message that drops it might come last
            async with self._sweeping:
                pass
        self.players[player] = None
        await self._everybody.ask(lambda: Watch(player))
        if player in self.players:
            self._promised.add(player)
        if len(self.players) > MAX_WATCHED and not self._sweeping.locked():
            await self._sweep()

    async def _sweep(self) -> None:
        """Drop the players whose turns are not needed now."""
        turns, watchers = self._arbiter.turns, self._arbiter.watchers
        async with self._sweeping:
            self._leaving = {each for each in self._promised if each not in turns and not watchers.waits(each)}
            for player in self._leaving:
                del self.players[player]
            self._promised -= self._leaving
            dropped = Unwatch(list(self._leaving))
            await self._everybody.ask(lambda: dropped)
            self._leaving = set()

    async def _on_watch(self, ask: Watch, daemon: int) -> Done:
        if daemon == self._reporter.lobby:
            self._reporter.watched.add(ask.player)
        return Done()

    async def _on_unwatch(self, ask: Unwatch, daemon: int) -> Done:
        if daemon == self._reporter.lobby:
            self._reporter.watched.difference_update(ask.players)
        return Done()
