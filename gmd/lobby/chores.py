"""Background work of the lobby, which no request waits for."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from itertools import islice
from math import inf

import trio

from gm_protocol.errors import GmError, Internal
from gmd.logger import get_logger

logger = get_logger(__name__)

#: Chores done concurrently: they share commits, and take some milliseconds of the loop's time before other tasks run.
TOGETHER = 8

Chore = Callable[[], Awaitable[object]]


class Chores:
    """A queue of chores, which are done one after the other in the order of arrival."""

    def __init__(self) -> None:
        self._send, self._receive = trio.open_memory_channel[Chore](inf)

    def add(self, chore: Chore) -> None:
        """Queue a chore."""
        self._send.send_nowait(chore)

    async def run(self) -> None:
        """Do the queued chores, until cancelled."""
        async for chore in self._receive:
            await _do(chore)


async def do_all(chores: Iterable[Chore]) -> None:
    """Do chores concurrently, a few at a time."""
    left = iter(chores)
    while step := list(islice(left, TOGETHER)):
        async with trio.open_nursery() as nursery:
            for chore in step:
                nursery.start_soon(_do, chore)


async def _do(chore: Chore) -> None:
    try:
        await chore()
    except Internal as error:
        logger.warning("the lobby could not write what was due", reason=str(error))
    except GmError:
        pass  # the game has begun or ended meanwhile
    except Exception:
        logger.exception("the lobby failed")
