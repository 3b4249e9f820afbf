"""Requests for games of other daemons: waits, order, clocks, hand-overs, and what a session keeps."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from gmd.cluster.router import LONGEST_SECONDS
from gmd.cluster.shards import LOBBY, SHARDS, shard_of
from gmd.cluster.tenure import NotMine
from gmd.games.commands import Join
from tests.cluster.memory_cluster import Member, memory_cluster
from tests.helpers import Client, Json


class Later:
    """A reply that is to come."""

    def __init__(self) -> None:
        self.reply: Json | None = None
        self.came = trio.Event()


@asynccontextmanager
async def asked(client: Client, kind: str, **fields: Any) -> AsyncIterator[Later]:
    """Send a request; its reply must have come at the end."""
    later = Later()

    async def receive() -> None:
        later.reply = await client.receive()
        later.came.set()

    await client.send({"kind": kind, "brief": True, **fields})
    async with trio.open_nursery() as nursery:
        nursery.start_soon(receive)
        await wait_all_tasks_blocked()
        yield later
        with trio.fail_after(60):
            await later.came.wait()


async def at(member: Member, player: int) -> Client:
    return await member.connect(player=player)


async def test_wait_at_another_daemon_ends_at_the_turn(autojump_clock: trio.abc.Clock) -> None:
    async with memory_cluster() as cluster:
        white, black = await at(cluster[0], 1), await at(cluster[1], 2)
        game_id = (await white.new_game())["game_id"]
        async with asked(black, "wait", game_id=game_id) as waiting:
            assert waiting.reply is None
            await white.play(game_id, "e4")
        assert waiting.reply is not None
        assert waiting.reply["state"]["last_move"] == "e2e4"
        assert waiting.reply["home"] == cluster.map.peers[cluster[0].id].game
        assert (await white.ask("state", game_id=game_id)).get("home") is None


@pytest.mark.parametrize("game_ids", [False, True])
async def test_wait_at_another_daemon_ends_at_its_timeout(autojump_clock: trio.abc.Clock, game_ids: bool) -> None:
    async with memory_cluster() as cluster:
        white, black = await at(cluster[0], 1), await at(cluster[1], 2)
        game_id = (await white.new_game())["game_id"]
        begun = trio.current_time()
        which: Json = {"game_ids": [game_id]} if game_ids else {"game_id": game_id}
        reply = await black.ask("wait", timeout=7, **which)
        assert reply["error"] is None
        assert (reply["state"] is None) is game_ids
        assert 7 <= trio.current_time() - begun < 7.1


async def test_request_behind_a_wait_at_another_daemon_ends_it(autojump_clock: trio.abc.Clock) -> None:
    async with memory_cluster() as cluster:
        white, black = await at(cluster[0], 1), await at(cluster[1], 2)
        game_id = (await white.new_game())["game_id"]
        begun = trio.current_time()
        await black.send({"kind": "wait", "game_id": game_id}, {"kind": "ping", "id": 7})
        assert (await black.receive())["state"]["ply_index"] == 0
        assert await black.receive() == {"id": 7, "error": None}
        async with asked(black, "wait", any=True) as waiting:
            assert waiting.reply is None
            await black.send({"kind": "ping"})
        assert waiting.reply == {"state": None, "error": None}
        assert trio.current_time() - begun < 1


async def test_belief_is_the_owners_at_any_daemon() -> None:
    async with memory_cluster() as cluster:
        white, black = await at(cluster[0], 1), await at(cluster[1], 2)
        game_id = (await white.new_game(variant="rbc", clock=None))["game_id"]
        for kind, fields in (("sense", {"square": "e7"}), ("move", {"move": "e2e4"})):
            assert (await white.ask(kind, game_id=game_id, **fields))["error"] is None
        belief = await black.ask("belief", game_id=game_id, samples=3)
        assert (belief["ply"], belief["count"], belief["exact"], len(belief["samples"])) == (1, 21, True, 3)
        nearby = await at(cluster[0], 2)
        assert await nearby.ask("belief", game_id=game_id, samples=3) == {
            field: value for field, value in belief.items() if field != "home"
        }
        kept = [len(member.services.beliefs.kept) for member in cluster[:2]]
        assert sorted(kept) == [0, 1], "the owner alone follows the game"


async def test_stopping_daemon_answers_waits_at_others_as_at_their_timeout(autojump_clock: trio.abc.Clock) -> None:
    async with memory_cluster() as cluster:
        white, black = await at(cluster[0], 1), await at(cluster[1], 2)
        game_id = (await white.new_game())["game_id"]
        async with asked(black, "wait", game_id=game_id) as waiting:
            assert waiting.reply is None
            await cluster[1].session_server.stop(5)
        assert waiting.reply is not None
        assert waiting.reply["state"]["ply_index"] == 0
        assert await black.closed()


async def test_wait_for_games_of_several_owners(autojump_clock: trio.abc.Clock) -> None:
    async with memory_cluster(3) as cluster:
        clients = [await at(member, 1) for member in cluster.members]
        other = await at(cluster[2], 2)
        games = [(await client.new_game(2, 1))["game_id"] for client in clients]
        assert len({cluster.owner_of(game_id).id for game_id in games}) == 3
        for mover, client in zip((1, 0, 2), clients, strict=True):
            async with asked(client, "wait", game_ids=games) as waiting:
                assert waiting.reply is None
                await other.play(games[mover], "e4", white=2)
            assert waiting.reply is not None
            assert (waiting.reply["game_id"], waiting.reply["state"]["ply_index"]) == (games[mover], 1)
            if mover != 2:
                await client.play(games[mover], "e5", "d4", white=1, black=2)
                await client.play(games[mover], "d5", white=1)
                await other.play(games[mover], "a3", white=2)
                await client.play(games[mover], "a6", white=1)
        assert (await clients[0].ask("wait", game_ids=games, timeout=0))["game_id"] == games[2]
        refused = await clients[1].ask("wait", game_ids=[games[0], 9_998, games[1], 9_999])
        assert refused["error"] == "game_id: there is no game 9998"
        missing = await other.ask("wait", game_ids=[*games, 9_999], player=5)
        assert missing["code"] == "not_a_player"
        assert str(games[0]) in missing["error"]


async def test_of_games_due_at_several_owners_the_first_named_is_shown(autojump_clock: trio.abc.Clock) -> None:
    async with memory_cluster(3) as cluster:
        clients = [await at(member, 1) for member in cluster.members]
        games = [(await client.new_game(1, 2))["game_id"] for client in clients]
        for order in (games, games[::-1], [games[1], games[2], games[0]]):
            for client in clients:
                assert (await client.ask("wait", game_ids=order))["game_id"] == order[0]


async def test_refused_wait_for_several_games_starts_no_clock(autojump_clock: trio.abc.Clock) -> None:
    async with memory_cluster(2, start_timeout=50.0) as cluster:
        client, other = await at(cluster[0], 1), await at(cluster[1], 3)
        clock: Json = {"initial": 100, "increment": 0}
        game_id = (await client.new_game(1, 2, clock=clock))["game_id"]
        theirs = (await other.new_game(3, 4))["game_id"]
        for member in cluster.members:
            asking = await at(member, 2)
            assert (await asking.ask("wait", game_ids=[game_id, theirs]))["code"] == "not_a_player"
        live = await cluster[0].arbiter.live_game(game_id)
        assert live.game.awaits_contact
        assert (await asking.ask("wait", game_ids=[game_id], timeout=0))["error"] is None
        await client.ask("state", game_id=game_id)
        assert not live.game.awaits_contact


async def test_wait_goes_on_at_the_new_owner(autojump_clock: trio.abc.Clock) -> None:
    async with memory_cluster(3) as cluster:
        white, black, watcher = await at(cluster[0], 1), await at(cluster[1], 2), await at(cluster[0], 2)
        game_id = (await white.new_game())["game_id"]
        begun = trio.current_time()
        async with (
            asked(black, "wait", game_id=game_id, timeout=20) as waiting,
            asked(watcher, "wait", game_id=game_id, timeout=20) as watching,
        ):
            for owner in (cluster[1], cluster[2], cluster[0], cluster[2]):
                await cluster.hand_over([shard_of(game_id)], owner)
                await trio.sleep(1)
                assert waiting.reply is watching.reply is None
            await white.play(game_id, "e4")
        for later in (waiting, watching):
            assert later.reply is not None
            assert later.reply["state"]["last_move"] == "e2e4"
            assert later.reply["home"] == cluster.map.peers[cluster[2].id].game
        assert trio.current_time() - begun < 6
        begun = trio.current_time()
        async with asked(white, "wait", game_id=game_id, timeout=20):
            await trio.sleep(5)
            await cluster.hand_over([shard_of(game_id)], cluster[0])
        assert 19.9 < trio.current_time() - begun < 21


async def test_requests_wait_while_a_game_has_no_owner(autojump_clock: trio.abc.Clock) -> None:
    async with memory_cluster(3) as cluster:
        white, black = await at(cluster[0], 1), await at(cluster[1], 2)
        game_id = (await white.new_game())["game_id"]
        await cluster[0].arbiter.lose([shard_of(game_id)])
        cluster.map.give([shard_of(game_id)], None)
        async with (
            asked(white, "move", game_id=game_id, move="e4") as moving,
            asked(black, "state", game_id=game_id) as looking,
        ):
            await trio.sleep(5)
            assert moving.reply is looking.reply is None
            cluster.map.give([shard_of(game_id)], cluster[2].id)
        assert moving.reply is not None
        assert moving.reply["error"] is None
        cluster.map.give([shard_of(game_id)], None)
        for client, kind in ((white, "state"), (black, "state"), (white, "wait"), (black, "wait")):
            begun = trio.current_time()
            reply = await client.ask(kind, game_id=game_id)
            assert reply == {
                "retry_after": 0.0,
                "code": "moved",
                "error": f"game {game_id} has no owner among the servers now; nothing was done; send it again",
            }
            assert 10 <= trio.current_time() - begun < 11


async def test_join_of_a_game_that_has_another_owner_leaves_its_start_timeout_alone(
    autojump_clock: trio.abc.Clock,
) -> None:
    async with memory_cluster(2) as cluster:
        client = await at(cluster[0], 1)
        game_id = (await client.ask("new_game", player_white=1, player_black=None))["game_id"]
        arbiter = cluster[0].arbiter
        live = arbiter.at_hand(game_id)
        assert live is not None
        opened = live.opened
        cluster.map.give([shard_of(game_id)], cluster[1].id)
        with pytest.raises(NotMine):
            arbiter.join(live, Join(2), opened + 5.0)
        assert live.opened == opened


@pytest.mark.parametrize("kind", ["state", "wait"])
async def test_request_whose_attempts_all_fail_slowly_is_refused_in_the_end(
    autojump_clock: trio.abc.Clock, kind: str
) -> None:
    async with memory_cluster(2) as cluster, trio.open_nursery() as nursery:
        client = await at(cluster[1], 1)
        game_id = (await (await at(cluster[0], 1)).new_game())["game_id"]
        cluster[0].directory.suspend()

        async def cut() -> None:
            while True:
                await trio.sleep(0.7)
                await cluster.cut(cluster[0])

        nursery.start_soon(cut)
        begun = trio.current_time()
        timeout = {"timeout": 30} if kind == "wait" else {}
        reply = await client.ask(kind, game_id=game_id, **timeout)
        assert (reply["code"], reply["error"]) == (
            "moved",
            f"game {game_id} moved, or its server was lost, at every attempt; send it again",
        )
        assert 0 <= trio.current_time() - begun - LONGEST_SECONDS - sum(timeout.values()) < 2
        nursery.cancel_scope.cancel()


async def test_nothing_is_answered_from_memory_without_a_lease(autojump_clock: trio.abc.Clock) -> None:
    async with memory_cluster(2) as cluster:
        white, black = await at(cluster[0], 1), await at(cluster[1], 2)
        game_id = (await white.new_game())["game_id"]
        cluster[0].directory.suspend()
        async with asked(white, "state", game_id=game_id) as own, asked(black, "state", game_id=game_id) as theirs:
            await trio.sleep(1)
            assert own.reply is theirs.reply is None
            cluster[0].directory.renew()
        assert own.reply is not None
        assert theirs.reply is not None
        assert own.reply["state"] == theirs.reply["state"]


async def test_pipelined_requests_are_carried_out_and_answered_in_order(autojump_clock: trio.abc.Clock) -> None:
    async with memory_cluster(3) as cluster:
        players = await at(cluster[1], 1)
        games = [(await (await at(member, 1)).new_game())["game_id"] for member in cluster.members]
        moves = ["e4", "e5", "Nf3", "Nc6", "Bb5", "a6"]
        requests: list[Json] = []
        for game_id in games:
            for ply, move in enumerate(moves):
                which = {"game_id": game_id, "player": 1 + ply % 2}
                requests.append({"kind": "move", "move": move, "ply": ply, "id": len(requests), **which})
                requests.append({"kind": "state", "id": len(requests), **which})
            requests.append({"kind": "ping", "id": len(requests)})
        await players.send(*requests)
        for number, request in enumerate(requests):
            reply = await players.receive()
            assert (reply["id"], reply["error"]) == (number, None)
            if request["kind"] == "state":
                assert reply["state"]["ply_index"] == (number % 13 + 1) // 2


async def test_pipelined_requests_keep_their_order_while_games_move(autojump_clock: trio.abc.Clock) -> None:
    async with memory_cluster(3) as cluster:
        game_id = (await (await at(cluster[0], 1)).new_game())["game_id"]
        players = await at(cluster[1], 1)
        shuffle = ["Nf3", "Nf6", "Ng1", "Ng8"] * 30

        async def wander() -> None:
            for turn in range(1_000):
                await cluster.hand_over([shard_of(game_id)], cluster[(0, 2, 1)[turn % 3]])
                for _ in range(turn % 7):
                    await trio.lowlevel.checkpoint()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(wander)
            for start in range(0, len(shuffle), 20):
                moves = shuffle[start : start + 20]
                await players.send(
                    *(
                        {"kind": "move", "game_id": game_id, "player": 1 + ply % 2, "move": move}
                        for ply, move in enumerate(moves)
                    )
                )
                for ply, _ in enumerate(moves, start + 1):
                    reply = await players.receive()
                    assert reply["error"] is None, reply
                    assert reply["state"]["ply_index"] == ply
            nursery.cancel_scope.cancel()
        assert cluster[1].router.retried > 0


async def test_clock_is_charged_up_to_the_arrival_at_the_entry(autojump_clock: trio.abc.Clock) -> None:
    async with memory_cluster(2) as cluster:
        white, black = await at(cluster[0], 1), await at(cluster[1], 2)
        game_id = (await white.new_game(clock={"initial": 100, "increment": 0}))["game_id"]
        await white.ask("state", game_id=game_id)
        await black.ask("state", game_id=game_id)
        await white.play(game_id, "e4")
        await trio.sleep(10)
        cluster[0].directory.suspend()  # the request arrives, and cannot be answered for three seconds
        async with asked(black, "move", game_id=game_id, move="e5") as moving:
            await trio.sleep(3)
            cluster[0].directory.renew()
        assert moving.reply is not None
        left = moving.reply["state"]["clock"]
        assert left["black"] == pytest.approx(90, abs=0.2), left


async def test_result_is_shown_again_until_it_is_acknowledged(autojump_clock: trio.abc.Clock) -> None:
    async with memory_cluster(3) as cluster:
        white, black = await at(cluster[0], 1), await at(cluster[1], 2)
        game_id = (await (await at(cluster[2], 1)).new_game())["game_id"]
        await white.ask("end_game", game_id=game_id, termination="resignation_white", brief=True)
        first = await black.ask("wait", any=True, brief=True)
        assert (first["game_id"], first["state"]["termination"]) == (game_id, "resignation_white")
        black = await at(cluster[1], 2)  # the reply may have been lost
        assert (await black.ask("wait", any=True, brief=True))["game_id"] == game_id
        assert (await black.ask("wait", any=True, timeout=0))["state"] is None  # it has come: more was sent
        await wait_all_tasks_blocked()
        assert cluster.log._games[game_id].delivered >= {False}
        for member in cluster.members:
            assert (await (await at(member, 2)).ask("wait", any=True, timeout=0))["state"] is None


async def test_tokens_find_the_game_at_any_daemon(autojump_clock: trio.abc.Clock) -> None:
    async with memory_cluster(3) as cluster:
        clients = [await at(member, 1) for member in cluster.members]
        replies = [await client.new_game(token="once") for client in clients]
        assert len({reply["game_id"] for reply in replies}) == 1
        assert [reply.get("home") is None for reply in replies] == [True, False, False]
        refused = await clients[2].ask("new_game", player_white=1, player_black=3, token="once")
        assert refused["code"] == "bad_request"


async def test_client_of_version_1_gets_no_hint(autojump_clock: trio.abc.Clock) -> None:
    async with memory_cluster(2) as cluster:
        game_id = (await (await at(cluster[0], 1)).new_game())["game_id"]
        bodies = []
        for member in cluster.members:
            client = await member.connect(hello=False)
            await client.send({"kind": "state", "game_id": game_id})
            bodies.append(await client.receive_body())
            assert await client.closed()
        assert bodies[0] == bodies[1]


async def test_memory_of_forwarded_waits_is_counted_at_the_owner(autojump_clock: trio.abc.Clock) -> None:
    async with memory_cluster(2, max_memory=1 << 22, max_memory_per_address=1 << 17) as cluster:
        white = await at(cluster[0], 1)
        games = [(await white.new_game(2, 1))["game_id"] for _ in range(90)]
        owner = cluster[0].services.memory
        async with asked(await at(cluster[1], 1), "wait", game_ids=games) as waiting:
            assert waiting.reply is None
            assert owner.held >= 90 * 300
            await white.play(games[0], "e4", white=2)
        await wait_all_tasks_blocked()
        assert owner.held < 90 * 300


async def test_lobby_can_be_handed_over(autojump_clock: trio.abc.Clock) -> None:
    async with memory_cluster(3) as cluster:
        clients = [await at(member, 1) for member in cluster.members]
        async with asked(clients[1], "wait", any=True) as waiting:
            await cluster.hand_over([LOBBY], cluster[2])
            await wait_all_tasks_blocked()
            assert waiting.reply is None
            game_id = (await clients[2].new_game())["game_id"]
        assert waiting.reply is not None
        assert waiting.reply["game_id"] == game_id


async def test_every_shard_can_be_handed_over_at_once(autojump_clock: trio.abc.Clock) -> None:
    async with memory_cluster(2) as cluster:
        client = await at(cluster[1], 1)
        games = [(await client.new_game())["game_id"] for _ in range(5)]
        await cluster.hand_over(range(SHARDS + 1), cluster[0])
        for game_id in games:
            await client.play(game_id, "e4")
        async with asked(client, "new_game", player_white=1, player_black=2) as making:
            await trio.sleep(1)
            assert making.reply is None  # it owns no shard to make the game in
            await cluster.hand_over(range(SHARDS), cluster[1])
        assert making.reply is not None
        assert making.reply["error"] is None


async def test_place_of_a_session_that_plays_at_another_daemon_is_that_of_a_player(
    autojump_clock: trio.abc.Clock,
) -> None:
    async with memory_cluster(2) as cluster:
        game_id = (await (await at(cluster[0], 1)).new_game())["game_id"]
        player = await at(cluster[1], 2)
        [session] = cluster[1].session_server._sessions
        for fields, plays in (
            ({"player": 3}, None),
            ({}, (game_id, 2)),
            ({"game_id": 9_999}, (game_id, 2)),
        ):
            await player.ask("state", **{"game_id": game_id, **fields})
            assert session.client.plays == plays
        await player.ask("end_game", game_id=game_id, termination="resignation_black")
        assert session.client.plays is None


async def test_requests_for_a_living_daemon_without_a_link_are_refused_after_a_while(
    autojump_clock: trio.abc.Clock,
) -> None:
    async with memory_cluster(2) as cluster:
        white, black = await at(cluster[0], 1), await at(cluster[1], 2)
        game_id = (await white.new_game())["game_id"]
        theirs = (await black.new_game())["game_id"]
        cluster._reachable.clear()
        for member in cluster.members:
            await cluster.cut(member)
        for kind, which in (
            ("state", {"game_id": game_id}),
            ("wait", {"game_id": game_id}),
            ("wait", {"game_ids": [theirs, game_id]}),
            ("history", {"game_id": game_id}),
        ):
            begun = trio.current_time()
            assert (await black.ask(kind, **which))["code"] == "moved"
            assert 10 <= trio.current_time() - begun < 11
        cluster._reachable.update(member.id for member in cluster.members)
        assert (await black.ask("state", game_id=game_id))["error"] is None
