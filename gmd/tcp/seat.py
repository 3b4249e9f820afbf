"""Reports to a session's place: whether the session plays a game."""

from __future__ import annotations

from collections.abc import Hashable

from gmd import loop_time
from gmd.dispatch import PendingReply
from gmd.places import Place, Value
from gmd.requests.session import ClientSession


class Seat:
    """Reports to the place of a session which running game the session has played last."""

    __slots__ = ("_last", "_place")

    def __init__(self, place: Place | None) -> None:
        """:param place: None where places are not counted."""
        self._place = place
        self._last: PendingReply | None = None  # the latest reply about a game

    def begin(self, arrived: float) -> None:
        """Note that requests are being answered.

        :param arrived: when they arrived, in the loop's time.
        """
        if self._place is not None:
            self._place.begin(arrived)

    def note(self, reply: PendingReply) -> None:
        """Note the latest reply about a game."""
        self._last = reply

    def rest(self, client: ClientSession) -> None:
        """Note that the requests have been answered."""
        if self._place is not None:
            value = Value.IDLE if client.player is None else Value.PLAYER
            self._place.rest(value, loop_time.now(), self._played(self._place, client))
        self._last = None  # otherwise an idle session would keep its last game in memory

    def _played(self, place: Place, client: ClientSession) -> Hashable:
        """Return the seat in the latest game of the session's own; None once that is over."""
        if self._last is None or self._last.live is None or self._last.player is None:
            return place.seat
        game, player = self._last.live.game, self._last.player
        if not game.seats(player):
            return place.seat
        return None if game.over else seat_of(game.id, player)


def seat_of(game_id: int, player: int | None) -> Hashable:
    """Return the key of a game's player among the places; a player who holds both seats has one."""
    return game_id, player
