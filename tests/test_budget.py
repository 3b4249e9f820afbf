"""Long work runs one slice at a time, in a fair order, and is charged for. These tests count turns and time nothing."""

from __future__ import annotations

from collections.abc import Generator
from functools import partial
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from gm_protocol.errors import TooMany
from gmd.config import Config
from gmd.play.budget import PERIOD, Budget, CpuQueue
from gmd.play.limits import ELSEWHERE, is_private, limits_of

ONE, OTHER = "10.0.0.1:1", "10.0.0.2:1"


class Turns(trio.abc.Instrument):
    """A counter of the loop's turns."""

    def __init__(self) -> None:
        self.count = 0

    def before_io_wait(self, timeout: float) -> None:
        self.count += 1


def steps(number: int, log: list[str], name: str = "") -> Generator[None, None, str]:
    """Yield so many times, and write the name down before each."""
    for _ in range(number):
        log.append(name)
        yield
    return f"{name} done"


async def work(cpu_queue: CpuQueue, peer: str, number: int, log: list[str], name: str) -> None:
    async with cpu_queue.slot(peer):
        assert await cpu_queue.run(steps(number, log, name), peer) == f"{name} done"


async def test_loop_serves_others_between_any_two_slices() -> None:
    cpu_queue, turns, log = CpuQueue(slice_seconds=0), Turns(), list[str]()
    trio.lowlevel.add_instrument(turns)
    async with trio.open_nursery() as nursery:
        for address in range(50):
            nursery.start_soon(work, cpu_queue, f"10.0.0.{address}:1", 10, log, str(address))
    trio.lowlevel.remove_instrument(turns)
    assert len(log) == 500
    assert cpu_queue.slices == 550  # each work's last slice finds that nothing is left
    assert turns.count >= cpu_queue.slices


async def test_addresses_take_turns_and_the_work_of_one_queues_behind_itself() -> None:
    cpu_queue, log = CpuQueue(slice_seconds=0), list[str]()
    async with trio.open_nursery() as nursery:
        for number in range(100):
            nursery.start_soon(work, cpu_queue, f"10.0.0.1:{number}", 5, log, "greedy")
        nursery.start_soon(work, cpu_queue, OTHER, 5, log, "modest")
    last = max(at for at, name in enumerate(log) if name == "modest")
    assert last <= 12, "five steps each, by turns, and what was begun before"


async def test_slice_takes_as_many_steps_as_fit() -> None:
    cpu_queue, log = CpuQueue(slice_seconds=3600.0), list[str]()
    await work(cpu_queue, ONE, 1_000, log, "all")
    assert cpu_queue.slices == 1


async def test_failing_work_raises_to_its_caller_and_frees_its_place() -> None:
    def failing() -> Generator[None, None, None]:
        yield
        raise ValueError("no")

    cpu_queue = CpuQueue(slice_seconds=0)
    with pytest.raises(ValueError, match="no"):
        async with cpu_queue.slot(ONE):
            await cpu_queue.run(failing(), ONE)
    await work(cpu_queue, ONE, 1, [], "next")


async def test_cancelled_work_leaves_its_place_to_the_next() -> None:
    cpu_queue, log = CpuQueue(slice_seconds=0), list[str]()
    async with trio.open_nursery() as nursery:
        with trio.CancelScope() as scope:
            nursery.start_soon(partial(cancelled_after, scope, log, 3))
            await work(cpu_queue, ONE, 1_000, log, "long")
        assert scope.cancelled_caught
        await work(cpu_queue, ONE, 2, log, "next")
    assert log[-2:] == ["next", "next"]
    assert len(log) < 20


async def cancelled_after(scope: trio.CancelScope, log: list[str], number: int) -> None:
    while len(log) < number:
        await trio.lowlevel.checkpoint()
    scope.cancel()


async def test_exhausted_budget_refuses_work_and_says_when_to_retry(autojump_clock: MockClock) -> None:
    budget = Budget(6_000)
    budget.check(ONE)
    budget.charge(ONE, 2.0)
    budget.check(ONE)
    budget.charge(ONE, 2.0)  # more than what a connection has left, which is half
    with pytest.raises(TooMany) as refused:
        budget.check(ONE)
    assert str(refused.value) == (
        "max_work_per_minute: 3000 milliseconds of processor time from this connection are used up; try again later"
    )
    assert refused.value.retry_after == 21.0  # one second over, of which a minute gives back three, and one millisecond
    budget.check("10.0.0.1:2")
    budget.charge("10.0.0.1:2", 2.5)
    with pytest.raises(TooMany) as refused:
        budget.check("10.0.0.1:3")
    assert str(refused.value) == (
        "max_work_per_minute: 6000 milliseconds of processor time from this address are used up; try again later"
    )
    assert refused.value.retry_after == 6.0
    budget.check(OTHER)
    await trio.sleep(5)
    with pytest.raises(TooMany):
        budget.check("10.0.0.1:3")
    await trio.sleep(1)
    budget.check("10.0.0.1:3")
    await trio.sleep(PERIOD)
    budget.check(ONE)


async def test_request_without_an_address_has_no_budget() -> None:
    budget = Budget(1)
    budget.charge("", 1_000.0)
    budget.check("")


async def test_work_is_charged_to_its_address_and_refused_at_its_turn_when_the_budget_is_spent() -> None:
    def busy() -> Generator[None, None, None]:
        for _ in range(100):
            sum(range(10_000))
            yield

    cpu_queue = CpuQueue(Budget(2), slice_seconds=0)
    done: list[str] = []
    refused: list[str] = []

    async def ask(peer: str) -> None:
        try:
            async with cpu_queue.slot(peer, paid=True):
                await cpu_queue.run(busy(), peer)
        except TooMany:
            refused.append(peer)
        else:
            done.append(peer)

    async with trio.open_nursery() as nursery:
        for number in range(5):
            nursery.start_soon(ask, f"10.0.0.1:{number}")
        nursery.start_soon(ask, OTHER)
        nursery.start_soon(ask, "")
        nursery.start_soon(ask, "")
    assert len(refused) == 4
    assert len(done) == 4
    assert {OTHER, ""} <= set(done)
    async with cpu_queue.slot("10.0.0.1:9"):  # unpaid work is charged, and never refused
        await cpu_queue.run(busy(), "10.0.0.1:9")


@pytest.mark.parametrize(
    ("settings", "private"),
    [
        ({}, True),
        ({"host": "0.0.0.0"}, False),
        ({"http": True}, True),
        ({"http": True, "http_host": "::1"}, True),
        ({"http": True, "http_host": "0.0.0.0"}, False),
        ({"http": True, "http_host": "localhost"}, True),
        ({"http": True, "http_host": "gmd.example"}, False),
        ({"http": False, "http_host": "0.0.0.0"}, True),
        ({"http": True, "trusted_proxies": "127.0.0.1"}, False),
    ],
)
def test_daemon_is_private_when_no_stranger_reaches_any_of_its_ports(settings: dict[str, Any], private: bool) -> None:
    assert is_private(Config(**settings), (), ()) == private


@pytest.mark.parametrize(
    ("setting", "local", "limit"),
    [(None, True, None), (None, False, ELSEWHERE["max_work_per_minute"]), (7, True, 7), (7, False, 7)],
)
def test_work_limit_applies_when_strangers_can_connect_or_one_is_set(
    setting: int | None, local: bool, limit: int | None
) -> None:
    assert limits_of(Config(max_work_per_minute=setting), local=local).max_work_per_minute == limit
