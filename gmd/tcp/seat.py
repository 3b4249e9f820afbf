"""What a session's place is worth to it: whether somebody plays there."""

from __future__ import annotations

from gm_protocol.messages import AnyRequest
from gmd import loop_time
from gmd.live_games import LiveGame
from gmd.places import Place, Value
from gmd.requests.call import Call, player_of


class Seat:
    """The place of a session, and the running game that it has played last."""

    __slots__ = ("_last", "_place", "_playing")

    def __init__(self, place: Place | None) -> None:
        """:param place: None where places are not counted."""
        self._place = place
        self._playing: tuple[int, int] | None = None  # the game and its player
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
            if self._last is not None:
                self._look(*self._last, call)
            value = Value.IDLE if call.player is None else Value.PLAYER
            self._place.rest(value, loop_time.now(), self._playing)
        call.live = self._last = None  # else an idle session would keep the game in memory that it asked for last

    def _look(self, request: AnyRequest, live: LiveGame, call: Call) -> None:
        """Look who has played in the game that a request was about; of several, the last one is what counts."""
        player = player_of(request, call)
        if player is not None and live.game.seats(player):
            self._playing = None if live.game.over else (live.game.id, player)
