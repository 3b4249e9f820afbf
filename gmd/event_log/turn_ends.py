"""The ends of the event loop's turns: when all tasks that could run have run, and before it looks for what has come."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import trio


class _TurnEnds(trio.abc.Instrument):
    def __init__(self, work: Callable[[bool], None], failed: Callable[[Exception], None]) -> None:
        self._work = work
        self._failed = failed
        self._trio = trio.lowlevel.current_trio_token()

    def before_io_wait(self, timeout: float) -> None:
        try:
            self._work(timeout > 0)
        except Exception as error:  # trio would log it, and call no more
            self._trio.run_sync_soon(self._failed, error)


@contextmanager
def calling_at_turn_ends(work: Callable[[bool], None], failed: Callable[[Exception], None]) -> Iterator[None]:
    """Call something at the end of every turn. It may wake no task: the loop knows already how long it will sleep.

    :param work: called with whether the loop has nothing else to do for now.
    :param failed: called in the next turn with what ``work`` raised.
    """
    ends = _TurnEnds(work, failed)
    trio.lowlevel.add_instrument(ends)
    try:
        yield
    finally:
        trio.lowlevel.remove_instrument(ends)
