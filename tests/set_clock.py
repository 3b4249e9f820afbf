"""A clock of trio's that passes only when it is set, while the event loop goes on in real time: so that the loop can be
away for as long as a test likes, in no time, and what clocks of games then show is exact.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from time import perf_counter

import trio
import trio.testing

#: How long one who waits for input sleeps, at most, in the machine's time, before it looks at the clock again.
LOOK_SECONDS = 0.02


class SetClock(trio.abc.Clock):
    """A clock that stands until it is set forward."""

    def __init__(self) -> None:
        self.time = 1_000.0
        self._let_go: float | None = None

    def start_clock(self) -> None:
        """There is nothing to start."""

    def current_time(self) -> float:
        return self.time if self._let_go is None else self.time + perf_counter() - self._let_go

    def deadline_to_sleep_time(self, deadline: float) -> float:
        return deadline - self.current_time()

    def let_go(self) -> None:
        """Pass by itself from now on: for a daemon with real sockets to close them in its time."""
        self._let_go = perf_counter()

    def skip(self, seconds: float) -> None:
        """Let time pass in the middle of what the loop does, as if that took so long."""
        self.time += seconds

    async def sleep(self, seconds: float, step: float = 0.02) -> None:
        """Let time pass as it does where the loop is never away: in steps, with all that is due in each."""
        for _ in range(round(seconds / step)):
            await trio.testing.wait_all_tasks_blocked()
            self.time += step
            await trio.lowlevel.checkpoint()
        await trio.testing.wait_all_tasks_blocked()


def run(test: Callable[[SetClock], Awaitable[None]]) -> None:
    """Run a test on such a clock."""
    clock = SetClock()
    trio.run(test, clock, clock=clock)
