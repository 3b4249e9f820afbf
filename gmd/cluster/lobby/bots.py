"""The bots of the server, as all daemons know them: the lobby's owner runs them, and names them to the others."""

from __future__ import annotations

from collections.abc import Iterable

from gmd.cluster.link_messages import Done
from gmd.cluster.links import Links
from gmd.roster import KINDS, Roster

from .everybody import Everybody
from .messages import BotsAre
from .reporter import Reporter

_KINDS = {kind.name: kind for kind in KINDS}


class BotsEverywhere:
    """The part of one daemon in the bots of all.

    :ivar roster: the bots of the server.
    """

    def __init__(self, links: Links, everybody: Everybody, reporter: Reporter, me: int) -> None:
        self.roster = Roster()
        self.roster.on_drop = self._tell_soon
        self._links = links
        self._everybody = everybody
        self._reporter = reporter
        self._me = me
        links.on_ask(BotsAre, self._on_bots)

    def listed(self) -> list[tuple[int, str]]:
        """Return the ids and names of the bots."""
        return [(player, kind.name) for player, kind in self.roster.bots()]

    def take_in(self, bots: Iterable[tuple[int, str]]) -> None:
        """Note the bots of the lobby's owner, another daemon; those that another version has are left out."""
        self.roster.replace({player: _KINDS[name] for player, name in bots if name in _KINDS})

    async def tell(self) -> None:
        """Return when every other daemon knows the bots of this one, the lobby's owner."""
        await self._everybody.ask(lambda: BotsAre(self.listed()))

    def _tell_soon(self) -> None:
        if self._reporter.lobby == self._me:
            self._links.spawn(self.tell)

    async def _on_bots(self, ask: BotsAre, daemon: int) -> Done:
        if daemon == self._reporter.lobby:
            self.take_in(ask.bots)
        return Done()
