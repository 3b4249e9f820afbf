"""Passwords are verified, and a player without one costs the same work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest
from argon2 import PasswordHasher, extract_parameters

from gmd.players.passwords import Passwords


@pytest.fixture
def passwords() -> Iterator[Passwords]:
    """Yield passwords with a cheap hash."""
    with closing(Passwords(passes=1, memory_kib=64)) as cheap:
        yield cheap


async def test_right_password_is_verified_and_another_is_not(passwords: Passwords) -> None:
    stored = await passwords.hash("correct horse \N{BLACK CHESS KNIGHT}")
    assert await passwords.verify(stored, "correct horse \N{BLACK CHESS KNIGHT}")
    assert not await passwords.verify(stored, "correct horse")
    assert not await passwords.verify(stored, "")
    assert not await passwords.verify(None, "anything")
    assert passwords.verified == 4
    assert await passwords.hash("same") != await passwords.hash("same")


async def test_player_without_a_password_costs_as_much_as_one_with_a_password(
    passwords: Passwords, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[str] = []
    monkeypatch.setattr(PasswordHasher, "verify", lambda self, stored, password: bool(compared.append(stored)))
    for hasher in (passwords, costly := Passwords()):
        stored = await hasher.hash("password")
        for each in (stored, None):
            await hasher.verify(each, "anything")
        true, stand_in = map(extract_parameters, compared[-2:])
        assert true == stand_in
    costly.close()
    assert (true.type.name, true.memory_cost, true.time_cost, true.parallelism) == ("ID", 65_536, 3, 4)
