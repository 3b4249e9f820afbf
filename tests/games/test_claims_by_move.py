"""A move that takes a draw which its position allows (FIDE 9.2.1 and 9.3.1), beside python-chess."""

from __future__ import annotations

import random

import chess
import pytest

from gm_protocol.endings import ON
from tests.games.talk import new_table
from tests.helpers import Client, Json
from tests.proofs import cases

OUT_AND_BACK = ("Nf3", "Nf6", "Ng1", "Ng8")
#: White can give mate, stalemate, capture and push a pawn; only a quiet move is the hundredth half-move.
NEARLY_FIFTY = "7k/8/5K2/6Q1/8/p7/1P6/8 w - - 99 80"


def ending(state: Json) -> tuple[str, str]:
    return state["termination"], state["result"]


async def test_claim_with_a_move_is_right_where_python_chess_finds_a_draw(client: Client) -> None:
    """Kings and rooks walk at random, so that positions recur and moves are counted."""
    found = set()
    for seed in range(cases(8)):
        rng, board = random.Random(seed), chess.Board(f"8/8/8/8/8/8/8/k1K4R w - - {92 + seed % 8} 80")
        table = await new_table(client, fen=board.fen())
        while not board.is_game_over():
            claims = board.can_claim_draw()
            player, move = 1 if board.turn else 2, rng.choice(list(board.legal_moves))
            reply = await client.ask("move", game_id=table.id, player=player, move=move.uci(), claim_draw=True)
            board.push(move)
            right = board.is_repetition(3) or board.halfmove_clock >= 100
            assert not right or claims
            found.add(right)
            if right and not board.is_game_over():
                color = chess.COLOR_NAMES[not board.turn]
                assert ending(reply["state"]) == (f"taken_draw_{color}", "1/2-1/2")
                assert reply["state"]["fen"] == board.fen()
                break
            assert reply["error"] is None
            assert ("claim_refused" in reply) == (reply["state"]["termination"] == ON)
    assert found == {True, False}


async def test_wrong_claim_plays_the_move_and_the_reply_says_why(client: Client) -> None:
    table = await new_table(client)
    await table.play(*OUT_AND_BACK, *OUT_AND_BACK[:3])
    reply = await client.ask("move", game_id=table.id, player=2, move="Ng4", claim_draw=True)
    assert ending(reply["state"]) == (ON, "*")
    assert (reply["state"]["ply_index"], reply["state"]["turn"], reply["state"]["draw_offered"]) == (8, "white", False)
    assert reply["claim_refused"] == (
        "claim_draw: no draw can be taken after this move: the position has occurred 1 times, "
        "8 half-moves without capture or pawn move"
    )
    other = await new_table(client)
    await other.play(*OUT_AND_BACK, *OUT_AND_BACK[:3])
    reply = await client.ask("move", game_id=other.id, player=2, move="Ng8", claim_draw=True)
    assert ending(reply["state"]) == ("taken_draw_black", "1/2-1/2")
    assert (reply["state"]["ply_index"], reply["state"]["phase"], "claim_refused" in reply) == (8, "over", False)


@pytest.mark.parametrize(
    ("move", "termination"),
    [
        ("Qg4", "taken_draw_white"),
        ("Qh5+", "taken_draw_white"),
        ("Qg7#", "victory_white"),
        ("Kf7", "taken_draw_white"),
        ("b4", ON),
        ("bxa3", ON),
        ("nonsense", None),
    ],
)
async def test_claim_of_fifty_moves_needs_a_move_that_is_no_capture_or_pawn_move(
    client: Client, move: str, termination: str | None
) -> None:
    table = await new_table(client, fen=NEARLY_FIFTY)
    reply = await client.ask("move", game_id=table.id, player=1, move=move, claim_draw=True)
    assert (reply["state"] and reply["state"]["termination"]) == termination
    assert ("claim_refused" in reply) == (termination == ON)


@pytest.mark.parametrize("claim", [False, True])
async def test_automatic_draws_need_no_claim(client: Client, claim: bool) -> None:
    table = await new_table(client, draws="automatic")
    state = await table.play(*OUT_AND_BACK, *OUT_AND_BACK, claim_draw=claim)
    assert ending(state) == ("draw_repetition", "1/2-1/2")


@pytest.mark.parametrize("variant", ["rbc", "dark_chess"])
async def test_games_that_hide_something_take_no_claim(client: Client, variant: str) -> None:
    game_id = (await client.new_game(variant=variant, clock=None))["game_id"]
    if variant == "rbc":
        await client.ask("sense", game_id=game_id, player=1, square=None)
    reply = await client.ask("move", game_id=game_id, player=1, move="e2e4", claim_draw=True)
    assert (reply["code"], reply["error"]) == ("not_available", f"claim_draw: {variant} has no draws to take")
    assert (await client.ask("move", game_id=game_id, player=1, move="e2e4"))["error"] is None


async def test_claim_is_part_of_the_retried_move(client: Client) -> None:
    table = await new_table(client)
    claimed = {"game_id": table.id, "player": 1, "move": "Nf3", "ply": 0, "claim_draw": True}
    first = await client.ask("move", **claimed)
    assert "claim_refused" in first
    assert await client.ask("move", **{**claimed, "move": "g1f3"}) == first
    assert (await client.ask("move", **{**claimed, "claim_draw": False}))["code"] == "stale"
    table.state = first["state"]
    await table.play("Nf6", "Ng1", "Ng8", *OUT_AND_BACK[:3])
    last = {"game_id": table.id, "player": 2, "move": "Ng8", "ply": 7, "claim_draw": True}
    drawn = await client.ask("move", **last)
    assert ending(drawn["state"]) == ("taken_draw_black", "1/2-1/2")
    assert await client.ask("move", **last) == drawn
    assert (await client.ask("move", **{**last, "claim_draw": False}))["code"] == "game_over"
