"""Endings other than draws by rule: mate, stalemate, resignation, agreement, length, forfeit."""

from __future__ import annotations

import pytest

from tests.games.talk import Table, new_table
from tests.helpers import START_FEN, Client, Json
from tests.oracle import MAX_PLIES

FOOLS_MATE = ("f3", "e5", "g4", "Qh4#")
KNIGHTS_OUT_AND_BACK = ("Nf3", "Nf6", "Ng1", "Ng8")


def ending(state: Json) -> tuple[str, str, str]:
    return state["termination"], state["result"], state["phase"]


# --- Mate and stalemate -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("draws", ["claimed", "automatic"])
async def test_checkmate_ends_the_game(client: Client, draws: str) -> None:
    table = await new_table(client, draws=draws)
    state = await table.play(*FOOLS_MATE)
    assert ending(state) == ("victory_black", "0-1", "over")
    assert (state["in_check"], state["turn"], state["draws"]) == (True, "white", 0)
    assert (await table.refuse("e4"))["code"] == "game_over"
    assert (await table.end("resignation_white", 1))["code"] == "game_over"


async def test_check_is_not_mate(client: Client) -> None:
    state = await (await new_table(client)).play("e4", "f5", "Qh5")
    assert (state["in_check"], *ending(state)) == (True, "available_move", "*", "move")
    assert state["pgn"] == "1.e4 f5 2.Qh5+"


# --- Positions that are over from the start ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fen", "termination", "result"),
    [
        ("rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3", "victory_black", "0-1"),
        ("R5k1/5ppp/8/8/8/8/8/6K1 b - - 1 30", "victory_white", "1-0"),
        ("7k/5Q2/8/8/8/8/8/K7 b - - 0 1", "stalemate", "1/2-1/2"),
    ],
)
@pytest.mark.parametrize("draws", ["claimed", "automatic"])
async def test_start_position_can_be_over_already(
    client: Client, fen: str, termination: str, result: str, draws: str
) -> None:
    table = await new_table(client, fen=fen, draws=draws)
    assert ending(table.state) == (termination, result, "over")
    assert (table.state["ply_index"], table.state["pgn"], table.state["last_move"]) == (0, "", None)
    assert (await table.refuse("Kb1"))["code"] == "game_over"
    assert (await client.ask("history", game_id=table.id))["moves"] == []


# --- By the players' will ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("plies", [0, 1])
@pytest.mark.parametrize(("color", "player", "result"), [("white", 1, "0-1"), ("black", 2, "1-0")])
async def test_either_side_can_resign_at_any_time(
    client: Client, plies: int, color: str, player: int, result: str
) -> None:
    table = await new_table(client)
    await table.play(*KNIGHTS_OUT_AND_BACK[:plies])
    state = (await table.end(f"resignation_{color}", player))["state"]
    assert ending(state) == (f"resignation_{color}", result, "over")
    assert state["ply_index"] == plies
    assert (await table.end(f"resignation_{color}", player))["code"] == "game_over"


@pytest.mark.parametrize("termination", ["resignation_white", "taken_draw_white"])
async def test_player_cannot_end_the_game_for_the_other_side(client: Client, termination: str) -> None:
    table = await new_table(client)
    await table.play(*KNIGHTS_OUT_AND_BACK * 2)
    assert (await table.end(termination, 2))["code"] == "not_a_player"
    assert (await table.end(termination, 3))["code"] == "not_a_player"


async def test_draw_can_be_taken_only_on_the_own_turn(client: Client) -> None:
    table = await new_table(client)
    await table.play(*KNIGHTS_OUT_AND_BACK * 2)
    reply = await table.end("taken_draw_black", 2)
    assert reply["code"] == "not_your_turn"
    state = (await table.end("taken_draw_white", 1))["state"]
    assert ending(state) == ("taken_draw_white", "1/2-1/2", "over")
    assert state["draws"] == 0


async def test_draw_cannot_be_taken_if_none_is_available(client: Client) -> None:
    table = await new_table(client)
    reply = await table.end("taken_draw_white", 1)
    assert reply == {
        "state": None,
        "code": "not_available",
        "error": "termination: 'taken_draw_white': no draw can be taken now: the position has occurred 1 times, "
        "0 half-moves without capture or pawn move",
    }


async def test_other_endings_cannot_be_requested(client: Client) -> None:
    table = await new_table(client)
    for termination in ("stalemate", "victory_white", "timeout_black", "draw_material", ""):
        assert (await table.end(termination, 1))["code"] == "bad_request"


# --- Draws by agreement -----------------------------------------------------------------------------------------


async def test_draw_offer_stands_until_the_move_of_the_opponent(client: Client) -> None:
    table = await new_table(client)
    assert (await table.play("e4", offer_draw=True))["draw_offered"] is True
    assert (await table.look())["draw_offered"] is True
    assert (await table.play("e5"))["draw_offered"] is False
    assert (await table.end("draw_agreed", 1))["code"] == "not_available"
    assert (await table.end("draw_agreed", 2))["code"] == "not_available"


