"""A result that its player knows is not shown for ever, whenever the lobby's owner learnt it."""

from __future__ import annotations

import trio
import trio.testing
from trio.testing import MockClock

from tests.cluster.memory_cluster import held
from tests.cluster.whole_cluster import WholeCluster, settled, whole_cluster
from tests.helpers import Client


async def game_between(alice: Client, bob: Client) -> int:
    game_id: int = (await alice.ask("challenge", opponent="bob", color="white"))["game_id"]
    assert (await bob.ask("accept", game_id=game_id))["error"] is None
    return game_id


async def resign(client: Client, game_id: int) -> None:
    """End a game as Black, and acknowledge the reply by another request."""
    for _ in range(2):
        reply = await client.ask("end_game", game_id=game_id, termination="resignation_black", ply=0)
        assert reply["error"] is None, reply


async def test_acknowledgement_does_not_overtake_the_games_end(autojump_clock: MockClock) -> None:
    async with whole_cluster(2) as cluster:
        bob, alice = await cluster.enter(0, "bob"), await cluster.enter(1, "alice")
        game_id = await game_between(alice, bob)
        assert cluster.owner_of(game_id) is cluster[1]
        assert cluster.lobby is cluster[0]
        assert (await bob.ask("wait", any=True, timeout=0))["state"] is None  # so bob is watched
        with held(cluster[0]):
            await game_between(alice, bob)  # what waits in the links comes in with it
            await resign(bob, game_id)
            await trio.testing.wait_all_tasks_blocked()
        await settled()
        assert (await bob.ask("wait", any=True, timeout=1))["state"] is None


async def test_result_of_which_only_the_lobby_does_not_know_is_shown_once(autojump_clock: MockClock) -> None:
    async with whole_cluster(2) as cluster:
        bob, alice = await cluster.enter(0, "bob"), await cluster.enter(1, "alice")
        game_id = await game_between(alice, bob)
        await resign(bob, game_id)
        await settled()
        forget_that_it_is_delivered(cluster, game_id)
        assert (await bob.ask("wait", any=True, timeout=1))["game_id"] == game_id
        for _ in range(3):
            assert (await bob.ask("wait", any=True, timeout=1))["state"] is None
        bob = await cluster.enter(0, "bob")
        assert (await bob.ask("wait", any=True, timeout=1))["state"] is None


def forget_that_it_is_delivered(cluster: WholeCluster, game_id: int) -> None:
    """Have the lobby's owner read a log to which the game's owner has not written yet that the result is known."""
    cluster.log._games[game_id].delivered.clear()
    cluster.lobby.arbiter.turns.clear()
