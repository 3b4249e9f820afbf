"""Changes of settings: they hold up neither registrations nor new keys, and a player may make only so many."""

from __future__ import annotations

from functools import partial

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from gmd.play import quotas
from gmd.players.account import Account
from gmd.players.registry import Registry
from gmd.players.store import MemoryPlayers
from tests.helpers import connected
from tests.http.helpers import http_daemon


class HeldPlayers(MemoryPlayers):
    """A store in memory whose writes wait for :attr:`may_write`, and which keeps their order."""

    def __init__(self) -> None:
        super().__init__()
        self.may_write = trio.Event()
        self.may_write.set()
        self.written: list[str] = []

    async def add(self, account: Account) -> None:
        await self.may_write.wait()
        self.written.append(f"added {account.name}")
        await super().add(account)

    async def change(self, account: Account) -> None:
        await self.may_write.wait()
        self.written.append("revoked" if account.key is None else f"{account.name} {account.max_games}")
        await super().change(account)


async def test_registration_and_revocation_wait_for_one_change_of_settings_at_most() -> None:
    store = HeldPlayers()
    registry = Registry(store, max_players=10)
    players = [(await registry.register(name, None, None))[0].player for name in ("ada", "bob")]
    store.may_write, store.written = trio.Event(), []
    async with trio.open_nursery() as nursery:
        for number in range(20):
            for player in players:
                nursery.start_soon(partial(registry.set, player, max_games=100 + number))
        await wait_all_tasks_blocked()
        nursery.start_soon(registry.register, "honest", None, None)
        nursery.start_soon(registry.revoke, players[0])
        await wait_all_tasks_blocked()
        store.may_write.set()
    assert set(store.written[1:3]) == {"added honest", "revoked"}


async def test_players_take_turns_at_changing_their_settings() -> None:
    store = HeldPlayers()
    registry = Registry(store, max_players=10)
    ada, bob = [(await registry.register(name, None, None))[0].player for name in ("ada", "bob")]
    store.may_write, store.written = trio.Event(), []
    async with trio.open_nursery() as nursery:
        for number in range(20):
            nursery.start_soon(partial(registry.set, ada, max_games=100 + number))
        await wait_all_tasks_blocked()
        nursery.start_soon(partial(registry.set, bob, max_games=7))
        await wait_all_tasks_blocked()
        store.may_write.set()
    assert store.written.index("bob 7") <= 2


async def test_all_settings_of_a_request_are_one_change() -> None:
    store = HeldPlayers()
    registry = Registry(store, max_players=10)
    player = (await registry.register("ada", None, None))[0].player
    store.written = []
    account = await registry.set(player, max_games=9, ranked=True, version=1)
    assert (account.max_games, account.ranked, account.version, store.written) == (9, True, 1, ["ada 9"])


async def test_settings_over_tcp_and_http_share_one_rate_that_new_keys_do_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(quotas, "MAX_SETTINGS_PER_MINUTE", 3)
    async with http_daemon() as (daemon, web), connected(daemon) as client:
        made = await client.ask("register", name="ada", password="long enough")
        mine = {"player": made["player"], "key": made["key"]}
        auth = ("ada", "long enough")
        assert (await client.ask("settings", **mine, max_games=8))["error"] is None
        assert (await web.post("/api/users/me/max_games", json={"max_games": 9}, auth=auth)).status_code == 200
        assert (await web.post("/api/users/me/version", auth=auth)).status_code == 200
        refused = await client.ask("settings", **mine, ranked=True)
        sentence = "settings: 3 changes of settings from this player are used up; try again later"
        assert (refused["code"], refused["error"]) == ("too_many", sentence)
        for path, body in (("ranked", {"ranked": True}), ("version", None)):
            response = await web.post(f"/api/users/me/{path}", json=body, auth=auth)
            assert (response.status_code, sentence in response.text) == (503, True)
        shown = await client.ask("settings", **mine)  # asking changes nothing
        assert (shown["ranked"], shown["version"], shown["max_games"]) == (False, 1, 9)
        assert (await client.ask("rekey", **mine))["error"] is None
