"""What a session's place is worth to it: whether somebody plays there."""

from __future__ import annotations

from collections.abc import Hashable

from gm_protocol.messages import AnyRequest
from gmd import loop_time
from gmd.handlers.call import Call, player_of
from gmd.live_games import LiveGame
from gmd.places import Place, Value


class Seat:
    """The place of a session, which it keeps informed of the running game that the session has played last."""

    __slots__ = ("_last", "_place")

    def __init__(self, place: Place | None) -> None:
        """:param place: None where places are not counted."""
        self._place = place
        self._last: tuple[AnyRequest, LiveGame] | None = None  # what was answered last about a game

    def begin(self, arrived: float) -> None:
        """Requests are being answered.

        :param arrived: since when, in the loop's time.
        """
        if self._place is not None:
            self._place.begin(arrived)

    def note(self, request: AnyRequest, code: str | None, call: Call) -> None:
        """A request was answered, or refused with a code."""
        if code is None and call.live is not None:
            self._last = request, call.live

    def rest(self, call: Call) -> None:
        """They have been answered, and others may follow."""
        if self._place is not None:
            seat = self._place.seat if self._last is None else self._played(*self._last, call)
            value = Value.IDLE if call.player is None else Value.PLAYER
            self._place.rest(value, loop_time.now(), seat)
        call.live = self._last = None  # else an idle session would keep the game in memory that it asked for last

    def _played(self, request: AnyRequest, live: LiveGame, call: Call) -> Hashable:
        """Return the seat that the session plays after a request about a game: its latest, while that game is on."""
        player = player_of(request, call)
        if player is None or not live.game.seats(player):
            return None if self._place is None else self._place.seat
        return None if live.game.over else seat_of(live.game.id, player)


def seat_of(game_id: int, player: int | None) -> Hashable:
    """What a game's player is known by among the places; one who holds both seats has one."""
    return game_id, player
