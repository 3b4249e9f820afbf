"""A revoked player's password: it opens nothing any more, not even for who gave it just before."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from threading import Event

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from gm_protocol.errors import Unauthorized
from gmd.players.gate import Gate
from gmd.players.memory import MemoryPlayers
from gmd.players.passwords import Passwords
from gmd.players.registry import Registry

PASSWORD = "correct horse"


class Patient(Passwords):
    """Passwords that cost next to nothing, and are compared when they may be."""

    def __init__(self) -> None:
        super().__init__(passes=1, memory_kib=64)
        self.may_compare = Event()

    def _matches(self, stored: str, password: str) -> bool:
        self.may_compare.wait()
        return super()._matches(stored, password)


@asynccontextmanager
async def gate_with_a_player() -> AsyncIterator[tuple[Gate, Patient, int]]:
    """A gate, its passwords, and a player with a password."""
    passwords = Patient()
    gate = Gate(Registry(MemoryPlayers(), 10), 1_000, 1_000, passwords)
    try:
        account, _ = await gate.registry.register("bot", await passwords.hash(PASSWORD), None)
        yield gate, passwords, account.player
    finally:
        passwords.may_compare.set()
        gate.close()


async def test_a_password_is_gone_with_the_key_and_does_not_come_back_with_another() -> None:
    async with gate_with_a_player() as (gate, passwords, player):
        passwords.may_compare.set()
        assert (await gate.admit_with_password("bot", PASSWORD, "")).player == player
        await gate.registry.revoke(player)
        await gate.registry.rekey(player, None)
        with pytest.raises(Unauthorized):
            await gate.admit_with_password("bot", PASSWORD, "")


@pytest.mark.parametrize("has_new_key", [False, True])
async def test_who_is_revoked_while_its_password_is_compared_is_refused(has_new_key: bool) -> None:
    async with gate_with_a_player() as (gate, passwords, player), trio.open_nursery() as nursery:
        refused = []

        async def try_it() -> None:
            with pytest.raises(Unauthorized) as error:
                await gate.admit_with_password("bot", PASSWORD, "")
            refused.append(error.value)

        nursery.start_soon(try_it)
        await wait_all_tasks_blocked()
        await gate.registry.revoke(player)
        if has_new_key:
            await gate.registry.rekey(player, None)
        passwords.may_compare.set()
    assert len(refused) == 1
