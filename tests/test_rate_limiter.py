"""A rate limit of attempts by address."""

from __future__ import annotations

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st
from trio.testing import MockClock

from gm_protocol.errors import TooMany
from gmd.players import rate_limiter
from gmd.players.rate_limiter import RateLimiter

ONE = "10.0.0.1:5"


def exhausted(attempts: RateLimiter, address: str) -> float:
    """Return the ``retry_after`` of an address that has no attempts left."""
    with pytest.raises(TooMany) as caught:
        attempts.take(address)
    assert str(caught.value) == "limit: 3 from this address are used up; try again later"
    assert caught.value.retry_after is not None
    return caught.value.retry_after


async def test_all_attempts_may_be_used_at_once_and_the_next_after_retry_after(autojump_clock: MockClock) -> None:
    attempts = RateLimiter("limit", 3, 60.0)
    for _ in range(3):
        attempts.take(ONE)
    assert exhausted(attempts, ONE) == 20.0
    attempts.take("10.0.0.2:5")
    await trio.sleep(12.5)
    assert exhausted(attempts, ONE) == 8.0
    await trio.sleep(8)
    attempts.take(ONE)
    assert exhausted(attempts, ONE) == 20.0


async def test_attempt_that_is_given_back_may_be_used_again() -> None:
    attempts = RateLimiter("limit", 3, 60.0)
    for _ in range(10):
        attempts.take(ONE)
        attempts.give_back(ONE)
    attempts.give_back("10.0.0.9:5")
    assert len(attempts) == 1


async def test_attempts_without_an_address_have_no_limit() -> None:
    attempts = RateLimiter("limit", 3, 60.0)
    for _ in range(10):
        attempts.take("")
    assert len(attempts) == 0


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("[2001:db8:1:2::1]:5", "[2001:db8:1:2:ffff::1]:5", True),
        ("[2001:db8:1:2::1]:5", "[2001:db8:1:3::1]:5", False),
        ("[::ffff:10.0.0.1]:5", ONE, True),
        ("[fe80::1%eth0]:5", "[fe80::2%eth1]:5", True),
        (ONE, "10.0.0.1:6", True),
        (ONE, "10.0.0.2:5", False),
        ("somewhere:5", "somewhere:6", True),
        ("127.0.0.1:5", "127.255.3.4:6", True),
        ("127.0.0.1:5", "[::1]:6", True),
        ("127.0.0.1:5", "[::ffff:127.0.0.2]:6", True),
        ("127.0.0.1:5", "128.0.0.1:5", False),
    ],
)
async def test_addresses_of_one_subscriber_count_together(one: str, other: str, same: bool) -> None:
    attempts = RateLimiter("limit", 3, 60.0)
    for _ in range(3):
        attempts.take(one)
    if same:
        exhausted(attempts, other)
    else:
        attempts.take(other)


async def test_loopback_addresses_count_separately_in_tests_that_need_many_clients(separate_loopback: None) -> None:
    attempts = RateLimiter("limit", 3, 60.0)
    for address in ("127.0.0.1:5", "127.0.0.2:5", "[::1]:5"):
        for _ in range(3):
            attempts.take(address)
        exhausted(attempts, address)


async def test_number_of_remembered_addresses_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limiter, "MAX_ADDRESSES", 5)
    attempts = RateLimiter("limit", 3, 60.0)
    for number in range(100):
        attempts.take(f"10.0.0.{number}:5")
        assert len(attempts) <= 5


@given(st.lists(st.floats(0, 30), max_size=60))
def test_no_period_has_more_than_twice_the_limit(pauses: list[float]) -> None:
    """The bound is a full bucket at the period's beginning, and what flows into it until its end."""

    async def main() -> None:
        attempts, granted = RateLimiter("limit", 3, 60.0), list[float]()
        for pause in pauses:
            await trio.sleep(pause)
            try:
                attempts.take(ONE)
            except TooMany:
                continue
            granted.append(trio.current_time())
        for begin in granted:
            assert len([at for at in granted if begin <= at < begin + 60]) <= 6

    trio.run(main, clock=MockClock(autojump_threshold=0))
