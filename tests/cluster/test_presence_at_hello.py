"""A reply to hello means that others can invite the player at once, whichever daemons they are connected to."""

from __future__ import annotations

import trio
import trio.testing
from trio.testing import MockClock

from gmd.cluster.lobby.presence import KNOWN_SECONDS
from tests.cluster.whole_cluster import whole_cluster


async def test_player_can_be_invited_as_soon_as_hello_is_answered(autojump_clock: MockClock) -> None:
    async with whole_cluster(3) as cluster:
        ada = await cluster.enter(2, "ada")
        for number in range(10):
            guest = await cluster[1].connect()
            made = await guest.ask("register", name=f"guest-{number}")
            assert (await guest.ask("hello", player=made["player"], key=made["key"]))["error"] is None
            assert cluster.lobby.services.authenticator.presence.is_here(made["player"])
            asked = await ada.ask("challenge", opponent=made["player"])
            assert asked["error"] is None, asked
            assert (await ada.ask("decline", game_id=asked["game_id"]))["error"] is None


async def test_hello_waits_for_a_link_that_is_cut(autojump_clock: MockClock) -> None:
    async with whole_cluster(2) as cluster:
        ada = await cluster.enter(0, "ada")
        made = await (await cluster[0].connect()).ask("register", name="bob")
        guest = await cluster[1].connect()
        await cluster.cut(cluster[1])
        assert (await guest.ask("hello", player=made["player"], key=made["key"]))["error"] is None
        assert (await ada.ask("challenge", opponent="bob"))["error"] is None


async def test_hello_is_answered_when_the_owner_of_the_lobby_does_not_answer(autojump_clock: MockClock) -> None:
    async with whole_cluster(2) as cluster:
        made = await (await cluster[0].connect()).ask("register", name="bob")
        guest = await cluster[1].connect()
        cluster._reachable.discard(cluster.lobby.id)
        await cluster.cut(cluster.lobby)
        began = trio.current_time()
        assert (await guest.ask("hello", player=made["player"], key=made["key"]))["error"] is None
        assert trio.current_time() - began <= KNOWN_SECONDS + 1


async def test_open_hello_waits_for_nobody(autojump_clock: MockClock) -> None:
    async with whole_cluster(2) as cluster:
        guest = await cluster[1].connect()
        cluster._reachable.discard(cluster.lobby.id)
        await cluster.cut(cluster.lobby)
        began = trio.current_time()
        assert (await guest.ask("hello", player=7))["error"] is None
        assert trio.current_time() == began
