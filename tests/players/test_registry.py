"""Registered players and their keys: names, ids, and requests repeated after a lost reply."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import trio
from msgspec import structs
from trio.testing import MockClock, wait_all_tasks_blocked

from gm_protocol.errors import NotAvailable, Unauthorized
from gmd.event_log.interface import LogFailed, LogUnreachable
from gmd.players import keys
from gmd.players.account import FIRST_PLAYER, Account
from gmd.players.authenticator import Authenticator
from gmd.players.registry import Registry
from gmd.players.sql import SqlPlayers
from gmd.players.store import MemoryPlayers
from tests.helpers import running_log, store_in


class House:
    """A registry and its authenticator, on a store that outlives them."""

    def __init__(self) -> None:
        self.store = MemoryPlayers()

    async def open(self) -> Authenticator:
        """Return an authenticator as after a start of the daemon."""
        registry = Registry(self.store, 1_000)
        await registry.start()
        return Authenticator(registry, 1_000, 1_000)


async def registered(authenticator: Authenticator, name: str = "bot", token: str | None = None) -> tuple[int, str]:
    account, key = await authenticator.registry.register(name, None, token)
    assert key is not None
    return account.player, key


def admits(authenticator: Authenticator, player: int, key: str | None) -> bool:
    """Return whether a key allows acting as a player."""
    try:
        authenticator.admit(player, key, None, "")
    except Unauthorized:
        return False
    return True


async def test_name_is_taken_regardless_of_case() -> None:
    authenticator = await House().open()
    await registered(authenticator, "Deep.Blue")
    with pytest.raises(NotAvailable) as caught:
        await registered(authenticator, "deep.blue")
    assert str(caught.value) == "name: 'deep.blue' is taken; choose another"
    assert authenticator.registry.named("DEEP.BLUE") == authenticator.registry.get(FIRST_PLAYER)


async def test_repeated_registration_returns_the_same_player_and_key_until_the_key_is_used() -> None:
    house = House()
    authenticator = await house.open()
    player, key = await registered(authenticator, token="t")
    assert await registered(authenticator, token="t") == (player, key)
    authenticator = await house.open()  # also after a restart
    assert await registered(authenticator, "BOT", token="t") == (player, key)
    for token in (None, "other"):
        with pytest.raises(NotAvailable):
            await registered(authenticator, token=token)
    assert admits(authenticator, player, key)
    account, again = await authenticator.registry.register("bot", None, "t")
    assert (account.player, again) == (player, None)
    assert admits(authenticator, player, key)


async def test_use_of_a_key_is_remembered_after_a_restart() -> None:
    house = House()
    authenticator = await house.open()
    player, key = await registered(authenticator, token="t")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(authenticator.registry.run)
        await wait_all_tasks_blocked()
        assert admits(authenticator, player, key)
        nursery.cancel_scope.cancel()
    account, again = await (await house.open()).registry.register("bot", None, "t")
    assert (account.player, again) == (player, None)


async def test_same_token_gives_every_player_another_key() -> None:
    authenticator = await House().open()
    made = {await registered(authenticator, name, token="t") for name in ("one", "two", "three")}
    assert len({key for _, key in made}) == 3


async def test_rekey_can_be_repeated_with_the_old_key_and_its_token_until_the_new_key_is_used() -> None:
    house = House()
    authenticator = await house.open()
    player, old = await registered(authenticator, token="t")
    authenticator.admit_again(player, old, "r", None, "")
    _, new = await authenticator.registry.rekey(player, "r")
    assert new is not None
    for current in (authenticator, await house.open()):
        assert not admits(current, player, old)
        for key, token in ((old, "t"), (old, None), ("", "r"), ("x" * 43, "r")):
            with pytest.raises(Unauthorized):
                current.admit_again(player, key, token, None, "")
        current.admit_again(player, old, "r", None, "")
        assert (await current.registry.rekey(player, "r"))[1] == new
    assert admits(current, player, new)
    with pytest.raises(Unauthorized):
        current.admit_again(player, old, "r", None, "")
    assert (await current.registry.rekey(player, "r"))[1] is None
    assert (await current.registry.register("bot", None, "t"))[1] is None


async def test_authentication_of_a_session_is_valid_until_the_key_changes() -> None:
    authenticator = await House().open()
    player, _ = await registered(authenticator)
    account = authenticator.registry.get(player)
    assert account is not None
    authenticated = authenticator.authenticated(account)
    authenticator.admit(player, None, authenticated, "")
    with pytest.raises(Unauthorized):
        authenticator.admit(player, "wrong", authenticated, "")
    with pytest.raises(Unauthorized):
        authenticator.admit(player + 1, None, authenticated, "")
    await authenticator.registry.rekey(player, None)
    with pytest.raises(Unauthorized):
        authenticator.admit(player, None, authenticated, "")


async def test_revoked_player_has_no_key_until_the_next_one() -> None:
    house = House()
    authenticator = await house.open()
    player, key = await registered(authenticator, token="t")
    revoked_players: list[int] = []
    authenticator.registry.when_revoked(revoked_players.append)
    await authenticator.registry.revoke(player)
    assert revoked_players == [player]
    for current in (authenticator, await house.open()):
        assert [admits(current, player, each) for each in (key, "", None)] == [False] * 3
        assert (await current.registry.register("bot", None, "t"))[1] is None
    _, new = await current.registry.rekey(player, "t")
    assert (admits(current, player, key), admits(current, player, new)) == (False, True)


async def test_player_who_was_stored_unknown_to_the_registry_keeps_nobody_from_registering(tmp_path: Path) -> None:
    with store_in(tmp_path) as store:
        async with running_log(store) as log:
            registry, other = Registry(SqlPlayers(log), 10), Registry(SqlPlayers(log), 10)
            await registry.start()
            await other.register("one", None, "t")  # as a registration whose commit has lost its connection
            with pytest.raises(LogFailed):
                await registry.register("two", None, None)
            assert (await registry.register("two", None, None))[0].player == FIRST_PLAYER + 1
            assert (await registry.register("one", None, "t"))[0].player == FIRST_PLAYER


class Away(MemoryPlayers):
    """Store whose database may be unreachable."""

    def __init__(self) -> None:
        super().__init__()
        self.away = False

    async def load(self) -> list[Account]:
        self._reach()
        return await super().load()

    async def add(self, account: Account) -> None:
        self._reach()
        await super().add(account)

    async def change(self, account: Account) -> None:
        self._reach()
        await super().change(account)

    def _reach(self) -> None:
        if self.away:
            raise LogUnreachable("the database cannot be reached now")


async def test_use_of_a_key_while_the_database_is_away_ends_nothing() -> None:
    store = Away()
    registry = Registry(store, 10)
    authenticator = Authenticator(registry, 1_000, 1_000)
    (one, first), (two, second) = [await registered(authenticator, name, f"{name} token") for name in ("one", "two")]
    async with trio.open_nursery() as nursery:
        nursery.start_soon(registry.run)
        store.away = True
        with pytest.raises(LogUnreachable):
            await registry.register("three", None, None)
        assert admits(authenticator, one, first)
        await wait_all_tasks_blocked()
        account, _ = await registry.register("two", None, "two token")
        assert account.player == two, "what is known needs no database"
        store.away = False
        assert admits(authenticator, two, second)
        await wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    assert [account.nonce is None for account in await store.load()] == [False, True]


class FullDisk(MemoryPlayers):
    """Store that may be full."""

    def __init__(self) -> None:
        super().__init__()
        self.full = False

    async def add(self, account: Account) -> None:
        await self._written(super().add, account)

    async def change(self, account: Account) -> None:
        await self._written(super().change, account)

    async def _written(self, write: Callable[[Account], object], account: Account) -> None:
        if self.full:
            raise LogFailed("the players cannot be written; nothing was done")
        await write(account)  # type: ignore[misc]


async def test_change_that_cannot_be_written_has_no_effect() -> None:
    store = FullDisk()
    registry = Registry(store, 10)
    authenticator = Authenticator(registry, 1_000, 1_000)
    player, key = await registered(authenticator)
    store.full = True
    with pytest.raises(LogFailed):
        await registry.register("other", None, None)
    with pytest.raises(LogFailed):
        await registry.rekey(player, None)
    with pytest.raises(LogFailed):
        await registry.revoke(player)
    assert admits(authenticator, player, key)
    assert registry.named("other") is None
    store.full = False
    assert (await registered(authenticator, "other"))[0] == player + 1


async def test_registration_is_finished_although_its_client_has_gone(autojump_clock: MockClock) -> None:
    class Slow(MemoryPlayers):
        async def add(self, account: Account) -> None:
            await trio.sleep(1)
            await super().add(account)

    registry = Registry(Slow(), 10)
    with trio.move_on_after(0.5):
        await registry.register("bot", None, "t")
    found = registry.named("bot")
    assert found is not None
    assert await registry.register("bot", None, "t") == (found, keys.derived_key(found.nonce or b"", "t"))


def test_repr_of_an_account_shows_no_secret() -> None:
    account = Account(player=1, name="bot", created="", key=b"digest", password="hash", nonce=b"nonce")
    assert repr(account) == "Account(player=1, name='bot')"
    assert repr(structs.replace(account, name="b")) == "Account(player=1, name='b')"


async def test_settings_of_a_player_are_kept_and_its_versions_counted() -> None:
    house = House()
    authenticator = await house.open()
    player, _ = await registered(authenticator)
    assert await authenticator.registry.set(player, max_games=0) == authenticator.registry.get(player)
    await authenticator.registry.set(player, ranked=True)
    async with trio.open_nursery() as nursery:
        for _ in range(3):
            nursery.start_soon(authenticator.registry.next_version, player)
    account = (await house.open()).registry.get(player)
    assert account is not None
    assert (account.max_games, account.ranked, account.version) == (0, True, 3)
    await authenticator.registry.rekey(player, None)
    await authenticator.registry.revoke(player)
    account = authenticator.registry.get(player)
    assert account is not None
    assert (account.max_games, account.ranked, account.version) == (0, True, 3)
