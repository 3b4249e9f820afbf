"""Links are cut in the middle of everything: what is acknowledged is there once, and nothing is done twice."""

from __future__ import annotations

import random
from itertools import cycle

import pytest
import trio

from gmd.cluster.shards import SHARDS
from gmd.games.events import Moved as MovedPiece
from tests.cluster.memory_cluster import MemoryCluster, memory_cluster
from tests.helpers import Client, Json
from tests.helpers_proof import proof_size

#: Knights that move out and back.
SHUFFLE = ("g1f3", "g8f6", "f3g1", "f6g8")
PLIES = 24


class Players:
    """Both players of a game, at one daemon, who repeat what was not answered.

    :ivar acknowledged: the plies whose moves were acknowledged.
    """

    def __init__(self, cluster: MemoryCluster, rng: random.Random) -> None:
        self.cluster = cluster
        self.rng = rng
        self.acknowledged: list[int] = []
        self.unknown = 0
        self.game_id = 0

    async def play(self, entry: int, maker: int) -> None:
        """Make a game at one daemon, and play it at another."""
        made = await (await self.cluster[maker].connect(player=1)).new_game(token=str(self.rng.random()))
        self.game_id = made["game_id"]
        client = await self.cluster[entry].connect(player=1)
        ply = 0
        while ply < PLIES:
            ahead = self.rng.choice([1, 1, 2, 6])
            plies = range(ply, min(ply + ahead, PLIES))
            await client.send(*(self._move(each) for each in plies))
            for each in plies:
                self._take(each, await client.receive())
            ply = (await self._ask(client, "state"))["state"]["ply_index"]
            assert ply >= max(self.acknowledged, default=-1) + 1

    def _move(self, ply: int) -> Json:
        move: Json = {"kind": "move", "game_id": self.game_id, "player": 1 + ply % 2, "move": SHUFFLE[ply % 4]}
        return move | {"ply": ply, "brief": True} if self.rng.random() < 0.7 else move | {"brief": True}

    def _take(self, ply: int, reply: Json) -> None:
        if reply["error"] is None:
            assert reply["state"]["ply_index"] == ply + 1, (ply, reply)
            self.acknowledged.append(ply)
        else:
            assert reply["code"] in ("moved", "stale", "not_your_turn", "illegal_move"), reply
            self.unknown += 1

    async def _ask(self, client: Client, kind: str) -> Json:
        while True:
            reply = await client.ask(kind, game_id=self.game_id, brief=True)
            if reply["error"] is None:
                return reply
            assert reply["code"] == "moved", reply


async def _trouble(cluster: MemoryCluster, rng: random.Random) -> None:
    """Cut links and move games, without end."""
    while True:
        for _ in range(rng.randrange(60)):
            await trio.lowlevel.checkpoint()
        if rng.random() < 0.5:
            await cluster.cut(rng.choice(cluster.members))
        else:
            shards = rng.sample(range(SHARDS), 128)
            await cluster.hand_over(shards, rng.choice(cluster.members))
        if rng.random() < 0.3:
            await trio.sleep(0.2)  # links are connected again


@pytest.mark.proof
async def test_acknowledged_moves_are_there_once_and_none_is_made_twice(autojump_clock: trio.abc.Clock) -> None:
    for seed in range(proof_size(6, 200)):
        rng = random.Random(seed)
        async with memory_cluster(3) as cluster, trio.open_nursery() as nursery:
            players = [Players(cluster, rng) for _ in range(6)]
            nursery.start_soon(_trouble, cluster, rng)
            async with trio.open_nursery() as playing:
                for each, entry in zip(players, cycle(range(3)), strict=False):
                    playing.start_soon(each.play, entry, rng.randrange(3))
            nursery.cancel_scope.cancel()
            for each in players:
                events = await cluster.log.load(each.game_id)
                moves = [event for event in events if isinstance(event, MovedPiece)]
                assert len(moves) == PLIES
                assert sorted(set(each.acknowledged)) == sorted(each.acknowledged)
                assert len(each.acknowledged) + each.unknown >= PLIES


async def test_games_are_played_over_links_on_sockets() -> None:
    with trio.fail_after(60):
        async with memory_cluster(3, sockets=True) as cluster, trio.open_nursery() as playing:
            players = [Players(cluster, random.Random(seed)) for seed in range(6)]
            for each, entry in zip(players, cycle(range(3)), strict=False):
                playing.start_soon(each.play, entry, (entry + 1) % 3)
    assert all(each.acknowledged == list(range(PLIES)) and not each.unknown for each in players)
