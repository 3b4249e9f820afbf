"""A trio clock that advances only when it is set, while the event loop runs in real time.

A test can block the loop for as long as it likes, in no real time, and the games' clocks then show exact times.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from time import perf_counter

import trio
import trio.testing

#: The longest that a task waiting for input sleeps, in real time, before it looks at the clock again.
LOOK_SECONDS = 0.02


class SetClock(trio.abc.Clock):
    """A clock that stands still until it is set forward."""

    def __init__(self) -> None:
        self.time = 1_000.0
        self._let_go: float | None = None

    def start_clock(self) -> None:
        """Do nothing: there is nothing to start."""

    def current_time(self) -> float:
        return self.time if self._let_go is None else self.time + perf_counter() - self._let_go

    def deadline_to_sleep_time(self, deadline: float) -> float:
        return deadline - self.current_time()

    def let_go(self) -> None:
        """Run in real time from now on, so that a daemon with real sockets can close them."""
        self._let_go = perf_counter()

    def skip(self, seconds: float) -> None:
        """Advance the clock in the middle of a turn of the loop, as if that turn took so long."""
        self.time += seconds

    async def sleep(self, seconds: float, step: float = 0.02) -> None:
        """Advance the clock in steps, as in a loop that is never blocked, and run everything due in each step."""
        for _ in range(round(seconds / step)):
            await trio.testing.wait_all_tasks_blocked()
            self.time += step
            await trio.lowlevel.checkpoint()
        await trio.testing.wait_all_tasks_blocked()


def run(test: Callable[[SetClock], Awaitable[None]]) -> None:
    """Run a test on such a clock."""
    clock = SetClock()
    trio.run(test, clock, clock=clock)
