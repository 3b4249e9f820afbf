"""Nobody acts for a registered player without its key, at whatever daemon it is connected."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple

import pytest
import trio

from gmd.games.events import Sensed
from gmd.requests.session import Authority
from gmd.tcp.listener import SessionServer
from tests.cluster.memory_cluster import MemoryCluster, memory_cluster
from tests.helpers import Client, Json

#: Every request by which a player acts in a game, or sees what only it may see.
ACTIONS: tuple[Json, ...] = (
    {"kind": "sense", "square": "e4"},
    {"kind": "move", "move": "e2e4"},
    {"kind": "state"},
    {"kind": "actions"},
    {"kind": "belief"},
    {"kind": "wait", "timeout": 0},
    {"kind": "wait", "timeout": 0, "game_ids": True},
    {"kind": "end_game", "termination": "resignation_white"},
    {"kind": "join"},
    {"kind": "accept"},
    {"kind": "decline"},
)
#: Every request by which it acts besides.
OTHERS: tuple[Json, ...] = (
    {"kind": "wait", "any": True, "timeout": 0},
    {"kind": "settings", "max_games": 1},
    {"kind": "invitations"},
    {"kind": "seek"},
    {"kind": "decline"},
    {"kind": "rekey"},
    {"kind": "new_game", "player_white": None, "player_black": None},
)


class Account(NamedTuple):
    player: int
    key: str


@asynccontextmanager
async def rooms() -> AsyncIterator[tuple[MemoryCluster, Account, Account, int]]:
    """Run a cluster with two players and a game of theirs, owned by the first daemon."""
    async with memory_cluster(3, max_failures_per_minute=10**6) as cluster:
        client = await cluster[0].connect()
        accounts = []
        for name in ("ann", "bob"):
            reply = await client.ask("register", name=name)
            accounts.append(Account(reply["player"], reply["key"]))
        ann, bob = accounts
        made = await client.ask(
            "new_game", player=ann.player, key=ann.key, player_white=ann.player, player_black=None, variant="rbc"
        )
        joined = await client.ask("join", player=bob.player, key=bob.key, game_id=made["game_id"])
        assert joined["error"] is None
        yield cluster, ann, bob, made["game_id"]


def _request(action: Json, game_id: int) -> Json:
    if action.get("game_ids"):
        return {**action, "game_ids": [game_id]}
    return {**action, "game_id": game_id}


async def _is_refused(client: Client, request: Json, **proof: object) -> bool:
    await client.send({**request, **proof})
    reply = await client.receive()
    return reply.get("code") == "unauthorized" and not reply.get("state")


@pytest.mark.parametrize("index", [0, 1, 2])
async def test_no_request_acts_for_a_player_without_its_key(autojump_clock: trio.abc.Clock, index: int) -> None:
    async with rooms() as (cluster, ann, bob, game_id):
        before = await cluster.log.load(game_id)
        nobody = await cluster[index].connect()
        as_bob = await cluster[index].connect(hello=False)
        assert (await as_bob.ask("hello", player=bob.player, key=bob.key))["error"] is None
        for request in [*(_request(action, game_id) for action in ACTIONS), *OTHERS]:
            for client in (nobody, as_bob):
                assert await _is_refused(client, request, player=ann.player), request
                assert await _is_refused(client, request, player=ann.player, key="k" * 43), request
                assert await _is_refused(client, request, player=ann.player, key=bob.key), request
        assert (await nobody.ask("hello", player=ann.player))["code"] == "unauthorized"
        assert await cluster.log.load(game_id) == before
        good = await nobody.ask("sense", game_id=game_id, square="e4", player=ann.player, key=ann.key)
        assert good["error"] is None
        assert isinstance((await cluster.log.load(game_id))[-1], Sensed)


async def test_session_of_a_revoked_player_acts_at_no_daemon(autojump_clock: trio.abc.Clock) -> None:
    async with rooms() as (cluster, ann, _, game_id):
        sessions = []
        for member in cluster.members:
            session = await member.connect(hello=False)
            assert (await session.ask("hello", player=ann.player, key=ann.key))["error"] is None
            assert (await session.ask("state", game_id=game_id, brief=True))["error"] is None
            sessions.append(session)
        operators = SessionServer(cluster[2].services, authority=Authority.OPERATOR)
        ours, theirs = trio.testing.memory_stream_pair()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(operators.handle, theirs)
            operator = Client(ours)
            assert (await operator.ask("hello", protocol=2))["error"] is None
            assert (await operator.ask("revoke", name="ann"))["error"] is None
            seen = await operator.ask("state", game_id=game_id, player=None)
            assert seen["state"]["fen"].startswith("rnbqkbnr/")  # an operator sees everything, wherever the game is
            nursery.cancel_scope.cancel()
        for session in sessions:
            assert await session.closed()
        again = await cluster[1].connect()
        refused = await again.ask("move", game_id=game_id, move="e2e4", player=ann.player, key=ann.key)
        assert refused["code"] == "unauthorized"


async def test_key_that_was_replaced_through_another_daemon_proves_nothing(autojump_clock: trio.abc.Clock) -> None:
    async with rooms() as (cluster, ann, _, game_id):
        session = await cluster[1].connect(hello=False)
        other = await cluster[2].connect(hello=False)
        for client in (session, other):
            assert (await client.ask("hello", player=ann.player, key=ann.key))["error"] is None
        new = await session.ask("rekey")
        assert new["error"] is None
        assert (await session.ask("state", game_id=game_id))["error"] is None  # the session has the new key
        assert (await other.ask("state", game_id=game_id))["code"] == "unauthorized"
        third = await cluster[2].connect()
        assert (await third.ask("state", game_id=game_id, player=ann.player, key=ann.key))["code"] == "unauthorized"
        assert (await third.ask("state", game_id=game_id, player=ann.player, key=new["key"]))["error"] is None
