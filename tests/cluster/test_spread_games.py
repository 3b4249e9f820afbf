"""Games that the lobby makes live where their creators are connected."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from gmd.ranked.matchmaker import GATHER_SECONDS
from tests.cluster.agreement import check_agreement, games_of
from tests.cluster.whole_cluster import WholeCluster, WholeMember, settled, whole_cluster
from tests.helpers import Json
from tests.helpers_proof import proof_size
from tests.lobbying import HERE, From

TOKEN = "t" * 20
#: The requests that make games of two players, made by Alice or by the operator; Bob is present, and seeks if need be.
REQUESTS: dict[str, Json] = {
    "challenge": {"opponent": "bob", "color": "white"},
    "seek": {"color": "white"},
    "new_game": {"player_white": None, "player_black": None},
    "pair": {"white": "alice", "black": "bob"},
}


class Scene:
    """A cluster with Alice at its last daemon, and Bob at the one before."""

    def __init__(self, cluster: WholeCluster, alice: int, bob: int) -> None:
        self.cluster = cluster
        self.players = [alice, bob]
        self.maker = cluster[-1]

    def sender(self, kind: str, member: WholeMember) -> From:
        if kind == "pair":
            return From(member, "", operator=True)
        return From(member, HERE, self.players[0])

    def fields(self, kind: str) -> Json:
        fields = REQUESTS[kind]
        if kind == "new_game":
            return fields | {"player_white": self.players[0], "player_black": self.players[1]}
        return fields

    async def ask(self, kind: str, member: WholeMember, **more: Any) -> Json:
        return await self.sender(kind, member).ask(kind, **self.fields(kind), **more)


async def scene(cluster: WholeCluster, kind: str) -> Scene:
    alice, bob = await cluster.enter(-1, "alice"), await cluster.enter(-2, "bob")
    if kind == "seek":
        assert (await bob.ask("seek"))["game_id"] is None
    return Scene(cluster, alice.player, bob.player)  # type: ignore[attr-defined]


@pytest.mark.parametrize("kind", REQUESTS)
@pytest.mark.parametrize("token", [None, TOKEN])
async def test_game_lives_where_its_request_came_from(autojump_clock: MockClock, kind: str, token: str | None) -> None:
    async with whole_cluster(4) as cluster:
        there = await scene(cluster, kind)
        reply = await there.ask(kind, there.maker, token=token)
        assert reply["error"] is None, reply
        assert cluster.owner_of(reply["game_id"]) is there.maker
        await check_agreement(cluster, there.players, addresses=kind != "pair")
        if token is not None:
            for member in cluster.members:
                assert (await there.ask(kind, member, token=token))["game_id"] == reply["game_id"]


@pytest.mark.parametrize("kind", REQUESTS)
async def test_reply_is_the_same_wherever_the_game_is_made(autojump_clock: MockClock, kind: str) -> None:
    replies = []
    for at in (0, -1):
        async with whole_cluster(3) as cluster:
            there = await scene(cluster, kind)
            reply = await there.ask(kind, cluster[at])
            assert reply.pop("game_id") % 3 == cluster.members.index(cluster[at])
            reply["state"].pop("game_id", None)
            reply.pop("home", None)
            replies.append(reply)
    assert replies[0] == replies[1]


@pytest.mark.parametrize("why", ["it owns nothing", "it is dead", "it follows another owner of the lobby"])
async def test_game_is_made_at_the_lobby_s_owner_if_the_wanted_daemon_cannot(
    autojump_clock: MockClock, why: str
) -> None:
    async with whole_cluster(3) as cluster:
        there = await scene(cluster, "challenge")
        match why:
            case "it owns nothing":
                owned = [shard for shard in range(256) if cluster.map.owners[shard] == there.maker.id]
                await cluster.hand_over(owned, cluster[1])
            case "it is dead":
                cluster.map.peers.pop(there.maker.id)
            case _:
                there.maker.service._reporter.lobby = cluster[1].id
        live = await cluster.lobby.lobby.invite(*there.players, peer=HERE, at=there.maker.id)
        assert cluster.owner_of(live.game.id) is cluster.lobby
        await settled()
        await check_agreement(cluster, there.players)


async def test_ids_that_were_given_before_shards_moved_are_not_used(autojump_clock: MockClock) -> None:
    async with whole_cluster(3) as cluster:
        there = await scene(cluster, "challenge")
        assert (await there.ask("challenge", there.maker))["error"] is None
        owned = [shard for shard in range(256) if cluster.map.owners[shard] == there.maker.id]
        await cluster.hand_over(owned, cluster[1])
        await cluster.hand_over(owned, there.maker)
        reply = await there.ask("challenge", there.maker)
        assert reply["error"] is None
        assert cluster.owner_of(reply["game_id"]) is cluster.lobby
        assert cluster.owner_of((await there.ask("challenge", there.maker))["game_id"]) is cluster.lobby
        await settled()
        await check_agreement(cluster, there.players)


async def test_limit_of_invitations_is_exact_while_games_are_being_made(autojump_clock: MockClock) -> None:
    async with whole_cluster(4, max_invitations=5) as cluster:
        there = await scene(cluster, "challenge")
        replies: list[Json] = []

        async def invite(member: WholeMember) -> None:
            replies.append(await there.ask("challenge", member))

        async with trio.open_nursery() as nursery:
            for index in range(12):
                nursery.start_soon(invite, cluster[index % 4])
        assert Counter(reply.get("code") for reply in replies) == {None: 5, "too_many": 7}
        assert len(await check_agreement(cluster, there.players)) == 5


async def test_matchmaker_spreads_games_over_daemons(autojump_clock: MockClock) -> None:
    async with whole_cluster(4) as cluster:
        for index in range(16):
            client = await cluster.enter(index % 4, f"bot-{index}")
            assert (await client.ask("settings", ranked=True, max_games=1))["error"] is None
        await trio.sleep(60 + 3 * GATHER_SECONDS)
        made = Counter(cluster.owner_of(game.id).id for game in await games_of(cluster))
        assert made.total() >= 8
        assert len(made) == 4
        assert max(made.values()) - min(made.values()) <= 2


# --- Failures in between ----------------------------------------------------------------------------------------------

FAILURES = (
    "cut the maker's links",
    "cut the lobby's links",
    "the maker dies",
    "the lobby's owner dies",
    "the maker's shards move",
    "the lobby moves",
)


async def fail(there: Scene, failure: str) -> None:
    cluster = there.cluster
    match failure:
        case "cut the maker's links":
            await cluster.cut(there.maker)
        case "cut the lobby's links":
            await cluster.cut(cluster.lobby)
        case "the maker dies":
            await cluster.die(there.maker, cluster[1])
        case "the lobby's owner dies":
            await cluster.kill_lobby(cluster[1])
        case "the maker's shards move":
            owned = [shard for shard in range(256) if cluster.map.owners[shard] == there.maker.id]
            await cluster.hand_over(owned, cluster[1])
        case _:
            await cluster.hand_lobby_over(cluster[1])


async def check_failure(kind: str, failure: str, step: int, token: str | None) -> bool:
    """Have something fail some steps after a request has begun; return whether the request was answered before."""
    async with whole_cluster(4) as cluster:
        there = await scene(cluster, kind)
        owner, replies = cluster.lobby, list[Json]()

        async def ask() -> None:
            with trio.move_on_after(60):
                replies.append(await there.ask(kind, there.maker, token=token))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(ask)
            for _ in range(step):
                await trio.lowlevel.checkpoint()
            was_answered = bool(replies)
            await fail(there, failure)
        await trio.sleep(proof_size(10, 20, share=20))  # several timeouts in the cluster are of ten seconds
        # A reply of a daemon that is dead reaches nobody.
        addresses = cluster.lobby is owner and kind != "pair"
        games = await check_agreement(cluster, there.players, addresses=addresses)
        assert len(games) <= 1
        [reply] = replies or [None]
        if reply is not None and reply["error"] is None and reply["game_id"] is not None:
            assert [game.id for game in games] == [reply["game_id"]]
        elif failure != "the maker dies" and reply is not None and "nothing was done" in str(reply["error"]):
            assert not games
        if token is not None:
            again = await there.ask(kind, cluster[1], token=token)
            if games:
                assert again["game_id"] == games[0].id
            await settled()
            assert len(await check_agreement(cluster, there.players, addresses=addresses)) <= 1
        return was_answered


@pytest.mark.long
@pytest.mark.proof
@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("kind", REQUESTS)
async def test_counts_and_log_agree_whatever_fails_while_a_game_is_made(
    autojump_clock: MockClock, kind: str, failure: str
) -> None:
    random, step = Random(f"{kind} {failure}"), 0
    while not await check_failure(kind, failure, step, random.choice((None, TOKEN))):
        step += 1 + random.randrange(proof_size(24, 1, share=8))
        assert step < 1_000
