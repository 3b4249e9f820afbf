"""The time that a turn of a bot of blind chess may take: its sense, its move, and all that it works out for them.

All times are in seconds. A turn may take less: it ends once its choice is clear.
"""

from __future__ import annotations

import time
from collections.abc import Callable

#: The share of the time left that a turn may take: no number of turns takes it all.
SHARE = 1 / 40
#: The part of the clock that is never planned for: keeping the positions, and the way to the server, take it.
RESERVE = 5.0
#: The part of a turn's time that the sense may take; the move takes the rest.
SENSE_SHARE = 0.5

#: The weight of the latest turn in the mean of what turns gain.
LATEST = 0.25
#: The part of such a gain that is planned for, and the most of the clock that a turn is planned to take because of it.
GAIN_SHARE, MOST_SHARE = 0.9, 1 / 4

#: The ``seconds_left`` of a game without clocks: this from gmd's HTTP API, infinity elsewhere.
NO_CLOCK = 10_000_000.0


def seconds_of_game(left: float) -> float:
    """Return the time for a turn out of the time left for the game."""
    return max(0.0, left - RESERVE) * SHARE


class Gains:
    """What a clock gains with each turn, beside the time that the turn is planned to take.

    A turn gains the increment, and loses what it takes longer than planned: on a busy machine, or far from the server,
    all of them do. The next turns are planned longer or shorter by that, so that a clock is used up and never runs out.
    """

    def __init__(self) -> None:
        self._mean = 0.0
        self._expected: float | None = None  # what the clock would show now, had the last turn gained nothing

    def plan(self, seconds: float, left: float) -> float:
        """Return the time to plan for a turn.

        :param seconds: what it may take without a gain.
        :param left: what the clock shows as it begins.
        """
        if self._expected is not None:
            self._mean += LATEST * (left - self._expected - self._mean)
        planned = max(0.0, seconds + self._mean * (GAIN_SHARE if self._mean > 0 else 1))
        planned = min(planned, max(seconds, left * MOST_SHARE))
        self._left, self._expected = left, left - planned
        return planned

    def took(self, seconds: float) -> None:
        """Record what the turn took until its move was chosen: one that ends early has gained nothing by that."""
        if self._expected is not None:
            self._expected = max(self._expected, self._left - seconds)


class TurnTime:
    """The time for the turns of one game of a player, which is told the ``seconds_left`` when it is to act."""

    def __init__(
        self, limit: float | None, without_clock: float | None = None, now: Callable[[], float] = time.monotonic
    ) -> None:
        """:param limit: the limit given, if any.
        :param without_clock: the limit where there is neither a clock nor a limit given; None for none.
        :param now: returns the time.
        """
        self._limit, self._most = limit, without_clock if limit is None else limit
        self._now, self._gains = now, Gains()
        self._seconds: float | None = None
        self.begin()

    def begin(self) -> None:
        """Begin a turn."""
        self._began, self._planned = self._now(), False

    def plan(self, left: float) -> float | None:
        """Return the seconds that the turn may take, planned when it is first asked; None for no limit."""
        if not self._planned:
            self._planned = True
            self._seconds = self._most
            if left < NO_CLOCK:
                at_first = left + self._now() - self._began
                planned = self._gains.plan(seconds_of_game(left), at_first)
                self._seconds = planned if self._limit is None else min(self._limit, planned)
        return self._seconds

    def remaining(self, left: float) -> float | None:
        """Return what is left of that for the turn's move, which may be less than nothing; None for no limit."""
        seconds = self.plan(left)
        return None if seconds is None else seconds - (self._now() - self._began)

    def end(self) -> None:
        """End a turn: its move is chosen."""
        self._gains.took(self._now() - self._began)
