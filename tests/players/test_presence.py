"""Presence of players."""

from __future__ import annotations

import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from tests.helpers import MemoryDaemon
from tests.lobbying import ALICE, BOB, CAROL, enter, house


def here(daemon: MemoryDaemon) -> list[str]:
    return [account.name for account in daemon.authenticator.presence.present()]


async def test_player_is_present_from_its_hello_to_the_end_of_its_last_session() -> None:
    async with house() as (daemon, alice, bob, _carol):
        assert here(daemon) == ["alice", "bob", "carol"]
        second = await enter(daemon, "alice")
        await alice.aclose()
        await wait_all_tasks_blocked()
        assert here(daemon) == ["alice", "bob", "carol"]
        await second.ask("hello", player=7)
        assert here(daemon) == ["bob", "carol"]
        assert (await bob.ask("hello", name="bob", key="wrong"))["code"] == "unauthorized"
        assert here(daemon) == ["carol"]


async def test_request_without_a_session_counts_for_a_while(autojump_clock: MockClock) -> None:
    async with house(presence_timeout=60.0) as (daemon, alice, *others):
        made = await alice.ask("register", name="dave")
        for client in (alice, *others):
            await client.aclose()
        await wait_all_tasks_blocked()
        assert here(daemon) == []
        for _ in range(2):
            client = await daemon.connect(hello=False)
            asked = {"player": made["player"], "key": made["key"]}
            assert (await client.ask("settings", **asked))["error"] is None
            await trio.sleep(59)
            assert here(daemon) == ["dave"]
            assert daemon.authenticator.presence.is_here(made["player"])
        await trio.sleep(1)
        assert here(daemon) == []
        assert not daemon.authenticator.presence.is_here(made["player"])


async def test_player_with_an_old_key_is_not_present() -> None:
    async with house() as (daemon, alice, bob, _carol):
        presence, registry = daemon.authenticator.presence, daemon.authenticator.registry
        presence.seen(ALICE)
        assert (await alice.ask("rekey"))["error"] is None
        assert presence.is_here(ALICE)
        await registry.rekey(BOB, None)
        assert not presence.is_here(BOB)
        assert (await bob.ask("seek"))["code"] == "unauthorized"
        await registry.revoke(CAROL)
        assert here(daemon) == ["alice"]


async def test_player_with_a_wrong_key_is_not_present() -> None:
    async with house() as (daemon, *clients):
        for client in clients:
            await client.aclose()
        await wait_all_tasks_blocked()
        stranger = await daemon.connect()
        await stranger.ask("settings", player=ALICE, key="wrong")
        assert here(daemon) == []
        assert not daemon.authenticator.presence.is_here(ALICE + 100)
