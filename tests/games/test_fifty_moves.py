"""The 50-move rule: a draw after 100 half-moves without a capture or a pawn move."""

from __future__ import annotations

import pytest

from tests.games.talk import new_table
from tests.helpers import Client

FIFTY_MOVES = 1


def counters(fen: str) -> str:
    """Return the last two fields of a FEN."""
    return " ".join(fen.split()[4:])


async def test_draw_is_available_from_the_hundredth_half_move_to_the_next_pawn_move(client: Client) -> None:
    table = await new_table(client, fen="2k5/8/8/8/8/8/P3R3/4K3 w - - 97 80")
    assert table.state["draws"] == 0
    shown = [(state["draws"], counters(state["fen"])) for state in [await table.play(move) for move in ("Re3", "Kd8")]]
    assert shown == [(0, "98 80"), (0, "99 81")]
    shown = [(state["draws"], counters(state["fen"])) for state in [await table.play(move) for move in ("Re4", "Kc8")]]
    assert shown == [(FIFTY_MOVES, "100 81"), (FIFTY_MOVES, "101 82")]
    state = await table.play("a3")
    assert (state["draws"], counters(state["fen"])) == (0, "0 82")


async def test_draw_can_be_taken_only_on_the_own_turn(client: Client) -> None:
    table = await new_table(client, fen="2k5/8/8/8/8/8/P3R3/4K3 w - - 99 80")
    assert (await table.end("taken_draw_white", 1))["code"] == "not_available"  # the server does not look a move ahead
    await table.play("Re3")
    assert (await table.end("taken_draw_white", 1))["code"] == "not_your_turn"
    state = (await table.end("taken_draw_black", 2))["state"]
    assert (state["termination"], state["result"], state["draws"]) == ("taken_draw_black", "1/2-1/2", 0)


async def test_automatic_draw_ends_the_game_at_the_hundredth_half_move(client: Client) -> None:
    table = await new_table(client, fen="2k5/8/8/8/8/8/P3R3/4K3 w - - 98 80", draws="automatic")
    assert (await table.play("Re3"))["termination"] == "available_move"
    state = await table.play("Kd8")
    assert (state["termination"], state["result"], state["draws"]) == ("draw_fifty_moves", "1/2-1/2", 0)


@pytest.mark.parametrize("draws", ["claimed", "automatic"])
async def test_checkmate_on_the_hundredth_half_move_takes_precedence(client: Client, draws: str) -> None:
    table = await new_table(client, fen="7k/8/6K1/8/8/8/8/R7 w - - 99 80", draws=draws)
    state = await table.play("Ra8")
    assert (state["termination"], state["result"], state["draws"]) == ("victory_white", "1-0", 0)
    assert (counters(state["fen"]), state["pgn"]) == ("100 80", "80.Ra8#")


async def test_drop_is_no_pawn_move(client: Client) -> None:
    table = await new_table(client, variant="crazyhouse", draws="claimed", fen="2k5/8/8/8/8/8/4R3/4K3[Pn] w - - 98 80")
    assert counters((await table.play("P@e4"))["fen"]) == "99 80"
    state = await table.play("N@a1")
    assert (state["draws"], counters(state["fen"])) == (FIFTY_MOVES, "100 81")
    assert counters((await table.play("e5"))["fen"]) == "0 81"


async def test_count_continues_from_the_fen_and_the_draw_is_available_at_once(client: Client) -> None:
    table = await new_table(client, fen="2k5/8/8/8/8/8/P3R3/4K3 w - - 100 80")
    assert table.state["draws"] == FIFTY_MOVES
    assert (await table.end("taken_draw_white", 1))["state"]["termination"] == "taken_draw_white"
    table = await new_table(client, fen="2k5/8/8/8/8/8/P3R3/4K3 w - - 100 80", draws="automatic")
    assert table.state["termination"] == "draw_fifty_moves"
