"""Games whose shards go to another daemon: no move is lost, no player is charged, and the former owner says nothing."""

from __future__ import annotations

from contextlib import AsyncExitStack

import psycopg
import pytest
import trio

from gm_protocol.errors import Moved
from gmd import loop_time
from gmd.cluster.tenure import NotMine
from tests.cluster.members import PATIENCE, lapsed, take_over
from tests.cluster.nodes import Node, Nodes
from tests.helpers import Client
from tests.postgres import own_postgres


@pytest.fixture
def nodes(database_url: str) -> Nodes:
    """Return a cluster without any daemon."""
    return Nodes(database_url)


async def test_daemon_alone_numbers_games_from_one(nodes: Nodes) -> None:
    async with nodes.node() as one:
        await one.until_shares(1)
        client = await one.daemon.connect()
        assert [(await client.new_game())["game_id"] for _ in range(5)] == [1, 2, 3, 4, 5]
        assert one.arbiter.live_games == 5
    async with nodes.node() as again:
        await again.until_shares(1)
        client = await again.daemon.connect()
        assert (await client.new_game())["game_id"] == 6
        assert again.arbiter.live_games == 6


async def test_game_goes_on_at_its_next_owner_and_the_former_one_answers_moved(nodes: Nodes) -> None:
    async with nodes.node() as one:
        await one.until_shares(1)
        client = await one.daemon.connect()
        games = await _new_games(client, 4)
        for game_id in games:
            await client.play(game_id, "e4")
        async with nodes.node() as two:
            await two.until_shares(2)
            other = await two.daemon.connect()
            moved = [game_id for game_id in games if two.owns(game_id)]
            assert moved
            for game_id in games:
                here, there = (client, other) if one.owns(game_id) else (other, client)
                assert (await there.ask("state", game_id=game_id))["code"] == "moved"
                assert (await there.ask("move", game_id=game_id, player=2, move="e5"))["code"] == "moved"
                reply = await here.ask("move", game_id=game_id, player=2, move="e5")
                assert reply["state"]["last_move"] == "e7e5"
            assert one.arbiter.live_games + two.arbiter.live_games == len(games)
            assert two.arbiter.live_games == len(moved)
            assert one.arbiter.games_in_memory == len(games) - len(moved)
            made = {(await each.new_game())["game_id"] for each in (client, other) for _ in range(20)}
            assert len(made) == 40
            assert not made & set(games)


async def test_wait_ends_with_moved_when_its_game_is_handed_over(nodes: Nodes) -> None:
    async with nodes.node() as one:
        await one.until_shares(1)
        client = await one.daemon.connect()
        games = await _new_games(client, 8)
        waiters = [await one.daemon.connect(player=2) for _ in games]
        for waiter, game_id in zip(waiters, games, strict=True):
            await waiter.send({"kind": "wait", "game_id": game_id, "timeout": 60})
        async with nodes.node() as two:
            await two.until_shares(2)
            for waiter, game_id in zip(waiters, games, strict=True):
                if two.owns(game_id):
                    with trio.fail_after(PATIENCE):
                        assert (await waiter.receive())["code"] == "moved"
                else:
                    await client.play(game_id, "e4")
                    assert (await waiter.receive())["state"]["turn"] == "black"


async def test_running_clocks_go_along_when_a_shard_is_handed_over(nodes: Nodes) -> None:
    async with nodes.node() as one:
        await one.until_shares(1)
        client = await one.daemon.connect()
        games = await _new_games(client, 8, clock={"initial": 600})
        for game_id in games:
            for player in (1, 2):
                await client.ask("state", game_id=game_id, player=player)
            one.arbiter.deadlines.set(game_id, loop_time.now() + 500)  # as if the player had thought for 100 seconds
            one.arbiter._cache.drop(game_id)
        async with nodes.node() as two:
            await two.until_shares(2)
            other = await two.daemon.connect()
            assert any(map(two.owns, games))
            for game_id in filter(two.owns, games):
                state = (await other.ask("state", game_id=game_id))["state"]
                assert 490 < state["clock"]["white"] <= 500


async def test_nobody_is_charged_for_the_time_without_an_owner(nodes: Nodes) -> None:
    async with AsyncExitStack() as stack:
        async with nodes.node(dies=True) as one:
            await one.until_shares(1)
            client = await one.daemon.connect()
            (game_id,) = await _new_games(client, 1, clock={"initial": 600})
            for player in (1, 2):
                await client.ask("state", game_id=game_id, player=player)
            one.arbiter.deadlines.set(game_id, loop_time.now() + 100)
        two = await stack.enter_async_context(nodes.node())
        await two.until_owns(game_id)
        state = (await (await two.daemon.connect()).ask("state", game_id=game_id))["state"]
        assert state["clock"]["white"] > 590


