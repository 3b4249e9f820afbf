"""Names and secrets that come with every request are verified once, and cached no longer than they are valid."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from itertools import count

import pytest
import trio
from trio.testing import MockClock

from gm_protocol.errors import TooMany, Unauthorized
from gmd.players.account import Account
from gmd.players.authenticator import Authenticator
from gmd.players.credentials import Credentials
from gmd.players.guesses import OWN_PER_MINUTE
from gmd.players.passwords import Passwords
from gmd.players.registry import Registry
from gmd.players.store import MemoryPlayers

PEER = "192.0.2.1:4711"
PASSWORD = "correct horse"
#: Another connection from the same address.
NEIGHBOUR = "192.0.2.1:999"


@asynccontextmanager
async def players(max_failures: int = 3) -> AsyncIterator[tuple[Authenticator, Account, str]]:
    """Yield an authenticator with one player, and that player's key."""
    registry = Registry(MemoryPlayers(), 10)
    with closing(Authenticator(registry, max_failures, 10, Passwords(passes=1, memory_kib=64))) as authenticator:
        account, key = await registry.register("Bot", await authenticator.passwords.hash(PASSWORD), None)
        assert key is not None
        yield authenticator, account, key


async def refused(credentials: Credentials, name: str, secret: str) -> str:
    """Return the refusal of a name and a secret."""
    with pytest.raises(Unauthorized) as refusal:
        await credentials.admit(name, secret, PEER)
    return str(refusal.value)


async def test_password_is_verified_once_whatever_the_case_of_the_name() -> None:
    async with players() as (authenticator, account, _):
        credentials = Credentials(authenticator)
        for name in ("Bot", "bot", "BOT"):
            assert await credentials.admit(name, PASSWORD, PEER) == account
        assert authenticator.passwords.verified == 1


async def test_concurrent_requests_with_the_same_pair_cost_one_verification_and_no_attempt() -> None:
    async with players(max_failures=1) as (authenticator, account, _):
        credentials = Credentials(authenticator)
        admitted: list[Account] = []

        async def admit() -> None:
            admitted.append(await credentials.admit("Bot", PASSWORD, PEER))

        async with trio.open_nursery() as nursery:
            for _ in range(20):
                nursery.start_soon(admit)
        assert admitted == [account] * 20
        assert authenticator.passwords.verified == 1


async def test_key_is_accepted_as_secret_without_a_verification() -> None:
    async with players() as (authenticator, account, key):
        assert await Credentials(authenticator).admit("Bot", key, PEER) == account
        assert authenticator.passwords.verified == 0


async def test_wrong_secrets_get_the_same_refusal_and_are_not_cached() -> None:
    async with players(max_failures=30) as (authenticator, _, key):
        credentials = Credentials(authenticator)
        await credentials.admit("Bot", PASSWORD, PEER)
        wrong = ["", "Correct horse", PASSWORD + " ", key[:-1]]
        words = "authorization: wrong password for '{}'; check both; a player without a password sends its key"
        assert [await refused(credentials, "Bot", secret) for secret in wrong] == [words.format("Bot")] * len(wrong)
        assert await refused(credentials, "Nobody", PASSWORD) == words.format("Nobody")
        assert await refused(credentials, f"Bot\0{PASSWORD}", "") != ""
        assert len(credentials) == 1


async def use_up(credentials: Credentials, name: str, secret: str = "wrong") -> int:
    """Try a wrong pair from the address of :data:`PEER` until it is no longer compared; return the number of
    comparisons.
    """
    for looked_at in count():
        try:
            await credentials.admit(name, secret, NEIGHBOUR)
        except Unauthorized:
            continue
        except TooMany:
            return looked_at
    raise AssertionError


async def test_wrong_attempts_are_limited_but_known_players_are_accepted() -> None:
    async with players(max_failures=2) as (authenticator, account, key):
        credentials = Credentials(authenticator)
        await credentials.admit("Bot", PASSWORD, PEER)
        assert await use_up(credentials, "Somebody") == 2
        for peer in (PEER, "192.0.2.1:4712", "192.0.2.2:1"):
            assert await credentials.admit("bot", PASSWORD, peer) == account
            assert await credentials.admit("Bot", key, peer) == account


async def test_known_player_whose_password_is_verified_again_is_accepted() -> None:
    async with players(max_failures=2) as (authenticator, account, _):
        credentials = Credentials(authenticator, seconds=0)  # nothing is cached
        await credentials.admit("Bot", PASSWORD, PEER)
        assert await use_up(credentials, "Somebody") == 2
        for _ in range(2 * OWN_PER_MINUTE):  # right passwords do not use these up
            assert await credentials.admit("Bot", PASSWORD, "192.0.2.1:4712") == account


