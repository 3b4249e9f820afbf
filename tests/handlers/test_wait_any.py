"""``wait`` with ``any``: one session plays all games of a player, and learns of new games and of ends."""

from __future__ import annotations

from typing import Any

import trio
from trio.testing import MockClock

from tests.helpers import Client, Json, memory_daemon

NOTHING: Json = {"state": None, "error": None}


async def due(client: Client, **fields: Any) -> int | None:
    """Return the game in which the player of the session is to act, or None."""
    reply = await client.ask("wait", any=True, timeout=0, brief=True, **fields)
    if reply == NOTHING:
        return None
    assert reply["error"] is None
    assert reply["game_id"] == reply["state"]["game_id"]
    game_id: int = reply["game_id"]
    return game_id


async def test_game_that_has_waited_longest_comes_first(autojump_clock: MockClock) -> None:
    async with memory_daemon() as daemon:
        white, black = await daemon.connect(player=1), await daemon.connect(player=2)
        for _ in range(3):
            await white.new_game()
        assert await due(white) == 1
        assert await due(white) == 1  # looking does not change the order
        await white.play(2, "e4")
        await white.play(1, "e4")
        assert (await due(white), await due(black)) == (3, 2)
        await black.ask("move", game_id=2, move="e5")
        assert (await due(white), await due(black)) == (3, 1)
        await white.play(3, "e4")
        assert (await due(white), await due(black)) == (2, 1)
        await white.ask("move", game_id=2, move="d4")
        assert await due(white) is None


async def test_first_contact_does_not_change_the_order(autojump_clock: MockClock) -> None:
    clock = {"initial": 60}
    async with memory_daemon() as daemon:
        white, black, both = [await daemon.connect(player=player) for player in (1, 2, 3)]
        for _ in range(2):
            await black.new_game(1, 4, clock=clock)  # no player makes contact
        assert await due(white) == 1  # and White makes contact
        await white.ask("state", game_id=1, player=4)
        assert await due(white) == 1
        for _ in range(2):
            await black.new_game(3, 3, clock=clock)
        assert await due(both) == 3
        assert await due(both) == 3
        await both.ask("move", game_id=3, move="e4", seat="white")
        assert await due(both) == 4, "the other seat's turn is a new one"


async def test_some_games_can_be_excluded(autojump_clock: MockClock) -> None:
    async with memory_daemon() as daemon:
        white = await daemon.connect(player=1)
        for _ in range(3):
            await white.new_game()
        assert await due(white, **{"except": [1]}) == 2
        assert await due(white, **{"except": [2, 1]}) == 3
        assert await due(white, **{"except": [3, 1, 2, 77]}) is None
        assert await due(white, **{"except": []}) == 1


async def test_new_game_ends_the_wait(autojump_clock: MockClock) -> None:
    async with memory_daemon() as daemon:
        white, other = await daemon.connect(player=1), await daemon.connect()
        await white.send({"kind": "wait", "any": True, "brief": True})
        await trio.sleep(8)
        await other.new_game(2, 3)  # a game of other players
        await other.new_game(2, 1)  # a game in which the player is not to move
        await trio.sleep(8)
        await other.new_game(1, 2)
        reply = await white.receive()
        assert (reply["game_id"], reply["state"]["ply_index"], trio.current_time()) == (3, 0, 16)


async def test_move_ends_the_wait_except_in_an_excluded_game(autojump_clock: MockClock) -> None:
    async with memory_daemon() as daemon:
        white, black = await daemon.connect(player=1), await daemon.connect(player=2)
        for _ in range(2):
            await white.new_game()
        await black.send({"kind": "wait", "any": True, "except": [2]})
        await trio.sleep(5)
        await white.play(2, "e4")
        await trio.sleep(5)
        await white.play(1, "e4")
        assert ((await black.receive())["game_id"], trio.current_time()) == (1, 10)


