"""What ``recon-zero`` does with little time (:mod:`gm_bots.turn_time`). All times are in seconds."""

from __future__ import annotations

#: The time for a turn where there is no clock and no limit.
TURN_SECONDS = 1.0

#: Possible positions that are followed for each second that a turn may take, and at least. A hundred thousand of them
#: take up to two seconds a turn, ten thousand a third of one: so they take about as long as the move's search, and a
#: player with ten seconds left can still follow enough.
POSITIONS_A_SECOND, LEAST_POSITIONS = 25_000, 5_000


def positions_within(seconds: float, most: int) -> int:
    """Return how many possible positions are followed where a turn may take so long.

    :param most: how many are followed where there is time.
    """
    return int(min(most, max(LEAST_POSITIONS, seconds * POSITIONS_A_SECOND)))
