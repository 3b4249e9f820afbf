"""What a search ends by: a depth, nodes, seconds, a clock, or somebody's word."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from .scores import MAX_DEPTH

#: Moves that a game is taken to last still, where a clock is for all that come.
MOVES_LEFT = 25

#: Of the increment, what is spent on a move.
INCREMENT_SHARE = 0.8

#: How many times a move's share may be spent on it when an iteration is under way.
HARD_FACTOR = 4.0

#: Of a clock, what is never spent on one move.
MOST_OF_CLOCK = 0.4

#: Seconds that a move takes to be heard of: what stands between the search and the clock.
OVERHEAD = 0.03

#: More nodes than any search gets to.
INFINITE_NODES = 1 << 62


@dataclass(frozen=True)
class Limit:
    """Where nothing is said, nothing ends it but the greatest depth.

    :ivar depth: half-moves.
    :ivar nodes: positions looked at.
    :ivar seconds: for this move.
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
        """The seconds after which no iteration begins, and those after which the one under way is broken off."""
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
    """One search's limit, watched as it goes.

    :param stopped: tells whether somebody wants the search to end.
    """

    def __init__(self, limit: Limit, stopped: Callable[[], bool]) -> None:
        self._began = time.perf_counter()
        self._soft, self._hard = limit.shares()
        self._stopped = stopped
        self.max_nodes = INFINITE_NODES if limit.nodes is None else limit.nodes

    @property
    def seconds(self) -> float:
        """Since the search began."""
        return time.perf_counter() - self._began

    def allows_another(self) -> bool:
        """Whether another iteration may begin."""
        return self.seconds < self._soft and not self._stopped()

    def look(self) -> None:
        """:raises OutOfTime: time is up, or somebody wants the search to end."""
        if self.seconds >= self._hard or self._stopped():
            raise OutOfTime
