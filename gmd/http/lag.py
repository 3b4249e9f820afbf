"""The event loop's lag."""

from __future__ import annotations

from typing import NoReturn

import trio

from gmd.metrics import Histogram

#: Seconds between two samples: rare enough to cost nothing, frequent enough for a rate over a minute.
LOOK_SECONDS = 1.0


async def watch_lag(lag: Histogram) -> NoReturn:
    """Sleep repeatedly, and record by how many seconds each wake-up was late."""
    while True:
        due = trio.current_time() + LOOK_SECONDS
        await trio.sleep_until(due)
        lag.observe(trio.current_time() - due)
