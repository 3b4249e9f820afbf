"""What ``recon-zero`` does with little time (:mod:`gm_bots.turn_time`). All times are in seconds."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

#: The time for a turn where there is no clock and no limit.
TURN_SECONDS = 1.0

#: Possible positions that are followed for each second that a turn may take, and at least. A hundred thousand of them
#: take up to 0.6 seconds a turn; a player with ten seconds left can still follow enough.
POSITIONS_A_SECOND, LEAST_POSITIONS = 25_000, 5_000

#: The share of a turn's time that the work besides its searches may take.
WORK_SHARE = 0.4
#: The least share of that work that is done, however long it takes, and by how much the share grows in a turn at most.
LEAST_WORK, GROWTH = 0.02, 2.0


def positions_within(seconds: float, most: int) -> int:
    """Return how many possible positions are followed where a turn may take so long.

    :param most: how many are followed where there is time.
    """
    return int(min(most, max(LEAST_POSITIONS, seconds * POSITIONS_A_SECOND)))


class Workload:
    """How much of the work besides its searches a player does: all, or a share of it where it took too long.

    That work is to follow the possible positions and to weigh them. On a slow machine, or a busy one, it takes many
    times as long as elsewhere, so no number of positions is right for all: the player measures it.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._share, self._spent = clock, 1.0, 0.0

    @contextmanager
    def measured(self) -> Iterator[None]:
        """Measure what is done in the block."""
        began = self._clock()
        try:
            yield
        finally:
            self._spent += self._clock() - began

    def share_for(self, seconds: float | None) -> float:
        """Return the share of the work to do from now on, by how long it has taken since this was last asked.

        :param seconds: the time that a turn may take; None for no limit.
        """
        spent, self._spent = self._spent, 0.0
        if seconds is None:
            self._share = 1.0
        elif spent:
            self._share *= min(GROWTH, WORK_SHARE * seconds / spent)
            self._share = min(1.0, max(LEAST_WORK, self._share))
        return self._share
