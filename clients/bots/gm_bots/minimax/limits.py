"""The limits that end a search: a depth, nodes, seconds, a clock, or a request to stop."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from .scores import MAX_DEPTH

#: The moves that a game is assumed to last still, where a clock is for all of them.
MOVES_LEFT = 25

#: The share of the increment that is spent on a move.
INCREMENT_SHARE = 0.8

#: The factor by which a move's share of the clock may be exceeded to finish an iteration.
HARD_FACTOR = 4.0

#: The largest share of a clock that one move may take.
MOST_OF_CLOCK = 0.4

#: Seconds for communication of a move between the search and the clock.
OVERHEAD = 0.03

#: More nodes than any search reaches.
INFINITE_NODES = 1 << 62


@dataclass(frozen=True)
class Limit:
    """A limit; without any field only the greatest depth ends the search.

    :ivar depth: half-moves.
    :ivar nodes: positions searched.
    :ivar seconds: seconds for this move.
    :ivar clock: seconds left for this and later moves.
    :ivar increment: seconds that the clock gains with each move.
    :ivar moves_to_go: how many moves the clock is for; None for all.
    """

    depth: int | None = None
    nodes: int | None = None
    seconds: float | None = None
    clock: float | None = None
    increment: float = 0.0
    moves_to_go: int | None = None

    @property
    def max_depth(self) -> int:
        return MAX_DEPTH if self.depth is None else max(1, min(self.depth, MAX_DEPTH))

    def shares(self) -> tuple[float, float]:
        """Return the seconds after which no iteration begins, and those after which the running one is cancelled."""
        soft = hard = float("inf")
        if self.clock is not None:
            left = max(self.clock - OVERHEAD, 0.001)
            most = left * (0.9 if self.moves_to_go == 1 else MOST_OF_CLOCK)
            share = left / (self.moves_to_go or MOVES_LEFT) + INCREMENT_SHARE * self.increment
            soft, hard = min(share, most) / 2, min(share * HARD_FACTOR, most)
        if self.seconds is not None:
            soft, hard = min(soft, self.seconds), min(hard, self.seconds)
        return soft, hard


class OutOfTime(Exception):
    """A limit was reached within an iteration."""


class Watch:
    """The limit of a running search.

    :param stopped: returns whether the search is to end.
    """

    def __init__(self, limit: Limit, stopped: Callable[[], bool]) -> None:
        self._began = time.perf_counter()
        self._soft, self._hard = limit.shares()
        self._stopped = stopped
        self.max_nodes = INFINITE_NODES if limit.nodes is None else limit.nodes

    @property
    def seconds(self) -> float:
        """The seconds since the search began."""
        return time.perf_counter() - self._began

    def allows_another(self) -> bool:
        """Return whether another iteration may begin."""
        return self.seconds < self._soft and not self._stopped()

    def look(self) -> None:
        """Check the limit.

        :raises OutOfTime: the time is up, or the search is to end.
        """
        if self.seconds >= self._hard or self._stopped():
            raise OutOfTime
