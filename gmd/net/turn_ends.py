"""The ends of the event loop's turns: after all runnable tasks have run, and before the loop polls for I/O."""

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
        except Exception as error:  # trio would log it, and never call this instrument again
            self._trio.run_sync_soon(self._failed, error)


@contextmanager
def calling_at_turn_ends(work: Callable[[bool], None], failed: Callable[[Exception], None]) -> Iterator[None]:
    """Call a function at the end of every turn. It must not wake a task: the loop has already chosen its timeout.

    :param work: called with whether the loop has nothing else to do now.
    :param failed: called in the next turn with the exception that ``work`` raised.
    """
    ends = _TurnEnds(work, failed)
    trio.lowlevel.add_instrument(ends)
    try:
        yield
    finally:
        trio.lowlevel.remove_instrument(ends)
