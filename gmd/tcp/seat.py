"""What a session's place is worth to it: whether somebody plays there."""

from __future__ import annotations

from collections.abc import Hashable

from gmd import loop_time
from gmd.dispatch import PendingReply
from gmd.places import Place, Value
from gmd.requests.session import ClientSession


class Seat:
    """The place of a session, which it keeps informed of the running game that the session has played last."""

    __slots__ = ("_last", "_place")

    def __init__(self, place: Place | None) -> None:
        """:param place: None where places are not counted."""
        self._place = place
        self._last: PendingReply | None = None  # what was answered last about a game

    def begin(self, arrived: float) -> None:
        """Requests are being answered.

        :param arrived: since when, in the loop's time.
        """
        if self._place is not None:
            self._place.begin(arrived)

    def note(self, reply: PendingReply | None) -> None:
        """Note the latest reply about a game, if there is one."""
        if reply is not None:
            self._last = reply

    def rest(self, client: ClientSession) -> None:
        """They have been answered, and others may follow."""
        if self._place is not None:
            value = Value.IDLE if client.player is None else Value.PLAYER
            self._place.rest(value, loop_time.now(), self._played(self._place))
        self._last = None  # else an idle session would keep the game in memory that it asked for last

    def _played(self, place: Place) -> Hashable:
        """Return the seat that the session plays: that of its latest reply about a game of its own, while it is on."""
        if self._last is None or self._last.live is None or self._last.player is None:
            return place.seat
        game, player = self._last.live.game, self._last.player
        if not game.seats(player):
            return place.seat
        return None if game.over else seat_of(game.id, player)


def seat_of(game_id: int, player: int | None) -> Hashable:
    """Return what stands for a game's player among the places; a player who holds both seats has one."""
    return game_id, player