async def test_unknown_player_at_an_exhausted_address_is_refused_with_the_reason() -> None:
    async with players(max_failures=2) as (authenticator, _, _key):
        credentials = Credentials(authenticator)
        await credentials.admit("Bot", PASSWORD, "192.0.2.2:1")
        assert await use_up(credentials, "Somebody") == 2
        for secret in (PASSWORD, "wrong"):
            with pytest.raises(TooMany) as refusal:
                await credentials.admit("Bot", secret, PEER)
            assert str(refusal.value) == (
                "max_failures_per_minute: 2 from this address are used up; try again later: too many wrong keys and "
                "passwords have come from this address, so this password was not checked"
            )
            assert refusal.value.retry_after == 30.0


async def test_caching_and_known_players_do_not_allow_more_guesses() -> None:
    async with players(max_failures=2) as (authenticator, account, _):
        credentials = Credentials(authenticator)
        await credentials.admit("Bot", PASSWORD, PEER)
        assert await use_up(credentials, "Bot") == 2 + OWN_PER_MINUTE
        for peer in (NEIGHBOUR, "192.0.2.1:4713"):
            with pytest.raises(TooMany):  # although the pair is cached
                await credentials.admit("Bot", PASSWORD, peer)
        # The connection that has shown the pair is accepted, as long as it shows nothing else.
        assert await credentials.admit("Bot", PASSWORD, PEER) == account
        with pytest.raises(TooMany):
            await credentials.admit("Bot", "wrong", PEER)
        with pytest.raises(TooMany):
            await credentials.admit("Bot", PASSWORD, PEER)


async def test_accepted_connection_stays_accepted_when_its_password_is_verified_again() -> None:
    async with players(max_failures=2) as (authenticator, account, _):
        credentials = Credentials(authenticator, seconds=0)
        await credentials.admit("Bot", PASSWORD, PEER)
        assert await use_up(credentials, "Bot") == 2 + OWN_PER_MINUTE
        for _ in range(2):
            assert await credentials.admit("Bot", PASSWORD, PEER) == account
        await authenticator.registry.revoke(account.player)
        with pytest.raises(Unauthorized):
            await credentials.admit("Bot", PASSWORD, PEER)
        with pytest.raises(TooMany):  # this pair is no longer right
            await credentials.admit("Bot", PASSWORD, PEER)


async def test_forwarded_request_does_not_count_as_a_connection() -> None:
    async with players(max_failures=2) as (authenticator, _, _key):
        credentials = Credentials(authenticator)
        await credentials.admit("Bot", PASSWORD, "192.0.2.1:0")
        assert await use_up(credentials, "Bot") == 2 + OWN_PER_MINUTE
        with pytest.raises(TooMany):
            await credentials.admit("Bot", PASSWORD, "192.0.2.1:0")


async def test_password_is_verified_again_after_a_while(mock_clock: MockClock) -> None:
    async with players() as (authenticator, account, _):
        credentials = Credentials(authenticator, seconds=600)
        for seconds, verified in ((0, 1), (599, 1), (2, 2)):
            mock_clock.jump(seconds)
            assert await credentials.admit("Bot", PASSWORD, PEER) == account
            assert authenticator.passwords.verified == verified


async def test_new_key_or_revocation_takes_effect_at_once() -> None:
    async with players() as (authenticator, account, key):
        credentials = Credentials(authenticator)
        await credentials.admit("Bot", key, PEER)
        await credentials.admit("Bot", PASSWORD, PEER)
        _, new_key = await authenticator.registry.rekey(account.player, None)
        assert new_key is not None
        await refused(credentials, "Bot", key)
        assert (await credentials.admit("Bot", PASSWORD, PEER)).player == account.player
        assert (
            authenticator.passwords.verified == 3
        )  # first, then the old key that might have been a password, then once more
        await authenticator.registry.revoke(account.player)
        for secret in (key, new_key, PASSWORD):
            with pytest.raises((Unauthorized, TooMany)):
                await credentials.admit("Bot", secret, PEER)


async def test_size_of_the_cache_is_limited() -> None:
    async with players() as (authenticator, _, key):
        credentials = Credentials(authenticator, size=1)
        await credentials.admit("Bot", PASSWORD, PEER)
        await credentials.admit("Bot", key, PEER)
        assert len(credentials) == 1
        await credentials.admit("Bot", PASSWORD, PEER)
        assert authenticator.passwords.verified == 2
