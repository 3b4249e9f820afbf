"""With players who are here and do not answer: they are left alone, for longer each time."""

from __future__ import annotations

from math import inf

#: Seconds that a player is left alone after the first invitation that it did not take, and at most. Each time is twice
#: as long as the one before, until it takes one, or says again that it wants ranked games, which counts once a minute.
FIRST_REST = 60.0
LONGEST_REST = 3_600.0


class Backoff:
    """Who is left alone, and until when, in trio's time."""

    def __init__(self) -> None:
        self._rests: dict[int, tuple[float, float]] = {}
        #: When each last had its rest ended by saying that it wants games.
        self._asked: dict[int, float] = {}

    def tried(self, player: int, now: float) -> None:
        """A player has not taken an invitation. Of several that it was sent meanwhile the first counts."""
        until, length = self._rests.get(player, (now, 0.0))
        if until <= now:
            length = min(max(FIRST_REST, 2 * length), LONGEST_REST)
            self._rests[player] = (now + length, length)

    def asked(self, player: int, now: float) -> None:
        """It says that it wants them. That ends its rest once in a while; else whoever says so all the time would take
        the others' time, and fill the log, with games that it does not take.
        """
        if player in self._rests and now >= self._asked.get(player, -inf) + FIRST_REST:
            self._asked[player] = now
            self.restored(player)

    def restored(self, player: int) -> None:
        """It has taken one."""
        self._rests.pop(player, None)

    def rests(self, player: int, now: float) -> bool:
        """Whether it is to be left alone."""
        return player in self._rests and self._rests[player][0] > now

    def next_end(self, now: float) -> float | None:
        """When the next one is to be tried again."""
        return min((until for until, _ in self._rests.values() if until > now), default=None)