@pytest.mark.parametrize("draws", ["claimed", "automatic"])
async def test_opponent_can_agree_to_a_draw(client: Client, draws: str) -> None:
    table = await new_table(client, draws=draws)
    await table.play("e4", offer_draw=True)
    assert (await table.end("draw_agreed", 1))["code"] == "not_available"
    state = (await table.end("draw_agreed", 2))["state"]
    assert ending(state) == ("draw_agreed", "1/2-1/2", "over")
    assert (state["draw_offered"], state["ply_index"]) == (False, 1)


async def test_draw_offer_is_answered_by_an_offer_and_withdrawn_by_a_resignation(client: Client) -> None:
    table = await new_table(client)
    await table.play("e4", "e5", offer_draw=True)
    assert (await table.end("draw_agreed", 2))["code"] == "not_available"
    assert (await table.end("draw_agreed", 1))["state"]["termination"] == "draw_agreed"
    table = await new_table(client)
    await table.play("e4", offer_draw=True)
    assert (await table.end("resignation_white", 1))["state"]["draw_offered"] is False


async def test_refused_or_last_move_offers_no_draw(client: Client) -> None:
    table = await new_table(client)
    await table.refuse("e5", offer_draw=True)
    assert (await table.end("draw_agreed", 2))["code"] == "not_available"
    await table.play(*FOOLS_MATE[:-1])
    assert (await table.play(FOOLS_MATE[-1], offer_draw=True))["draw_offered"] is False


# --- By length --------------------------------------------------------------------------------------------------


async def test_max_moves_count_the_moves_of_each_player_from_the_start_position(client: Client) -> None:
    table = await new_table(client, fen="4k3/8/8/8/8/8/4P3/4K3 b - - 10 77", max_moves=1)
    assert ending(await table.play("Kd8")) == ("available_move", "*", "move")
    assert ending(await table.play("e4")) == ("draw_move_limit", "1/2-1/2", "over")


async def test_checkmate_and_repetition_take_precedence_over_max_moves(client: Client) -> None:
    table = await new_table(client, max_moves=2)
    assert (await table.play(*FOOLS_MATE))["termination"] == "victory_black"
    table = await new_table(client, max_moves=4, draws="automatic")
    assert (await table.play(*KNIGHTS_OUT_AND_BACK * 2))["termination"] == "draw_repetition"


async def long_game(client: Client, plies: int, **options: int) -> Table:
    moves = " ".join(KNIGHTS_OUT_AND_BACK * (plies // 4))
    return await new_table(client, pgn=moves, **options)


async def test_game_is_drawn_at_the_length_limit(client: Client) -> None:
    table = await long_game(client, MAX_PLIES - 4)
    state = await table.play(*KNIGHTS_OUT_AND_BACK[:3])
    assert (state["ply_index"], *ending(state)) == (MAX_PLIES - 1, "available_move", "*", "move")
    state = await table.play(KNIGHTS_OUT_AND_BACK[3])
    assert (state["ply_index"], *ending(state)) == (MAX_PLIES, "draw_move_limit", "1/2-1/2", "over")
    assert state["fen"] == START_FEN.replace("0 1", f"{MAX_PLIES} {MAX_PLIES // 2 + 1}")
    assert state["pgn"].endswith(f" {MAX_PLIES // 2}.Ng1 Ng8")
    assert (await table.refuse("e4"))["code"] == "game_over"


async def test_longer_pgn_is_loaded_up_to_the_length_limit_whatever_max_moves(client: Client) -> None:
    table = await long_game(client, MAX_PLIES + 8, max_moves=1_000_000)
    assert (table.state["ply_index"], table.state["termination"]) == (MAX_PLIES, "draw_move_limit")
    assert len((await client.ask("history", game_id=table.id))["moves"]) == MAX_PLIES


# --- By a move that cannot be played ----------------------------------------------------------------------------

UNPLAYABLE = ("e5", "Ke2", "e2e5", "Nd2", "--", "@@@@", "", " ", "e4 ", "pawn to king four", "O-O", "\0")


async def test_unplayable_move_is_refused_without_a_penalty(client: Client) -> None:
    table = await new_table(client)
    for text in UNPLAYABLE:
        assert (await table.refuse(text))["code"] == "illegal_move"
    assert (await table.play("e4"))["ply_index"] == 1


async def test_unplayable_move_loses_if_the_option_says_so(client: Client) -> None:
    for text in UNPLAYABLE:
        table = await new_table(client, illegal_move="lose")
        over = {"termination": "forfeit_white", "result": "0-1", "phase": "over"}
        assert table.state | over == await table.play(text)
    table = await new_table(client, illegal_move="lose")
    assert ending(await table.play("e4", "e4")) == ("forfeit_black", "1-0", "over")
    table = await new_table(client, illegal_move="lose", fen="4k3/8/8/8/8/8/4K3/R6R w - - 0 1")
    assert ending(await table.play("Rd1")) == ("forfeit_white", "0-1", "over")


async def test_only_a_move_of_the_side_to_move_can_lose(client: Client) -> None:
    table = await new_table(client, illegal_move="lose")
    assert (await table.refuse("nonsense", player=2))["code"] == "not_your_turn"
    assert (await table.refuse("nonsense", player=3))["code"] == "not_a_player"
    assert (await client.ask("move", game_id=table.id, player=1, move=None))["code"] == "bad_request"
    assert (await table.play("e4"))["termination"] == "available_move"