async def test_result_is_delivered_once_to_each_player(autojump_clock: MockClock) -> None:
    async with memory_daemon() as daemon:
        white, black = await daemon.connect(player=1), await daemon.connect(player=2)
        await white.new_game()
        await white.new_game()
        await white.ask("end_game", game_id=1, termination="resignation_white")
        assert await due(white) == 2  # White has seen the end in the reply to its own request
        assert await due(black) == 1
        assert await due(black) is None


async def test_any_reply_that_shows_the_result_delivers_it(autojump_clock: MockClock) -> None:
    async with memory_daemon() as daemon:
        white, black = await daemon.connect(player=1), await daemon.connect(player=2)
        showing_requests: list[tuple[str, Json]] = [
            ("state", {}),
            ("state", {"brief": True}),
            ("wait", {}),
        ]
        for number, (kind, fields) in enumerate(showing_requests, 1):
            await white.new_game()
            await white.ask("end_game", game_id=number, termination="resignation_white")
            assert (await black.ask(kind, game_id=number, **fields))["state"]["phase"] == "over"
            assert await due(black) is None


async def test_replies_to_others_do_not_deliver_the_result(autojump_clock: MockClock) -> None:
    async with memory_daemon() as daemon:
        white, black, spectator = await daemon.connect(player=1), await daemon.connect(player=2), await daemon.connect()
        await white.new_game()
        await white.ask("end_game", game_id=1, termination="resignation_white")
        await spectator.ask("state", game_id=1)
        await white.ask("state", game_id=1)
        assert await due(black) == 1


async def test_end_of_a_game_ends_the_wait(autojump_clock: MockClock) -> None:
    async with memory_daemon() as daemon:
        white, black = await daemon.connect(player=1), await daemon.connect(player=2)
        await white.new_game()
        await black.send({"kind": "wait", "any": True, "brief": True})
        await trio.sleep(5)
        await white.ask("end_game", game_id=1, termination="resignation_white")
        reply = await black.receive()
        assert (reply["game_id"], reply["state"]["termination"]) == (1, "resignation_white")
        assert await due(black) is None


async def test_result_of_a_game_that_was_over_at_once_is_delivered(autojump_clock: MockClock) -> None:
    async with memory_daemon() as daemon:
        other, black = await daemon.connect(), await daemon.connect(player=2)
        await other.new_game(pgn="1.f3 e5 2.g4 Qh4#")
        assert await due(black) == 1
        assert await due(black) is None


async def test_result_of_a_game_with_oneself_is_delivered_once(autojump_clock: MockClock) -> None:
    async with memory_daemon() as daemon:
        client, other = await daemon.connect(player=1), await daemon.connect()
        await client.new_game(1, 1)
        await client.new_game(1, 1)
        assert await due(client) == 1
        await client.ask("move", game_id=1, move="e4")
        assert await due(client) == 2  # the turn of the other seat is a new one
        await other.ask("end_game", player=1, game_id=2, termination="resignation_black")
        assert await due(client) == 1
        await other.new_game(1, 1, pgn="1.f3 e5 2.g4 Qh4#")
        assert await due(client, **{"except": [1]}) == 3
        assert await due(client, **{"except": [1]}) is None


async def test_one_session_plays_many_games_to_their_end(autojump_clock: MockClock) -> None:
    async with memory_daemon() as daemon:
        mate = ["f3", "e5", "g4", "Qh4#"]
        setter = await daemon.connect()
        for number in range(20):
            await setter.new_game(1, 2) if number % 2 else await setter.new_game(2, 1)
        ends: dict[int, list[int]] = {1: [], 2: []}

        async def play(player: int) -> None:
            client = await daemon.connect(player=player)
            while len(ends[player]) < 20:
                reply = await client.ask("wait", any=True, brief=True)
                state = reply["state"]
                if state["phase"] != "over":
                    move = mate[state["ply_index"]]
                    state = (await client.ask("move", game_id=reply["game_id"], move=move, brief=True))["state"]
                if state["phase"] == "over":
                    ends[player].append(state["game_id"])

        async with trio.open_nursery() as nursery:
            nursery.start_soon(play, 1)
            nursery.start_soon(play, 2)
        assert sorted(ends[1]) == sorted(ends[2]) == list(range(1, 21))
        assert trio.current_time() == 0
