"""Ranked play: its ratings and its matchmaker, started and run together."""

from __future__ import annotations

from collections.abc import Mapping

import trio

from gmd.lobby.lobby import Lobby
from gmd.lobby.matchmaker import Matchmaker
from gmd.lobby.ratings import Ratings
from gmd.lobby.results import Record
from gmd.play.arbiter import Arbiter
from gmd.players.registry import Registry


class RankedPlay:
    """Ranked play.

    :ivar ratings: all players' ratings.
    """

    def __init__(
        self, arbiter: Arbiter, registry: Registry, lobby: Lobby, anchors: Mapping[str, float] | None = None
    ) -> None:
        """:param anchors: in the form that :func:`~gmd.lobby.ratings.read_anchors` returns."""
        self.ratings = Ratings(arbiter, registry, anchors)
        self._matchmaker = Matchmaker(arbiter.feed, registry, lobby, self.ratings)
        self._log = arbiter.log

    async def start(self) -> None:
        """Read the finished ranked games and those in progress from the log, again if need be.

        :raises GmError: the log cannot be read.
        """
        ranked = await self._log.ranked()
        self.ratings.start(Record(ranked.results), [game.game_id for game in ranked.on])
        self._matchmaker.start(ranked.on)

    async def run(self) -> None:
        """Compute ratings and make games, until cancelled."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self.ratings.run)
            nursery.start_soon(self.ratings.look_back)
            nursery.start_soon(self._matchmaker.run)
