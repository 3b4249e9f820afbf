"""An outage of the event log is logged when it begins and when it ends, and once a minute in between."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog
import trio
from trio.testing import MockClock

from gm_protocol.errors import Internal
from gmd.event_log.batching import PROBE_SECONDS, REPEAT_SECONDS, BatchingLog, Outage
from gmd.net.metrics import Metrics
from tests.event_log.test_contract import CREATED, SUMMARY
from tests.helpers import FaultyStore, store_in


@pytest.fixture
def store(tmp_path: Path) -> Iterator[FaultyStore]:
    with store_in(tmp_path) as store:
        yield store


async def test_repeated_failures_are_logged_once_a_minute(autojump_clock: MockClock) -> None:
    outage = Outage()
    with structlog.testing.capture_logs() as logged:
        for _ in range(150):
            for _ in range(1_000):
                outage.failed("OSError: full", games=3)
            await trio.sleep(1)
        outage.over()
        outage.over()
    assert logged == [
        {
            "event": "the event log cannot be written",
            "log_level": "error",
            "reason": "OSError: full",
            "games": 3,
        },
        {
            "event": "the event log still cannot be written",
            "log_level": "error",
            "reason": "OSError: full",
            "failures": 60_001,
            "seconds": REPEAT_SECONDS,
        },
        {
            "event": "the event log still cannot be written",
            "log_level": "error",
            "reason": "OSError: full",
            "failures": 120_001,
            "seconds": 2 * REPEAT_SECONDS,
        },
        {
            "event": "the event log can be written again",
            "log_level": "warning",
            "failures": 150_000,
            "seconds": 150.0,
        },
    ]


async def test_failing_log_retries_without_requests(store: FaultyStore, autojump_clock: MockClock) -> None:
    metrics = Metrics()
    log = BatchingLog(store, metrics)
    with structlog.testing.capture_logs() as logged:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(log.run)
            store.fault = OSError("no space left")
            with pytest.raises(Internal):
                await log.append(log.next_game_id(), 0, [CREATED], lambda: SUMMARY).wait()
            assert log.failure == "OSError: no space left"
            await trio.sleep(10 * PROBE_SECONDS)
            assert log.failure == "OSError: no space left"
            store.fault = None
            while log.failure is not None:  # noqa: ASYNC110 - the log retries in its own time
                await trio.sleep(PROBE_SECONDS)
            log.stop()
    assert store.batches == [[1]]
    assert (metrics.commits_failed, metrics.commit_seconds.counts) == (1, [0] * len(metrics.commit_seconds.counts))
    assert [line["event"] for line in logged] == [
        "the event log cannot be written",
        "the event log can be written again",
    ]
