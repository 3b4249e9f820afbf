"""Start positions: FENs, start numbers and seeds, and those that are refused."""

from __future__ import annotations

import chess
import pytest
from chess.variant import CrazyhouseBoard
from hypothesis import given
from hypothesis import strategies as st

from tests.games.strategies import played_boards, scattered_boards
from tests.games.talk import new_table, refused_game
from tests.helpers import START_FEN, Client, memory_daemon
from tests.oracle import Oracle, fen, start_board

VARIANTS = ["standard", "chess960", "crazyhouse"]


# --- Accepted FENs ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fen", "shown"),
    [
        pytest.param(START_FEN, START_FEN, id="the usual start"),
        pytest.param("4k3/8/8/8/8/8/4P3/4K3 b - - 7 33", "4k3/8/8/8/8/8/4P3/4K3 b - - 7 33", id="counters"),
        pytest.param("4k3/8/8/8/8/8/4P3/4K3", "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", id="the board alone"),
        pytest.param("4k3/8/8/8/8/8/4P3/4K3 b", "4k3/8/8/8/8/8/4P3/4K3 b - - 0 1", id="no castling field"),
        pytest.param("4k3/8/8/8/8/8/4P3/4K3 w - -", "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", id="no counters"),
        pytest.param("  4k3/8/8/8/8/8/4P3/4K3   w  -  -  0  1 ", "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", id="spaces"),
        pytest.param("4k3/8/8/8/8/8/4P3/4K3 w - - 0 0", "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", id="move 0 is move 1"),
        pytest.param("r3k2r/8/8/8/8/8/8/R3K2R w HAha - 0 1", "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", id="Shredder-FEN"),
        pytest.param("4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1", "4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1", id="en passant"),
        pytest.param("4k3/8/8/8/4P3/8/8/4K3 b - e3 0 1", "4k3/8/8/8/4P3/8/8/4K3 b - - 0 1", id="no such capture"),
        pytest.param("3rk3/8/8/8/3pP3/8/8/3RK3 b - e3 0 1", "3rk3/8/8/8/3pP3/8/8/3RK3 b - e3 0 1", id="on its file"),
        pytest.param("8/8/8/8/k2pP2R/8/8/4K3 b - e3 0 1", "8/8/8/8/k2pP2R/8/8/4K3 b - - 0 1", id="an illegal capture"),
        pytest.param("4k3/8/8/8/8/8/4P3/4K3 w - - 1000 100000", "4k3/8/8/8/8/8/4P3/4K3 w - - 1000 100000", id="limits"),
    ],
)
async def test_valid_fen_is_accepted(client: Client, fen: str, shown: str) -> None:
    table = await new_table(client, fen=fen)
    assert (table.state["fen"], table.state["start_fen"], table.options["fen"]) == (shown, shown, shown)
    assert table.state == Oracle(start_board("standard", fen=shown)).state(table.id)


async def test_start_position_is_shown_for_the_whole_game_and_move_numbers_continue_from_it(client: Client) -> None:
    start = "4k3/8/8/8/8/8/4P3/4K3 b - - 0 41"
    state = await (await new_table(client, fen=start)).play("Kd7", "e4", "Kd6")
    assert (state["start_fen"], state["pgn"]) == (start, "41...Kd7 42.e4 Kd6")
    assert state["fen"] == "8/8/3k4/8/4P3/8/8/4K3 w - - 1 43"


# --- Refused FENs -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fen", "why"),
    [
        ("8/8/8/8/8/8/8/8 w - - 0 1", "no white king, no black king, empty"),
        ("4k3/8/8/8/8/8/8/8 w - - 0 1", "no white king"),
        ("4k3/8/8/8/8/8/8/3KK3 w - - 0 1", "too many kings"),
        ("4k3/8/8/8/8/8/8/P3K3 w - - 0 1", "pawns on backrank"),
        ("4k3/8/8/8/8/8/4R3/4K3 w - - 0 1", "opposite check"),
        ("4k3/4K3/8/8/8/8/8/8 w - - 0 1", "opposite check"),
        ("4k3/8/8/8/8/8/8/4K3 w KQ - 0 1", "bad castling rights"),
        ("4k3/8/8/8/8/8/8/R3K1R1 w KQ - 0 1", "bad castling rights"),
        ("4k3/8/8/8/8/8/8/4K3 w - e6 0 1", "invalid ep square"),
        ("4k3/8/8/3pP3/8/8/8/4K3 b - d6 0 1", "invalid ep square"),
        ("4k3/pppppppp/p7/8/8/8/8/4K3 w - - 0 1", "too many black pawns"),
        ("4k3/8/8/8/QQQQQQQQ/QQQQQQQQ/8/4K3 w - - 0 1", "too many white pieces"),
    ],
)
async def test_impossible_position_is_refused(client: Client, fen: str, why: str) -> None:
    reply = await refused_game(client, fen=fen)
    assert reply["code"] == "bad_position"
    assert reply["error"].startswith(f"fen: '{fen}' is no standard position: ")
    assert why in reply["error"].rpartition(": ")[2].split(", ") or why in reply["error"]


