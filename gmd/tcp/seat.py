"""What a session's place is worth to it: whether somebody plays there."""

from __future__ import annotations

from gm_protocol.messages import AnyRequest
from gmd import loop_time
from gmd.handlers.call import Call, player_of
from gmd.places import Place, Value


class Seat:
    """The place of a session, and the running game that it has played last."""

    __slots__ = ("_place", "_playing")

    def __init__(self, place: Place | None) -> None:
        """:param place: None where places are not counted."""
        self._place = place
        self._playing: tuple[int, int] | None = None  # the game and its player

    def begin(self, arrived: float) -> None:
        """Requests are being answered.

        :param arrived: since when, in the loop's time.
        """
        if self._place is not None:
            self._place.begin(arrived)

    def note(self, request: AnyRequest, code: str | None, call: Call) -> None:
        """A request was answered, or refused with a code."""
        table = call.table
        if code is not None or table is None or self._place is None:
            return
        player = player_of(request, call)
        if player is not None and table.game.seats(player):
            self._playing = None if table.game.over else (table.game.id, player)

    def rest(self, call: Call) -> None:
        """They have been answered, and others may follow."""
        call.table = None  # else an idle session would keep the game in memory that it asked for last
        if self._place is not None:
            value = Value.IDLE if call.player is None else Value.PLAYER
            self._place.rest(value, loop_time.now(), self._playing)
