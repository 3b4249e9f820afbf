"""A seek lasts as long as its session, at whichever daemon that is and whoever has the lobby."""

from __future__ import annotations

import pytest
from trio.testing import MockClock

from tests.cluster.whole_cluster import WholeCluster, settled, whole_cluster
from tests.helpers import Client


async def seek(client: Client) -> None:
    reply = await client.ask("seek")
    assert (reply["error"], reply["game_id"]) == (None, None), reply


def seeks(cluster: WholeCluster, client: Client) -> bool:
    return cluster.lobby.lobby.seeking.seeks(client.player)  # type: ignore[attr-defined]


@pytest.mark.parametrize("at", [0, 1])
@pytest.mark.parametrize("to", [None, 2, 1])
async def test_seek_ends_with_its_session_although_the_player_has_another(
    autojump_clock: MockClock, at: int, to: int | None
) -> None:
    async with whole_cluster(3) as cluster:
        first, second = await cluster.enter(at, "alice"), await cluster.enter(2, "alice")
        await seek(first)
        if to is not None:
            await cluster.hand_lobby_over(cluster[to])
            await settled()
        assert seeks(cluster, second)
        await first.aclose()
        await settled()
        assert cluster.lobby.lobby.presence.is_here(second.player)  # type: ignore[attr-defined]
        assert not seeks(cluster, second)


async def test_later_seek_of_another_session_stays(autojump_clock: MockClock) -> None:
    async with whole_cluster(3) as cluster:
        first, second, third = [await cluster.enter(index, "alice") for index in (1, 2, 2)]
        for client in (first, second, third):
            await seek(client)
        for client in (first, second):
            await client.aclose()
            await settled()
            assert seeks(cluster, third)
        await cluster.kill_lobby(cluster[2])
        assert seeks(cluster, third)
        await third.aclose()
        await settled()
        assert not seeks(cluster, third)


async def test_seek_that_was_stopped_does_not_come_back(autojump_clock: MockClock) -> None:
    async with whole_cluster(3) as cluster:
        alice = await cluster.enter(1, "alice")
        await seek(alice)
        assert (await alice.ask("decline"))["error"] is None
        await cluster.kill_lobby(cluster[2])
        assert not seeks(cluster, alice)
