"""Backoff for players who are present and do not answer: each pause is longer than the last."""

from __future__ import annotations

from math import inf

#: The shortest and the longest pause after an invitation that a player did not accept, in seconds. Each pause is twice
#: as long as the one before, until the player accepts one, or asks for ranked games again, which counts once a minute.
FIRST_REST = 60.0
LONGEST_REST = 3_600.0


class Backoff:
    """The players who are paused, and until when, in trio's time."""

    def __init__(self) -> None:
        self._rests: dict[int, tuple[float, float]] = {}
        #: When each player last ended its pause by asking for games.
        self._asked: dict[int, float] = {}

    def tried(self, player: int, now: float) -> None:
        """Begin a pause after an invitation that was not accepted. Of several sent at a time only the first counts."""
        until, length = self._rests.get(player, (now, 0.0))
        if until <= now:
            length = min(max(FIRST_REST, 2 * length), LONGEST_REST)
            self._rests[player] = (now + length, length)

    def asked(self, player: int, now: float) -> None:
        """End the pause of a player who asks for games, at most once a minute.

        Otherwise a player that asks all the time and never plays would take up others' time and fill the log.
        """
        if player in self._rests and now >= self._asked.get(player, -inf) + FIRST_REST:
            self._asked[player] = now
            self.restored(player)

    def restored(self, player: int) -> None:
        """End the pause of a player who has accepted an invitation."""
        self._rests.pop(player, None)

    def rests(self, player: int, now: float) -> bool:
        """Return whether the player is paused."""
        return player in self._rests and self._rests[player][0] > now

    def next_end(self, now: float) -> float | None:
        """Return when the next pause ends; None where no player is paused."""
        return min((until for until, _ in self._rests.values() if until > now), default=None)
