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


async def test_result_and_error_are_returned(workers: Workers) -> None:
    def divide(one: int, other: int) -> tuple[int, bool]:
        return one // other, threading.current_thread() is threading.main_thread()

    assert await workers.run(divide, 6, 3) == (2, False)
    with pytest.raises(ZeroDivisionError):
        await workers.run(divide, 1, 0)


async def test_no_more_calls_run_at_once_than_there_are_threads(workers: Workers) -> None:
    under_way = threading.Lock()

    def alone() -> bool:
        if not under_way.acquire(blocking=False):
            return False
        under_way.release()
        return True

    results: list[bool] = []

    async def run() -> None:
        results.append(await workers.run(alone))

    async with trio.open_nursery() as nursery:
        for _ in range(20):
            nursery.start_soon(run)
    assert results == [True] * 20


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


async def test_closed_workers_have_no_threads() -> None:
    workers = Workers(2, "test worker")
    await workers.run(int)
    workers.close()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("test worker")]
