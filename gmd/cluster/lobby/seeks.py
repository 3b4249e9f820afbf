"""The queue of seekers survives the lobby's owner: the daemons where the seekers are connected keep copies of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import msgspec

from gm_protocol.errors import GmError
from gm_protocol.messages import NewGame
from gmd.all_games import HERE, LIGHTEST
from gmd.cluster.links import Links
from gmd.lobby.lobby import Lobby
from gmd.lobby.queue import Seek
from gmd.logger import get_logger
from gmd.players.presence import Presence, Visit

from .messages import SeekLeft, SeekOver, SeekWaits
from .reporter import Reporter

logger = get_logger(__name__)

_decode = msgspec.json.Decoder(NewGame).decode


class Seeks:
    """The part of one daemon in the queue of seekers."""

    def __init__(
        self,
        lobby: Lobby,
        presence: Presence,
        links: Links,
        reporter: Reporter,
        me: int,
        started: Callable[[], Awaitable[None]],
    ) -> None:
        """:param started: returns when the lobby has started at this daemon, its owner."""
        self._started = started
        self._me = me
        self._lobby = lobby
        self._presence = presence
        self._links = links
        self._reporter = reporter
        #: The seeks of players who are connected to this daemon, as far as the lobby's owner has reported.
        self._waiting: dict[int, SeekWaits] = {}
        #: As the lobby's owner: the daemons that know of each player's seek.
        self._announced: dict[int, set[int]] = {}
        #: The session here that has asked last for an opponent for a player, if it is the player's.
        self._visits: dict[int, Visit] = {}
        #: Those whose seek was over since they have asked.
        self._ended: set[int] = set()
        presence.on_visit_over = self._visit_over
        lobby.seeking.queue.on_add = self._queued
        lobby.seeking.queue.on_drop = self._dropped
        links.on_note(SeekWaits, self._on_waits)
        links.on_note(SeekOver, self._on_over)
        links.on_note(SeekLeft, self._on_left)

    # --- Where the seeker is connected --------------------------------------------------------------------------------

    def begin(self, player: int, visit: Visit | None) -> None:
        """Note that a session here is about to seek an opponent.

        :param visit: the session's, if it is the player's own: the seek ends with it.
        """
        self._ended.discard(player)
        if visit is None:
            self._visits.pop(player, None)
        else:
            self._visits[player] = visit

    def acknowledge(self, player: int, color: bool | None, terms: NewGame) -> None:
        """Keep a seek of which the lobby's owner has said that it waits, before the client hears of that."""
        if player not in self._ended:
            self._waiting[player] = SeekWaits(player, color, msgspec.json.encode(terms))

    def stop(self, player: int) -> None:
        """Keep a player's seek no longer: the lobby's owner has said that it is over."""
        self._waiting.pop(player, None)
        self._visits.pop(player, None)

    def _visit_over(self, player: int, visit: Visit) -> None:
        if self._visits.get(player) is visit:
            self.stop(player)
            self._reporter.tell(SeekLeft(player))

    def tell_all(self) -> None:
        """Tell the lobby's owner, a new one, of the seeks of players who are still connected here."""
        self._ended.clear()
        self._waiting = {player: seek for player, seek in self._waiting.items() if self._presence.is_visiting(player)}
        for seek in list(self._waiting.values()):
            self._reporter.tell(seek)

    def forget(self) -> None:
        """Forget which daemons were notified: this daemon no longer owns the lobby."""
        self._announced.clear()

    # --- At the lobby's owner, and its notes --------------------------------------------------------------------------

    def _queued(self, seek: Seek) -> None:
        note = SeekWaits(seek.player, seek.color, msgspec.json.encode(seek.terms))
        daemons = {seek.entry} - {self._me, HERE}
        if seek.entry == LIGHTEST:  # without a session
            daemons = self._presence.daemons_of(seek.player)
        if self._presence.is_visiting(seek.player):
            self._waiting[seek.player] = note
        self._announced[seek.player] = daemons
        for daemon in daemons:
            self._links.tell(daemon, note)

    def _dropped(self, player: int) -> None:
        self._waiting.pop(player, None)
        for daemon in self._announced.pop(player, ()):
            self._links.tell(daemon, SeekOver(player))

    def _on_waits(self, note: SeekWaits, daemon: int) -> None:
        if self._reporter.lobby == self._me:
            self._links.spawn(self._seek_again, note, daemon)
        elif daemon == self._reporter.lobby:
            self._ended.discard(note.player)
            self._waiting[note.player] = note

    def _on_over(self, note: SeekOver, daemon: int) -> None:
        if daemon == self._reporter.lobby:
            self._waiting.pop(note.player, None)
            self._ended.add(note.player)

    def _on_left(self, note: SeekLeft, daemon: int) -> None:
        seek = self._lobby.seeking.queue.find(note.player)
        if seek is not None and seek.entry == daemon:
            self._lobby.seeking.leave(note.player)

    async def _seek_again(self, note: SeekWaits, daemon: int) -> None:
        """Put a seek that another owner of the lobby had into the queue, or pair its player at once."""
        await self._started()
        player = note.player
        if self._lobby.seeking.seeks(player):
            return
        presence = self._presence
        try:
            await self._lobby.seeking.seek(
                player, note.color, _decode(note.terms), lambda: presence.is_here(player), None, "", daemon
            )
        except GmError as error:  # it has as many games as it takes, or cannot be written: it may ask again
            logger.info("a seek was not taken over", player=player, reason=str(error))
        if not self._lobby.seeking.seeks(player):
            self._links.tell(daemon, SeekOver(player))
