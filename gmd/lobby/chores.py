"""What the lobby does that no request waits for."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from itertools import islice
from math import inf

import trio

from gm_protocol.errors import GmError, Internal
from gmd.logger import get_logger

logger = get_logger(__name__)

#: Chores done beside each other: they share commits, and take some milliseconds of the loop's time between two turns of
#: others.
TOGETHER = 8

Chore = Callable[[], Awaitable[object]]


class Chores:
    """Does one chore after the other, in the order in which they were added."""

    def __init__(self) -> None:
        self._send, self._receive = trio.open_memory_channel[Chore](inf)

    def add(self, chore: Chore) -> None:
        """Have something done by and by."""
        self._send.send_nowait(chore)

    async def run(self) -> None:
        """Do what is added, until cancelled."""
        async for chore in self._receive:
            await _do(chore)


async def do_all(chores: Iterable[Chore]) -> None:
    """Do some chores beside each other, a few at a time."""
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
        pass  # the game has begun, or ended, meanwhile
    except Exception:
        logger.exception("the lobby failed")
