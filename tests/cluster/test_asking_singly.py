"""A client that sends one request at a time to a daemon that forwards them: it is read again when its reply leaves."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from trio.testing import wait_all_tasks_blocked

from gmd.tcp.singles import SINGLES
from tests.cluster.memory_cluster import MemoryCluster, held, memory_cluster
from tests.helpers import Client
from tests.tcp.test_asking_singly import break_off, socket_client

SHUFFLE = ("Nf3", "Nf6", "Ng1", "Ng8")


class Room:
    """A game, and a client at the other daemon that has long sent one move at a time."""

    def __init__(self, cluster: MemoryCluster, client: Client, game_id: int) -> None:
        self.owner = cluster.owner_of(game_id)
        [self.entry] = cluster.others(game_id)
        self.client = client
        self.game_id = game_id

    async def send(self, kind: str, **fields: object) -> None:
        """Send a request about the game, and let the daemons do what they can."""
        await self.client.send({"kind": kind, "game_id": self.game_id, "player": 1, **fields})
        await wait_all_tasks_blocked()


@asynccontextmanager
async def open_room(over: str = "a socket") -> AsyncIterator[Room]:
    async with memory_cluster(2) as cluster:
        maker = await cluster[0].connect()
        game_id = (await maker.new_game())["game_id"]
        entry = cluster[1]
        client = socket_client(entry) if over == "a socket" else await entry.connect(hello=False)
        assert (await client.ask("hello", protocol=2))["error"] is None
        for ply in range(SINGLES + 1):
            reply = await client.ask("move", game_id=game_id, player=1 + ply % 2, move=SHUFFLE[ply % 4])
            assert reply["error"] is None, reply
        yield Room(cluster, client, game_id)
        await client.aclose()


@pytest.mark.parametrize(("over", "is_read"), [("a socket", False), ("memory", True)])
async def test_client_on_a_socket_is_read_again_only_when_its_forwarded_reply_leaves(over: str, is_read: bool) -> None:
    async with open_room(over) as room:
        with held(room.owner):
            await room.send("state")
            await room.client.receive()
            await room.send("state")
            before = room.entry.services.metrics.bytes_in
            await room.send("state")
            assert (room.entry.services.metrics.bytes_in > before) is is_read
        for _ in range(2):
            assert (await room.client.receive())["state"]["ply_index"] == SINGLES + 1


async def test_request_sent_before_a_forwarded_reply_that_reports_a_game_end_does_not_acknowledge_it() -> None:
    async with open_room() as room:
        with held(room.owner):
            await room.send("state")
            await room.client.receive()
            await room.send("end_game", termination="resignation_white")
            await room.send("ping")
        await wait_all_tasks_blocked()
        break_off(room.client)
        await wait_all_tasks_blocked()
        other = await room.entry.connect()
        assert (await other.ask("wait", player=1, any=True, timeout=0))["game_id"] == room.game_id


async def test_request_sent_after_a_forwarded_reply_that_reports_a_game_end_acknowledges_it() -> None:
    async with open_room() as room:
        await room.client.ask("end_game", game_id=room.game_id, player=1, termination="resignation_white")
        assert (await room.client.ask("ping"))["error"] is None
        other = await room.entry.connect()
        assert (await other.ask("wait", player=1, any=True, timeout=0))["state"] is None
