"""Work that a signal cancels, and that still cleans up, however many signals come."""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import TypeVar

import trio

#: A terminal's Ctrl-C, and the request to end a program.
SIGNALS = (signal.SIGINT, signal.SIGTERM)

T = TypeVar("T")


class Stopped(Exception):
    """A signal has ended the work.

    :ivar number: the number of the signal.
    """

    def __init__(self, number: int) -> None:
        super().__init__(signal.strsignal(number) or f"signal {number}")
        self.number = number

    @property
    def status(self) -> int:
        """A shell's exit status for the signal."""
        return 128 + self.number


async def unless_stopped(work: Callable[[], Awaitable[T]], signals: Sequence[signal.Signals] = SIGNALS) -> T:
    """Return the result of some work, which the first signal cancels. Signals that come while it ends are ignored.

    :raises Stopped: a signal came.
    :raises Exception: the work's own exception, unchanged.
    """
    received: list[int] = []
    async with background() as nursery:
        with trio.CancelScope() as scope:
            await nursery.start(_cancel_on_signal, scope, received, signals)
            try:
                outcome = await work()
            except Exception:
                if not received:
                    raise
    if received:
        raise Stopped(received[0])
    return outcome


@asynccontextmanager
async def background() -> AsyncIterator[trio.Nursery]:
    """Open a nursery whose tasks are cancelled at the end of the block.

    An exception of the block is passed on as it is: a nursery would wrap it in a group.
    """
    error: Exception | None = None
    async with trio.open_nursery() as nursery:
        try:
            yield nursery
        except Exception as raised:
            error = raised
        nursery.cancel_scope.cancel()
    if error is not None:
        raise error


async def _cancel_on_signal(
    scope: trio.CancelScope, received: list[int], signals: Sequence[signal.Signals], *, task_status: trio.TaskStatus
) -> None:
    with trio.open_signal_receiver(*signals) as coming:
        task_status.started()
        async for number in coming:
            received.append(number)
            scope.cancel()
