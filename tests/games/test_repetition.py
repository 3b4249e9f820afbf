"""Threefold repetition: the position has occurred three times, and a position is more than its pieces."""

from __future__ import annotations

from tests.games.talk import Table, new_table
from tests.helpers import Client

KNIGHTS_OUT_AND_BACK = ("Nf3", "Nf6", "Ng1", "Ng8")
THREEFOLD = 2


async def draws_along(table: Table, *moves: str) -> list[int]:
    """Return the ``draws`` of the state after each move."""
    return [(await table.play(move))["draws"] for move in moves]


async def test_draw_is_available_exactly_while_the_position_has_occurred_three_times(client: Client) -> None:
    table = await new_table(client)
    assert await draws_along(table, *KNIGHTS_OUT_AND_BACK * 2) == [0, 0, 0, 0, 0, 0, 0, THREEFOLD]
    # First another position, which is new; then the start for the fourth time.
    assert await draws_along(table, "Nc3", "Nc6", "Nb1", "Nb8") == [0, 0, 0, THREEFOLD]
    # The position after Nf3 for the third time; then a pawn moves, and no earlier position can recur.
    assert await draws_along(table, "Nf3", "d5", "Ng1", "Nf6", "Nf3") == [THREEFOLD, 0, 0, 0, 0]


async def test_automatic_draw_ends_the_game_at_the_third_occurrence(client: Client) -> None:
    table = await new_table(client, draws="automatic")
    state = await table.play(*KNIGHTS_OUT_AND_BACK, *KNIGHTS_OUT_AND_BACK[:3])
    assert (state["termination"], state["result"]) == ("available_move", "*")
    state = await table.play("Ng8")
    assert (state["termination"], state["result"], state["phase"]) == ("draw_repetition", "1/2-1/2", "over")
    assert state["draws"] == 0
    assert (await table.refuse("e4"))["code"] == "game_over"


async def test_occurrences_in_a_pgn_count(client: Client) -> None:
    moves = KNIGHTS_OUT_AND_BACK * 2
    for loaded in range(8):
        table = await new_table(client, pgn=" ".join(moves[:loaded]))
        state = await table.play(*moves[loaded:])
        assert (state["ply_index"], state["draws"]) == (8, THREEFOLD)


async def test_position_with_an_en_passant_right_differs(client: Client) -> None:
    table = await new_table(client, fen="rnbqkbnr/pppp1ppp/8/4P3/8/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1")
    state = await table.play("d5")
    assert state["passant_file"] == 3
    # The pieces stand as after d5 for the second and third time, but exd6 is no longer possible.
    assert await draws_along(table, *KNIGHTS_OUT_AND_BACK * 2) == [0] * 8
    assert await draws_along(table, *KNIGHTS_OUT_AND_BACK) == [THREEFOLD] * 4


async def test_double_step_without_a_possible_capture_makes_no_difference(client: Client) -> None:
    table = await new_table(client)
    await table.play("e4")
    black_first = ("Nf6", "Nf3", "Ng8", "Ng1")
    assert await draws_along(table, *black_first * 2) == [0] * 7 + [THREEFOLD]


async def test_position_with_other_castling_rights_differs(client: Client) -> None:
    table = await new_table(client, fen="r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1")
    rooks_out_and_back = ("Rb1", "Rb8", "Ra1", "Ra8")
    # The rooks return: the third occurrence of the pieces, but only the second without the castling rights.
    assert await draws_along(table, *rooks_out_and_back * 2) == [0] * 8
    assert table.state["available_castles"] == 0x01 | 0x04
    # When the position after Rb1 first occurred, Black still had its right too.
    assert await draws_along(table, *rooks_out_and_back) == [0, THREEFOLD, THREEFOLD, THREEFOLD]


async def test_pockets_are_part_of_a_crazyhouse_position(client: Client) -> None:
    table = await new_table(
        client, variant="crazyhouse", draws="claimed", fen="4r1k1/5ppp/8/8/8/8/5PPP/3R2K1[NN] w - - 0 1"
    )
    start = table.state["board"]
    # White gives its knights away one by one; then only the pockets differ.
    await table.play("N@e5", "Rxe5", "Kf1", "Re8", "Kg1", "Kh8", "N@e5", "Rxe5", "Kf1", "Re8", "Kg1", "Kg8")
    assert (table.state["board"], table.state["pockets"]) == (start, {"white": "", "black": "nn"})
    kings_out_and_back = ("Kf1", "Kf8", "Kg1", "Kg8")
    assert await draws_along(table, *kings_out_and_back) == [0, 0, 0, 0]
    assert (await draws_along(table, *kings_out_and_back))[-1] == THREEFOLD
