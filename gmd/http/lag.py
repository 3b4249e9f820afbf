"""How late the event loop is."""

from __future__ import annotations

from typing import NoReturn

import trio

from gmd.metrics import Histogram

#: Seconds between two looks: seldom enough to cost nothing, often enough for a rate over a minute.
LOOK_SECONDS = 1.0


async def watch_lag(lag: Histogram) -> NoReturn:
    """Sleep again and again, and note by how many seconds each waking was late."""
    while True:
        due = trio.current_time() + LOOK_SECONDS
        await trio.sleep_until(due)
        lag.observe(trio.current_time() - due)
