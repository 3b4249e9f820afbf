"""Work that a signal ends, and that leaves nothing behind then, however often it is signalled."""

from __future__ import annotations

import signal
from collections.abc import Awaitable, Callable
from typing import TypeVar

import trio

#: A terminal's Ctrl-C, and what asks a program to end.
SIGNALS = (signal.SIGINT, signal.SIGTERM)

T = TypeVar("T")


class Stopped(Exception):
    """A signal has ended the work.

    :ivar number: the signal's.
    """

    def __init__(self, number: int) -> None:
        super().__init__(signal.strsignal(number) or f"signal {number}")
        self.number = number

    @property
    def status(self) -> int:
        """A shell's exit status for that."""
        return 128 + self.number


async def unless_stopped(work: Callable[[], Awaitable[T]]) -> T:
    """What some work comes to, which is cancelled at the first signal. Those that come while it ends change nothing.

    :raises Stopped: a signal came.
    :raises Exception: what the work raises, as it is.
    """
    received: list[int] = []
    error: Exception | None = None
    async with trio.open_nursery() as beside:
        with trio.CancelScope() as scope:
            await beside.start(_cancel_when_told, scope, received)
            try:
                outcome = await work()
            except Exception as raised:  # carried past the nursery, which would make a group of it
                error = raised
        beside.cancel_scope.cancel()
    if received:
        raise Stopped(received[0])
    if error is not None:
        raise error
    return outcome


async def _cancel_when_told(scope: trio.CancelScope, received: list[int], *, task_status: trio.TaskStatus) -> None:
    with trio.open_signal_receiver(*SIGNALS) as signals:
        task_status.started()
        async for number in signals:
            received.append(number)
            scope.cancel()
