"""The seats for which a player may act."""

from __future__ import annotations

from itertools import product

import pytest

from gm_protocol.messages import FIRST_REGISTERED, LAST_REGISTERED
from tests.helpers import Client, Json, memory_daemon

#: Open ids at every edge of their range.
OPEN = [0, -1, 2**63 - 1, -(2**63), FIRST_REGISTERED - 1, LAST_REGISTERED + 1]
REGISTERED = [FIRST_REGISTERED, FIRST_REGISTERED + 1, LAST_REGISTERED]


async def test_open_id_needs_no_key() -> None:
    async with memory_daemon() as daemon:
        for game_id, player in enumerate(OPEN, 1):
            client = await daemon.connect(player=player)
            reply = await client.new_game(player, 1)
            assert reply["state"]["player_white"] == player
            assert (await client.ask("move", game_id=game_id, move="e4"))["error"] is None


async def test_registered_player_cannot_act_without_its_key(client: Client) -> None:
    asked: list[tuple[str, Json]] = [
        ("hello", {}),
        ("new_game", {"player_white": 1, "player_black": 2}),
        ("game_from_pgn", {"player_white": 1, "player_black": 2, "pgn": ""}),
        ("move", {"game_id": 1, "move": "e4"}),
        ("end_game", {"game_id": 1, "termination": "resignation_white"}),
        ("state", {"game_id": 1}),
        ("wait", {"game_id": 1}),
        ("wait", {"game_ids": [1]}),
        ("wait", {"any": True}),
        ("actions", {"game_id": 1}),
        ("history", {"game_id": 1}),
    ]
    await client.new_game()
    for player, (kind, fields) in product(REGISTERED, asked):
        reply = await client.ask(kind, player=player, **fields)
        assert reply["code"] == "unauthorized"
        assert reply["error"] == f"player: {player} is a registered player's id; send the player's key with it"
    assert [row["game_id"] for row in (await client.ask("games"))["games"]] == [1]


@pytest.mark.parametrize("seat", ["player_white", "player_black"])
async def test_game_with_an_unregistered_id_of_the_registered_range_is_refused(client: Client, seat: str) -> None:
    for player in REGISTERED:
        reply = await client.ask("new_game", **{"player_white": 1, "player_black": 2, seat: player})
        assert (reply["game_id"], reply["state"], reply["code"]) == (None, None, "not_available")
        assert reply["error"].startswith(f"{seat}: {player} ")
    assert (await client.ask("games"))["games"] == []


async def test_player_with_both_seats_acts_for_the_side_to_move() -> None:
    async with memory_daemon() as daemon:
        client = await daemon.connect(player=1)
        await client.new_game(1, 1)
        for ply, move in enumerate(["e4", "e5", "Nf3"]):
            assert len((await client.ask("actions", game_id=1))["move_actions"]) >= 20
            reply = await client.ask("move", game_id=1, move=move)
            assert reply["state"]["ply_index"] == ply + 1


async def test_player_with_both_seats_may_name_one() -> None:
    async with memory_daemon() as daemon:
        client = await daemon.connect(player=1)
        await client.new_game(1, 1)
        assert (await client.ask("move", game_id=1, move="e4", seat="black"))["code"] == "not_your_turn"
        assert (await client.ask("actions", game_id=1, seat="black"))["move_actions"] is None
        assert (await client.ask("state", game_id=1, seat="black", actions=True))["move_actions"] is None
        assert len((await client.ask("state", game_id=1, seat="white", actions=True))["move_actions"]) == 20
        assert (await client.ask("move", game_id=1, move="e4", seat="white"))["error"] is None
        assert (await client.ask("move", game_id=1, move="e5", seat="black"))["error"] is None


@pytest.mark.parametrize("color", ["white", "black"])
@pytest.mark.parametrize("moves", [0, 1])
async def test_player_with_both_seats_ends_the_game_for_the_side_of_the_termination(color: str, moves: int) -> None:
    async with memory_daemon() as daemon:
        client = await daemon.connect(player=1)
        await client.new_game(1, 1)
        for _ in range(moves):
            await client.ask("move", game_id=1, move="e4")
        state = (await client.ask("end_game", game_id=1, termination=f"resignation_{color}"))["state"]
        assert state["termination"] == f"resignation_{color}"


async def test_player_cannot_name_the_seat_of_another() -> None:
    asked: dict[str, Json] = {
        "move": {"move": "e4"},
        "end_game": {"termination": "draw_agreed"},
        "actions": {},
        "belief": {},
        "state": {"actions": True},
        "wait": {},
    }
    async with memory_daemon() as daemon:
        client = await daemon.connect(player=1)
        await client.new_game(1, 2)
        for kind, fields in asked.items():
            reply = await client.ask(kind, game_id=1, seat="black", **fields)
            assert (reply["code"], reply["error"]) == (
                "not_a_player",
                "seat: player 1 does not hold black's seat in game 1",
            )


async def test_request_without_a_necessary_player_is_refused(client: Client) -> None:
    await client.new_game()
    for kind in ("move", "end_game", "actions"):
        reply = await client.ask(kind, game_id=1, move="e4", termination="draw_agreed")
        assert reply["code"] == "bad_request"
        assert reply["error"] == f"player: {kind} needs one, in the request or in the session's hello"


async def test_everyone_may_look_at_a_game(client: Client) -> None:
    await client.new_game()
    shown = await client.ask("state", game_id=1)
    assert shown["error"] is None
    for player in (None, 1, 2, 77):
        assert await client.ask("state", game_id=1, player=player) == shown
        assert (await client.ask("history", game_id=1, player=player))["error"] is None
