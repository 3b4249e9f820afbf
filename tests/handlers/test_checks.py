"""The order of checks: an error never reveals what a later check would have found."""

from __future__ import annotations

from itertools import combinations

import pytest

from gm_protocol.messages import FIRST_REGISTERED
from tests.handlers.wrong_turns import NOBODY, WRONG_TURN
from tests.helpers import Client, Json, memory_daemon

#: Possible errors of a move, in the order in which they are checked.
WRONG = [*WRONG_TURN, ("illegal_move", {"move": "e5"})]


async def prepared(client: Client) -> None:
    """Make game 1, which is live, and game 2, which is over."""
    await client.new_game()
    await client.new_game()
    assert (await client.ask("end_game", player=1, game_id=2, termination="resignation_white"))["error"] is None


async def test_first_of_two_errors_is_reported(client: Client) -> None:
    await prepared(client)
    move: Json = {"player": 1, "game_id": 1, "move": "e4"}
    for (code, first), (_, second) in combinations(WRONG, 2):
        reply = await client.ask("move", **{**move, **second, **first})
        assert (reply["state"], reply["code"]) == (None, code), (first, second)
    assert (await client.ask("move", **move))["error"] is None  # the refused moves have changed nothing


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
async def test_move_refusal_names_the_field_and_the_reason(client: Client, code: str, fields: Json, error: str) -> None:
    await prepared(client)
    reply = await client.ask("move", **{"player": 1, "game_id": 1, "move": "e4", **fields})
    assert reply == {"state": None, "code": code, "error": error}


async def test_end_game_refusal_has_its_code_and_changes_nothing(client: Client) -> None:
    wrong: list[tuple[str, Json]] = [
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
    ]
    await prepared(client)
    before = await client.ask("state", game_id=1)
    asked: Json = {"player": 1, "game_id": 1, "termination": "resignation_white"}
    for code, fields in wrong:
        reply = await client.ask("end_game", **{**asked, **fields})
        assert (set(reply), reply["state"], reply["code"]) == ({"state", "code", "error"}, None, code)
        assert await client.ask("state", game_id=1) == before


async def test_missing_game_is_refused_for_every_kind() -> None:
    async with memory_daemon() as daemon:
        client = await daemon.connect(player=1)
        for kind in ("state", "actions", "history", "wait"):
            reply = await client.ask(kind, game_id=1)
            assert reply == {"code": "no_such_game", "error": "game_id: there is no game 1"}