async def test_flag_falls_at_the_next_owner_without_any_request(nodes: Nodes) -> None:
    async with nodes.node() as one:
        await one.until_shares(1)
        client = await one.daemon.connect()
        games = await _new_games(client, 8, clock={"initial": 3})
        for game_id in games:
            for player in (1, 2):
                await client.ask("state", game_id=game_id, player=player)
        async with nodes.node() as two:
            await two.until_shares(2)
            other = await two.daemon.connect()
            assert any(map(two.owns, games))
            for game_id in filter(two.owns, games):
                with trio.fail_after(PATIENCE):
                    reply = await other.ask("wait", game_id=game_id, player=2, timeout=60)
                assert reply["state"]["termination"] == "timeout_white"


async def test_fenced_daemon_acknowledges_nothing_and_answers_nothing_from_memory(nodes: Nodes) -> None:
    async with nodes.node() as one:
        await one.until_shares(1)
        client = await one.daemon.connect()
        (game_id,) = await _new_games(client, 1)
        await client.play(game_id, "e4")
        live = await one.arbiter.live_game(game_id)
        async with nodes.node() as two:
            await two.until_shares(2)
            take_over(nodes.url, one.me)
            await two.until_shares(1)
            other = await two.daemon.connect()
            assert (await other.ask("move", game_id=game_id, player=2, move="e5"))["error"] is None
            with pytest.raises(Moved):
                await one.arbiter.live_game(game_id)
            assert one.arbiter.at_hand(game_id) is None
            with pytest.raises(NotMine):
                one.arbiter.look(live, loop_time.now()) or one.arbiter._cache.check_own(live)
            for request in ({"kind": "state"}, {"kind": "move", "player": 2, "move": "c5"}):
                await client.send({"game_id": game_id, **request})
                assert (await client.receive())["code"] == "moved"
            reply = await client.ask("new_game", player_white=1, player_black=2)
            assert reply["code"] == "moved"


async def test_write_that_the_database_refuses_fences_at_once(nodes: Nodes) -> None:
    async with nodes.node() as one:
        await one.until_shares(1)
        client = await one.daemon.connect()
        (game_id,) = await _new_games(client, 1)
        with psycopg.connect(nodes.url) as connection:  # without a notification: the next look comes later
            connection.execute("UPDATE shards SET epoch = epoch + 1 WHERE shard = %s", (game_id,))
        assert (await client.ask("move", game_id=game_id, player=1, move="e4"))["code"] == "moved"
        assert one.membership.fenced.is_set()


@pytest.mark.long
async def test_every_acknowledged_move_is_played_once_while_daemons_come_and_go(nodes: Nodes) -> None:
    moves = ["g1f3", "g8f6", "f3g1", "f6g8"] * 12
    async with nodes.node() as base:
        await base.until_shares(1)
        present = [base]
        games = await _new_games(await base.daemon.connect(), 6)
        with trio.fail_after(PATIENCE):
            async with trio.open_nursery() as nursery:
                for game_id in games:
                    nursery.start_soon(_play, present, game_id, moves)
                for _ in range(3):
                    async with nodes.node() as guest:
                        present.append(guest)
                        await guest.until_shares(2)
                        await guest.membership.drain()
                        present.remove(guest)
                    await base.until_shares(1)
        client = await base.daemon.connect()
        for game_id in games:
            history = await client.ask("history", game_id=game_id)
            assert history["moves"] == moves


async def _play(present: list[Node], game_id: int, moves: list[str]) -> None:
    """Play a game to and fro, each move at whichever daemon takes it."""
    for ply, move in enumerate(moves):
        while True:
            owner = next((node for node in present if node.owns(game_id)), None)
            if owner is None:
                await trio.sleep(0.001)  # any of them may become the owner, and no event says which
                continue
            client = await owner.daemon.connect()
            try:
                reply = await client.ask("move", game_id=game_id, player=1 + ply % 2, move=move, ply=ply)
            except (EOFError, trio.BrokenResourceError):
                continue  # the guest has left before it could answer
            finally:
                await client.aclose()
            if reply["error"] is None:
                break
            assert reply["code"] == "moved", reply


async def _new_games(client: Client, number: int, **options: object) -> list[int]:
    """Create games in different shards."""
    return [(await client.new_game(**options))["game_id"] for _ in range(number)]


@pytest.mark.long
async def test_nobody_is_charged_for_an_outage_of_the_database() -> None:
    with own_postgres() as server:
        nodes = Nodes(server.new_database())
        async with nodes.node() as one:
            await one.until_shares(1)
            client = await one.daemon.connect()
            (game_id,) = await _new_games(client, 1, clock={"initial": 600})
            for player in (1, 2):
                await client.ask("state", game_id=game_id, player=player)
            before = one.arbiter.deadlines.deadline(game_id)
            assert before is not None
            await trio.to_thread.run_sync(server.stop, "immediate")
            with trio.fail_after(PATIENCE):
                await lapsed(one)
            began = loop_time.now()
            assert (await client.ask("state", game_id=game_id))["code"] == "moved"
            await trio.to_thread.run_sync(server.start)
            with trio.fail_after(PATIENCE):
                await one.membership.lease_valid()
            outage = loop_time.now() - began
            after = one.arbiter.deadlines.deadline(game_id)
            assert after is not None
            assert after - before >= outage - 0.5
