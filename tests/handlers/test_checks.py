"""The order of checks: an error never reveals what a later check would have found."""

from __future__ import annotations

from typing import Any

import pytest

from gm_protocol.messages import FIRST_REGISTERED
from tests.handlers.wrong_turns import NOBODY, WRONG_TURN
from tests.helpers import Client, Json, memory_daemon

#: Possible errors of a move, in the order in which they are checked.
WRONG = [*WRONG_TURN, ("illegal_move", {"move": "e5"})]

PAIRS = [(first, second) for number, first in enumerate(WRONG) for second in WRONG[number + 1 :]]


async def prepared(client: Client) -> None:
    """Make game 1, which is live, and game 2, which is over."""
    await client.new_game()
    await client.new_game()
    assert (await client.ask("end_game", player=1, game_id=2, termination="resignation_white"))["error"] is None


@pytest.mark.parametrize(("first", "second"), PAIRS, ids=lambda wrong: f"{wrong[0]} {wrong[1]}")
async def test_first_of_two_errors_is_reported(first: tuple[str, Json], second: tuple[str, Json]) -> None:
    async with memory_daemon() as daemon:
        client = await daemon.connect()
        await prepared(client)
        move: Json = {"player": 1, "game_id": 1, "move": "e4"}
        reply = await client.ask("move", **{**move, **second[1], **first[1]})
        assert (reply["state"], reply["code"]) == (None, first[0])
        assert (await client.ask("move", **move))["error"] is None  # the refused move has changed nothing


@pytest.mark.parametrize(
    ("code", "fields", "error"),
    [
        ("no_such_game", {"game_id": 9}, "game_id: there is no game 9"),
        ("no_such_game", {"game_id": 2**53 - 1}, "game_id: there is no game 9007199254740991"),
        ("not_a_player", {"player": NOBODY}, "player: 77 has no seat in game 1"),
        ("not_a_player", {"seat": "black"}, "seat: player 1 does not hold black's seat in game 1"),
        ("game_over", {"game_id": 2}, "game 2 is over: resignation_white"),
        ("stale", {"ply": 5}, "ply: 5 does not match game 1, whose ply_index is 0"),
        ("not_your_turn", {"player": 2}, "player: you hold black's seat, and it is white's turn"),
        ("illegal_move", {"move": "e2-e4?"}, "move: 'e2-e4?' is neither SAN (Nf3) nor UCI (g1f3)"),
        (
            "illegal_move",
            {"move": "e5"},
            "move: 'e5' is not legal for white in rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -",
        ),
    ],
)
async def test_move_refusal_names_the_field_and_the_reason(code: str, fields: Json, error: str) -> None:
    async with memory_daemon() as daemon:
        client = await daemon.connect()
        await prepared(client)
        reply = await client.ask("move", **{"player": 1, "game_id": 1, "move": "e4", **fields})
        assert reply == {"state": None, "code": code, "error": error}


@pytest.mark.parametrize(
    ("code", "fields"),
    [
        ("bad_request", {"termination": "checkmate"}),
        ("bad_request", {"player": None}),
        ("no_such_game", {"game_id": 9}),
        ("unauthorized", {"player": FIRST_REGISTERED}),
        ("not_a_player", {"player": NOBODY}),
        ("not_a_player", {"termination": "resignation_black"}),
        ("game_over", {"game_id": 2}),
        ("stale", {"ply": 5}),
        ("not_your_turn", {"player": 2, "termination": "taken_draw_black"}),
        ("not_available", {"termination": "taken_draw_white"}),
        ("not_available", {"termination": "draw_agreed"}),
    ],
)
async def test_end_game_refusal_has_its_code_and_changes_nothing(code: str, fields: Json) -> None:
    async with memory_daemon() as daemon:
        client = await daemon.connect()
        await prepared(client)
        before = await client.ask("state", game_id=1)
        asked: Json = {"player": 1, "game_id": 1, "termination": "resignation_white"}
        reply = await client.ask("end_game", **{**asked, **fields})
        assert (set(reply), reply["state"], reply["code"]) == ({"state", "code", "error"}, None, code)
        assert await client.ask("state", game_id=1) == before


async def test_draw_offer_stands_until_the_next_move_and_only_the_opponent_can_accept() -> None:
    async with memory_daemon() as daemon:
        client = await daemon.connect()
        await client.new_game()
        agree: Json = {"game_id": 1, "termination": "draw_agreed"}
        offered = await client.ask("move", game_id=1, player=1, move="e4", offer_draw=True)
        assert offered["state"]["draw_offered"] is True
        assert (await client.ask("end_game", player=1, **agree))["code"] == "not_available"
        declined = await client.ask("move", game_id=1, player=2, move="e5")
        assert declined["state"]["draw_offered"] is False
        assert (await client.ask("end_game", player=2, **agree))["code"] == "not_available"
        assert (await client.ask("end_game", player=1, **agree))["code"] == "not_available"
        await client.ask("move", game_id=1, player=1, move="Nf3", offer_draw=True)
        state = (await client.ask("end_game", player=2, **agree))["state"]
        assert (state["termination"], state["result"], state["draw_offered"]) == ("draw_agreed", "1/2-1/2", False)


@pytest.mark.parametrize("color", ["white", "black"])
async def test_player_can_resign_at_any_time_but_only_for_its_own_seat(color: str) -> None:
    async with memory_daemon() as daemon:
        client = await daemon.connect()
        await client.new_game()
        player = 1 if color == "white" else 2
        asked: Json = {"game_id": 1, "termination": f"resignation_{color}"}
        for other in ({1, 2} - {player}) | {NOBODY}:
            assert (await client.ask("end_game", player=other, **asked))["code"] == "not_a_player"
        state = (await client.ask("end_game", player=player, **asked))["state"]
        assert state["result"] == ("0-1" if color == "white" else "1-0")


SHUFFLE = "1.Nf3 Nf6 2.Ng1 Ng8 3.Nf3 Nf6 4.Ng1 Ng8"


async def test_draw_can_be_taken_only_on_the_own_turn_with_the_own_termination() -> None:
    async with memory_daemon() as daemon:
        client = await daemon.connect()
        await client.new_game(pgn=SHUFFLE)
        refused: list[tuple[int, str, str]] = [
            (2, "taken_draw_black", "not_your_turn"),
            (1, "taken_draw_black", "not_a_player"),
            (2, "taken_draw_white", "not_a_player"),
        ]
        for player, termination, code in refused:
            reply = await client.ask("end_game", game_id=1, player=player, termination=termination)
            assert reply["code"] == code
        state = (await client.ask("end_game", game_id=1, player=1, termination="taken_draw_white"))["state"]
        assert (state["termination"], state["draws"], state["result"]) == ("taken_draw_white", 0, "1/2-1/2")


async def test_missing_game_is_refused_for_every_kind() -> None:
    async with memory_daemon() as daemon:
        client = await daemon.connect(player=1)
        asked: list[tuple[str, dict[str, Any]]] = [
            ("state", {}),
            ("actions", {}),
            ("history", {}),
            ("wait", {}),
        ]
        for kind, fields in asked:
            reply = await client.ask(kind, game_id=1, **fields)
            assert reply == {"code": "no_such_game", "error": "game_id: there is no game 1"}