@pytest.mark.parametrize(
    "fen",
    [
        "",
        " ",
        "startpos",
        "x",
        "/",
        "8/8/8/8/8/8/8 w - - 0 1",
        "9/8/8/8/8/8/8/8 w - - 0 1",
        "4k3/8/8/8/8/8/8/4K3 white - - 0 1",
        "4k3/8/8/8/8/8/8/4K3 w X - 0 1",
        "4k3/8/8/8/8/8/8/4K3 w - e9 0 1",
        "4k3/8/8/8/8/8/8/4K3 w - - x 1",
        "4k3/8/8/8/8/8/8/4K3 w - - -1 1",
        "4k3/8/8/8/8/8/8/4K3 w - - 0 -1",
        "4k3/8/8/8/8/8/8/4K3 w - - 1001 1",
        "4k3/8/8/8/8/8/8/4K3 w - - 0 100001",
        "4k3/8/8/8/8/8/8/4K3 w - - 0 1 0",
        f"4k3/8/8/8/8/8/8/4K3 w - - {'9' * 5000} 1",
        "4k3/8/8/8/8/8/8/4Ké3 w - - 0 1",
        "4k3/8/8/8/8/8/8/4K\0\0\0 w - - 0 1",
    ],
)
async def test_text_that_is_no_fen_is_refused(client: Client, fen: str) -> None:
    for variant in VARIANTS:
        reply = await refused_game(client, variant=variant, fen=fen)
        assert reply["code"] == "bad_position"
        assert reply["error"].startswith("fen: ")
        assert len(reply["error"]) < 400


@given(
    st.text(max_size=90)
    | st.from_regex(r"\A[pnbrqkPNBRQK1-8/\[\]~ ]{0,80}( [wb] [-KQkqA-Ha-h]{0,5} [-a-h1-8]{0,3})?\Z")
)
async def test_any_text_as_fen_makes_a_game_or_is_a_bad_position(fen: str) -> None:
    async with memory_daemon() as daemon:
        client = await daemon.connect()
        for variant in VARIANTS:
            reply = await client.ask("new_game", player_white=1, player_black=2, variant=variant, fen=fen)
            assert reply.get("code") in (None, "bad_position")


# --- Start numbers and seeds ------------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", ["chess960", "crazyhouse"])
@pytest.mark.parametrize(("seed", "number"), [(518, 518), (960, 0), (-1, 959), (10**30, 10**30 % 960)])
async def test_seed_determines_the_start_position(client: Client, variant: str, seed: int, number: int) -> None:
    by_seed = await new_table(client, variant=variant, seed=seed)
    by_number = await new_table(client, variant=variant, position=number)
    assert by_seed.options["position"] == number
    assert by_seed.options == by_number.options
    assert by_seed.state["fen"] == by_number.state["fen"]


async def test_chess960_draws_a_start_position_and_gives_its_number(client: Client) -> None:
    numbers = set()
    for _ in range(20):
        table = await new_table(client, variant="chess960")
        numbers.add(table.options["position"])
        board = chess.Board.from_chess960_pos(table.options["position"])
        assert table.options["fen"] == table.state["fen"] == board.fen(shredder=True)
    assert len(numbers) > 1


@pytest.mark.parametrize("field", ["position", "seed"])
async def test_standard_chess_has_no_start_numbers(client: Client, field: str) -> None:
    reply = await refused_game(client, **{field: 518})
    assert reply["code"] == "bad_request"
    assert reply["error"].startswith(f"{field}: ")


@pytest.mark.parametrize("position", [-1, 960, 1.5, "518", True])
async def test_start_number_out_of_range_is_refused(client: Client, position: object) -> None:
    reply = await refused_game(client, variant="chess960", position=position)
    assert reply["code"] == "bad_request"
    assert reply["error"].startswith("position: ")


@pytest.mark.parametrize("variant", ["chess960", "crazyhouse"])
@pytest.mark.parametrize(
    "options",
    [
        {"position": 518, "seed": 518},
        {"position": 518, "fen": "4k3/8/8/8/8/8/8/4K3 w - - 0 1"},
        {"seed": 518, "fen": "4k3/8/8/8/8/8/8/4K3 w - - 0 1"},
        {"position": 518, "pgn": '[FEN "4k3/8/8/8/8/8/8/4K3 w - - 0 1"]'},
    ],
)
async def test_start_position_may_be_given_only_once(client: Client, variant: str, options: dict[str, object]) -> None:
    assert (await refused_game(client, variant=variant, **options))["code"] == "bad_request"


@pytest.mark.parametrize("variant", ["Standard", "chess", "rbc2", "", None, 3])
async def test_unknown_variant_is_refused(client: Client, variant: object) -> None:
    if variant is None:
        assert (await new_table(client, variant=None)).options["variant"] == "standard"
    else:
        assert (await refused_game(client, variant=variant))["code"] == "bad_request"


# --- Round trips ------------------------------------------------------------------------------------------------


@pytest.mark.slow
@given(played_boards() | scattered_boards())
async def test_every_shown_fen_starts_a_game_with_the_same_position(board: chess.Board) -> None:
    """The FEN of any position, given to ``new_game``, makes a game that shows that position and that FEN."""
    variant = "crazyhouse" if isinstance(board, CrazyhouseBoard) else "chess960" if board.chess960 else "standard"
    async with memory_daemon() as daemon:
        table = await new_table(await daemon.connect(), variant=variant, fen=fen(board), draws="claimed")
    assert table.state["fen"] == fen(board)
    assert table.state == Oracle(board, variant).state(table.id)
