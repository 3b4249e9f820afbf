"""Retention: finished games are removed once they are old enough."""

from __future__ import annotations

from contextlib import suppress

import trio

from gm_protocol.errors import GmError
from gmd.arbiter import Arbiter
from gmd.logger import get_logger

logger = get_logger(__name__)

SECONDS_A_DAY = 86_400.0
#: Seconds between two prunings: short compared with days.
PERIOD_SECONDS = 3_600.0
#: Seconds of rest after each step: longer than a step takes, so that live games get most of the log's time.
REST_SECONDS = 0.05


async def prune_finished(arbiter: Arbiter, keep_days: float) -> None:
    """Remove the games that ended at least ``keep_days`` ago, now and every hour, until cancelled."""
    while True:
        with suppress(GmError):  # the log has reported it; the next attempt is in an hour
            await prune_all(arbiter, keep_days * SECONDS_A_DAY)
        await trio.sleep(PERIOD_SECONDS)


async def prune_all(arbiter: Arbiter, seconds: float) -> None:
    """Remove the games that ended at least so many seconds ago."""
    count = 0
    while pruned := await arbiter.log.prune(seconds):
        for game in pruned:
            arbiter.forget(game)
        count += len(pruned)
        await trio.sleep(REST_SECONDS)
    if count:
        logger.info("finished games pruned", games=count)
