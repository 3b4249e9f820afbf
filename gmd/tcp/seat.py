"""What a session's place is worth to it: whether somebody plays there."""

from __future__ import annotations

from gmd import loop_time
from gmd.dispatch import PendingReply
from gmd.places import Place, Value
from gmd.requests.session import ClientSession


class Seat:
    """The place of a session, and the running game that it has played last."""

    __slots__ = ("_last", "_place", "_playing")

    def __init__(self, place: Place | None) -> None:
        """:param place: None where places are not counted."""
        self._place = place
        self._playing: tuple[int, int] | None = None  # the game and its player
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
            self._look()
            value = Value.IDLE if client.player is None else Value.PLAYER
            self._place.rest(value, loop_time.now(), self._playing)
        self._last = None  # else an idle session would keep the game in memory that it asked for last

    def _look(self) -> None:
        """Look who has played in the game that a reply was about; of several, the last one is what counts."""
        if self._last is None or self._last.live is None or self._last.player is None:
            return
        game, player = self._last.live.game, self._last.player
        if game.seats(player):
            self._playing = None if game.over else (game.id, player)
