"""Tells the lobby's owner what happens in this daemon's games."""

from __future__ import annotations

from gmd.arbiter import Arbiter
from gmd.cluster.link_messages import LinkMessage
from gmd.cluster.links import Links
from gmd.games.game import Game
from gmd.games.game_note import GameNote, turn_note_of

from .messages import CalledOff, Ready, SeatsChanged, Turned


class Reporter:
    """The reports of one daemon.

    :ivar lobby: the daemon that has the lobby, which gets the reports; None for none.
    :ivar watched: the players whose turns it wants reported.
    """

    def __init__(self, arbiter: Arbiter, links: Links, me: int) -> None:
        self.lobby: int | None = None
        self.watched: set[int] = set()
        self._links = links
        self._me = me
        feed = arbiter.feed
        feed.when_seats_change(lambda note: self.tell(SeatsChanged(note)))
        feed.when_called_off(lambda note, player: self.tell(CalledOff(note, player)))
        feed.when_ready(self._ready)
        arbiter.on_turned = self._turned

    def tell(self, note: LinkMessage) -> None:
        """Tell the lobby's owner, if there is one."""
        if self.lobby is not None:
            self._links.tell(self.lobby, note)

    def _ready(self, note: GameNote, player: int) -> None:
        if not note.over:
            self.tell(Ready(note, player))

    def _turned(self, game: Game, version: int) -> None:
        """Report a turn; the lobby's owner itself has its own games' turns already."""
        if not self.watched or self.lobby == self._me:
            return
        black, white = game.named
        if black in self.watched or white in self.watched:
            self.tell(Turned(turn_note_of(game, version)))
