"""A ``wait`` for any game over several daemons loses no turn, whatever moves or dies meanwhile."""

from __future__ import annotations

from random import Random

import pytest
import trio
from trio.testing import MockClock

from tests.cluster.whole_cluster import WholeCluster, settled, whole_cluster
from tests.helpers import Client
from tests.helpers_proof import proof_size

GAMES, PLIES = 4, 24
SHUFFLE = ("g1f3", "g8f6", "f3g1", "f6g8")


async def play(client: Client, left: set[int], random: Random) -> None:
    """Play all games, each as it becomes due, and never time out."""
    for _ in range(GAMES * PLIES * 5):  # a game that is shown although it is not due would be shown for ever
        if not left:
            return
        reply = await client.ask("wait", any=True, timeout=40)
        if reply.get("code") == "moved":
            continue
        assert reply["error"] is None, reply
        state, game_id = reply["state"], reply["game_id"]
        assert state is not None, f"no turn was shown, and {left} are not over"
        if state["phase"] == "over":
            left.discard(game_id)
        elif state["ply_index"] >= PLIES:
            color = state["turn"]
            await client.ask("end_game", game_id=game_id, termination=f"resignation_{color}", ply=state["ply_index"])
            left.discard(game_id)
        else:
            await trio.sleep(random.choice((0, 0, random.uniform(0, 0.3))))
            move = SHUFFLE[state["ply_index"] % 4]
            await client.ask("move", game_id=game_id, move=move, ply=state["ply_index"])
    raise AssertionError(f"{left} are not over")


async def disturb(cluster: WholeCluster, random: Random, left: set[int]) -> None:
    """Move shards and the lobby between daemons, and kill those that have no clients; the first two have."""
    for _ in range(random.randrange(12)):
        await trio.sleep(random.uniform(0, 0.4))
        to = random.choice(cluster.members)
        match random.choice(("games", "games", "lobby", "kill", "cut")):
            case "games":
                await cluster.hand_over([game_id % 256 for game_id in list(left) if random.random() < 0.5], to)
            case "lobby":
                await cluster.hand_lobby_over(to)
            case "cut":
                await cluster.cut(to)
            case "kill" if len(cluster) > 2 and random.random() < 0.4:
                await cluster.die(cluster[2], cluster[random.randrange(2)])


@pytest.mark.proof
@pytest.mark.parametrize("seed", range(proof_size(6, 300)))
async def test_no_turn_is_lost(seed: int, autojump_clock: MockClock) -> None:
    random = Random(seed)
    async with whole_cluster(4) as cluster:
        alice, bob = await cluster.enter(0, "alice"), await cluster.enter(1, "bob")
        game_ids = set[int]()
        for _ in range(GAMES):
            game_id = (await alice.ask("challenge", opponent="bob", reversible_moves=None))["game_id"]
            assert (await bob.ask("accept", game_id=game_id))["error"] is None
            game_ids.add(game_id)
        await settled()
        left = [set(game_ids), set(game_ids)]
        async with trio.open_nursery() as nursery:
            nursery.start_soon(disturb, cluster, random, left[0])
            nursery.start_soon(play, alice, left[0], Random(seed + 1))
            nursery.start_soon(play, bob, left[1], Random(seed + 2))
        for game_id in game_ids:
            assert (await alice.ask("state", game_id=game_id))["state"]["phase"] == "over"
