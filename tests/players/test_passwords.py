"""Passwords: whose they are, and that who has none costs the same work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest
from argon2 import extract_parameters

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
        assert extract_parameters(passwords._decoy) == true
    assert (true.type.name, true.memory_cost, true.time_cost, true.parallelism) == ("ID", 65_536, 3, 4)
