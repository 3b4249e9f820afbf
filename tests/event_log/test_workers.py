"""The threads of the log."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
import trio
import trio.testing

from gmd.event_log.workers import Workers


@pytest.fixture
def workers() -> Iterator[Workers]:
    workers = Workers(1, "test worker")
    yield workers
    workers.close()


async def test_cancellation_waits_for_a_running_call_and_starts_none(workers: Workers) -> None:
    begun, may_end = threading.Event(), threading.Event()
    ended: list[int] = []

    def work(number: int) -> None:
        begun.set()
        assert may_end.wait(60)
        ended.append(number)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(workers.run, work, 1)
        await trio.testing.wait_all_tasks_blocked()
        assert begun.wait(60)
        nursery.cancel_scope.cancel()
        may_end.set()
    assert ended == [1]
    with trio.CancelScope() as scope:
        scope.cancel()
        await workers.run(work, 2)
    assert ended == [1]


async def test_cancellation_does_not_wait_for_a_call_that_waits_for_a_thread(workers: Workers) -> None:
    begun, may_end = threading.Event(), threading.Event()
    called: list[int] = []

    def work() -> None:
        begun.set()
        assert may_end.wait(60)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(workers.run, work)
        await trio.testing.wait_all_tasks_blocked()
        assert begun.wait(60)
        with trio.CancelScope() as scope:
            nursery.start_soon(cancel_when_blocked, scope)
            await workers.run(called.append, 1)
        assert scope.cancelled_caught  # the thread was still at work
        may_end.set()
    await workers.run(called.append, 2)
    assert called == [2]


async def cancel_when_blocked(scope: trio.CancelScope) -> None:
    await trio.testing.wait_all_tasks_blocked()
    scope.cancel()
