"""Passwords: whose they are, and that who has none costs the same work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest
import trio
from argon2 import extract_parameters
from trio.testing import wait_all_tasks_blocked

from gm_protocol.errors import TooMany
from gmd.players import passwords as passwords_module
from gmd.players.passwords import Passwords


@pytest.fixture
def passwords() -> Iterator[Passwords]:
    """Passwords that cost next to nothing."""
    with closing(Passwords(passes=1, memory_kib=64)) as cheap:
        yield cheap


async def test_a_password_is_known_again_and_another_is_not(passwords: Passwords) -> None:
    stored = await passwords.hash("correct horse \N{BLACK CHESS KNIGHT}")
    assert await passwords.verify(stored, "correct horse \N{BLACK CHESS KNIGHT}")
    assert not await passwords.verify(stored, "correct horse")
    assert not await passwords.verify(stored, "")
    assert await passwords.hash("same") != await passwords.hash("same")


async def test_who_has_no_password_is_verified_all_the_same(passwords: Passwords) -> None:
    assert not await passwords.verify(None, "anything")
    assert passwords.verified == 1


async def test_the_stand_in_costs_what_a_true_hash_costs() -> None:
    with closing(Passwords()) as passwords:
        true = extract_parameters(await passwords.hash("password"))
        assert extract_parameters(passwords._nobodys) == true
    assert (true.type.name, true.memory_cost, true.time_cost, true.parallelism) == ("ID", 65_536, 3, 4)


async def test_no_more_wait_than_may(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passwords_module, "MAX_WAITING", 2)
    with closing(Passwords()) as passwords:
        async with trio.open_nursery() as nursery:
            for _ in range(passwords_module.AT_A_TIME + 2):
                nursery.start_soon(passwords.verify, None, "anything")
            await wait_all_tasks_blocked()
            with pytest.raises(TooMany) as caught:
                await passwords.verify(None, "anything")
        assert caught.value.retry_after == 5.0
        assert not await passwords.verify(None, "anything")
