"""The password of a revoked player is never accepted again, not even if it was sent just before the revocation."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from gm_protocol.errors import Unauthorized
from gmd.players.authenticator import Authenticator
from gmd.players.memory import MemoryPlayers
from gmd.players.registry import Registry
from tests.players.test_password_queue import PASSWORD, Patient


@asynccontextmanager
async def authenticator_with_a_player() -> AsyncIterator[tuple[Authenticator, Patient, int]]:
    """Yield an authenticator, its passwords, and a player with a password."""
    passwords = Patient()
    authenticator = Authenticator(Registry(MemoryPlayers(), 10), 1_000, 1_000, passwords)
    try:
        account, _ = await authenticator.registry.register("bot", await passwords.hash(PASSWORD), None)
        yield authenticator, passwords, account.player
    finally:
        authenticator.close()


async def test_revocation_removes_the_password_for_good() -> None:
    async with authenticator_with_a_player() as (authenticator, passwords, player):
        passwords.may_compare.set()
        assert (await authenticator.admit_with_password("bot", PASSWORD, "")).player == player
        await authenticator.registry.revoke(player)
        await authenticator.registry.rekey(player, None)
        with pytest.raises(Unauthorized):
            await authenticator.admit_with_password("bot", PASSWORD, "")


@pytest.mark.parametrize("has_new_key", [False, True])
async def test_player_revoked_during_the_password_comparison_is_refused(has_new_key: bool) -> None:
    async with authenticator_with_a_player() as (authenticator, passwords, player), trio.open_nursery() as nursery:
        refused = []

        async def try_it() -> None:
            with pytest.raises(Unauthorized) as error:
                await authenticator.admit_with_password("bot", PASSWORD, "")
            refused.append(error.value)

        nursery.start_soon(try_it)
        await wait_all_tasks_blocked()
        await authenticator.registry.revoke(player)
        if has_new_key:
            await authenticator.registry.rekey(player, None)
        passwords.may_compare.set()
    assert len(refused) == 1
