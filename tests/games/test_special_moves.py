"""En passant, promotion and castling; ambiguous moves and null moves."""

from __future__ import annotations

import pytest

from tests.games.talk import new_table
from tests.helpers import Client

# --- En passant -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["exd6", "e5d6", "e5xd6", "exd6+", "ed6"])
async def test_en_passant_capture_is_played(client: Client, text: str) -> None:
    table = await new_table(client)
    state = await table.play("e4", "a6", "e5", "d5")
    assert (state["passant_file"], state["fen"]) == (3, "rnbqkbnr/1pp1pppp/p7/3pP3/8/8/PPPP1PPP/RNBQKBNR w KQkq d6 0 3")
    assert state["access_map"][5][3] == [[4, 4], [7, 3]]  # exd6, and a move of Black's queen
    state = await table.play(text)
    assert (state["last_move"], state["pgn"]) == ("e5d6", "1.e4 a6 2.e5 d5 3.exd6")
    assert (state["passant_file"], state["fen"]) == (-1, "rnbqkbnr/1pp1pppp/p2P4/8/8/8/PPPP1PPP/RNBQKBNR b KQkq - 0 3")
    assert (state["board"][4][3], state["board"][5][3]) == (None, "wp")


async def test_en_passant_is_possible_only_on_the_next_move(client: Client) -> None:
    table = await new_table(client)
    state = await table.play("e4", "a6", "e5", "d5", "Nf3", "Nf6")
    assert (state["passant_file"], state["fen"].split()[3]) == (-1, "-")
    assert (await table.refuse("exd6"))["code"] == "illegal_move"
    assert (await table.play("exf6"))["last_move"] == "e5f6"


async def test_double_step_without_a_possible_capture_sets_no_passant_file(client: Client) -> None:
    state = await (await new_table(client)).play("e4")
    assert (state["passant_file"], state["fen"]) == (-1, "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1")


@pytest.mark.parametrize(
    ("fen", "double_step", "captures"),
    [
        pytest.param("4k3/3p4/8/K3P2r/8/8/8/8 b - - 0 1", "d5", ["e5d6"], id="both pawns leave the king's rank"),
        pytest.param("4r1k1/3p4/8/4P3/8/8/8/4K3 b - - 0 1", "d5", ["e5d6"], id="the capturer is pinned on its file"),
        pytest.param("6k1/3p4/8/4P3/5K2/8/8/b7 b - - 0 1", "d5", [], id="the diagonal stays closed"),
        pytest.param("6k1/3p4/8/4P3/8/2K5/8/8 b - - 0 1", "d5", [], id="nothing pins"),
        pytest.param("2b3k1/3p4/8/4PK2/8/8/8/8 b - - 0 1", "d5", ["e5d6"], id="the step opens a line of check"),
    ],
)
async def test_en_passant_that_exposes_the_king_is_illegal(
    client: Client, fen: str, double_step: str, captures: list[str]
) -> None:
    table = await new_table(client, fen=fen)
    state = await table.play(double_step)
    legal = not captures
    assert (state["passant_file"], state["fen"].split()[3]) == ((3, "d6") if legal else (-1, "-"))
    assert ([4, 4] in state["access_map"][5][3]) is legal
    assert ("e5d6" in await table.actions()) is legal
    for text in [*captures, *(["exd6"] if captures else [])]:
        assert (await table.refuse(text))["code"] == "illegal_move"


async def test_en_passant_can_capture_the_pawn_that_gives_check(client: Client) -> None:
    table = await new_table(client, fen="8/3p4/8/1r2P3/2K5/1r6/8/1r2r2k b - - 0 1")
    state = await table.play("d5+")
    assert (state["in_check"], state["passant_file"]) == (True, 3)
    assert "e5d6" in await table.actions()
    assert (await table.play("exd6"))["in_check"] is False


async def test_two_pawns_may_capture_en_passant(client: Client) -> None:
    table = await new_table(client, fen="4k3/3p4/8/2P1P3/8/8/8/4K3 b - - 0 1")
    state = await table.play("d5")
    assert (state["passant_file"], state["access_map"][5][3]) == (3, [[4, 2], [4, 4]])
    assert (await table.play("cxd6"))["last_move"] == "c5d6"


async def test_access_map_shows_en_passant_only_for_the_side_to_move(client: Client) -> None:
    table = await new_table(client, fen="4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1")
    assert table.state["access_map"][2][4] == [[3, 3]]
    state = await table.play("Kd8")
    assert state["access_map"][2][4] == []


# --- Promotion --------------------------------------------------------------------------------------------------

PROMOTIONS = [
    ("a8=Q", "a7a8q", "wQ"),
    ("a8=R", "a7a8r", "wR"),
    ("a8=B", "a7a8b", "wB"),
    ("a8=N", "a7a8n", "wN"),
]


@pytest.mark.parametrize(("san", "uci", "piece"), PROMOTIONS)
@pytest.mark.parametrize("spelling", ["san", "uci", "san without sign", "lower case"])
async def test_pawn_promotes_to_each_piece(client: Client, san: str, uci: str, piece: str, spelling: str) -> None:
    text = {"san": san, "uci": uci, "san without sign": san.replace("=", ""), "lower case": "a8=" + uci[-1]}[spelling]
    table = await new_table(client, fen="8/P6k/8/8/8/8/7K/8 w - - 0 1")
    state = await table.play(text)
    assert (state["last_move"], state["pgn"], state["board"][7][0]) == (uci, f"1.{san}", piece)


@pytest.mark.parametrize("text", ["axb8=Q+", "axb8=Q", "a7b8q", "axb8Q", "a7xb8=Q"])
async def test_pawn_promotes_with_a_capture(client: Client, text: str) -> None:
    table = await new_table(client, fen="1n5k/P7/8/8/8/8/7K/8 w - - 0 1")
    state = await table.play(text)
    assert (state["last_move"], state["pgn"], state["in_check"]) == ("a7b8q", "1.axb8=Q+", True)


@pytest.mark.parametrize(
    "text", ["a8", "a7a8", "a7-a8", "a8=", "a8=K", "a8=P", "a7a8k", "a7a8p", "a8=k", "Ka8", "a7a8=", "Kg2=Q"]
)
async def test_promotion_must_name_its_piece(client: Client, text: str) -> None:
    table = await new_table(client, fen="8/P6k/8/8/8/8/7K/8 w - - 0 1")
    assert (await table.refuse(text))["code"] == "illegal_move"


@pytest.mark.parametrize("text", ["a4=Q", "a3a4q", "Kg2=Q", "h2g2q"])
async def test_other_moves_do_not_promote(client: Client, text: str) -> None:
    table = await new_table(client, fen="7k/8/8/8/8/P7/7K/8 w - - 0 1")
    assert (await table.refuse(text))["code"] == "illegal_move"


async def test_promotion_can_mate(client: Client) -> None:
    table = await new_table(client, fen="6k1/P4ppp/8/8/8/8/8/6K1 w - - 0 1")
    assert (await table.play("a7a8r"))["pgn"] == "1.a8=R#"


async def test_black_promotes_on_the_first_rank(client: Client) -> None:
    table = await new_table(client, fen="7k/8/8/8/8/8/p6K/8 b - - 0 9")
    state = await table.play("a1=N")
    assert (state["last_move"], state["pgn"], state["board"][0][0]) == ("a2a1n", "9...a1=N", "bN")


async def test_promotion_square_is_normal_again_after_the_piece_is_captured(client: Client) -> None:
    table = await new_table(client, fen="r5k1/8/8/8/8/8/4pK2/8 b - - 0 1")
    state = await table.play("e1=Q+", "Kxe1")
    assert state["access_map"][0][3] == [[0, 4]]
    state = await table.play("Ra1+")
    assert (state["in_check"], state["pgn"]) == (True, "1...e1=Q+ 2.Kxe1 Ra1+")
    assert await table.actions() == ["e1d2", "e1e2", "e1f2"]


# --- Castling ---------------------------------------------------------------------------------------------------

CASTLING_FEN = "r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R3K2R w KQkq - 0 1"


@pytest.mark.parametrize("text", ["O-O", "0-0", "e1g1", "e1h1", "O-O+", "0-0#"])
async def test_castling_kingside_is_played(client: Client, text: str) -> None:
    table = await new_table(client, fen=CASTLING_FEN)
    state = await table.play(text)
    assert (state["last_move"], state["pgn"], state["available_castles"]) == ("e1g1", "1.O-O", 0x04 | 0x08)
    assert state["fen"] == "r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R4RK1 b kq - 1 1"


@pytest.mark.parametrize("text", ["O-O-O", "0-0-0", "e1c1", "e1a1", "O-O-O+"])
async def test_castling_queenside_is_played(client: Client, text: str) -> None:
    table = await new_table(client, fen=CASTLING_FEN)
    state = await table.play(text)
    assert (state["last_move"], state["pgn"], state["available_castles"]) == ("e1c1", "1.O-O-O", 0x04 | 0x08)
    assert state["fen"] == "r3k2r/pppppppp/8/8/8/8/PPPPPPPP/2KR3R b kq - 1 1"


@pytest.mark.parametrize(("text", "uci", "row"), [("0-0", "e8g8", "r4rk1"), ("e8c8", "e8c8", "2kr3r")])
async def test_black_can_castle(client: Client, text: str, uci: str, row: str) -> None:
    table = await new_table(client, fen=CASTLING_FEN)
    state = await table.play("a3", text)
    assert (state["last_move"], state["fen"].split("/")[0], state["available_castles"]) == (uci, row, 0x01 | 0x02)


@pytest.mark.parametrize(
    "text", ["o-o", "O-0", "O--O", "OO", "O-O-O-O", "0-0-0-0", "o-o-o", "Kg1", "Kc1", "e1b1", "e1f2"]
)
async def test_other_spellings_are_no_castling(client: Client, text: str) -> None:
    table = await new_table(client, fen=CASTLING_FEN)
    assert (await table.refuse(text))["code"] == "illegal_move"


@pytest.mark.parametrize(
    ("fen", "kingside", "queenside"),
    [
        pytest.param("4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", True, True, id="free"),
        pytest.param("4k3/8/8/8/8/8/8/R3K2R w - - 0 1", False, False, id="no rights"),
        pytest.param("4k3/8/8/8/8/8/8/R3K2R w K - 0 1", True, False, id="one right"),
        pytest.param("4k3/8/8/8/8/8/8/RN2K1NR w KQ - 0 1", False, False, id="pieces between"),
        pytest.param("4k3/4r3/8/8/8/8/8/R3K2R w KQ - 0 1", False, False, id="in check"),
        pytest.param("4k3/5r2/8/8/8/8/8/R3K2R w KQ - 0 1", False, True, id="through f1"),
        pytest.param("4k3/3r4/8/8/8/8/8/R3K2R w KQ - 0 1", True, False, id="through d1"),
        pytest.param("4k3/6r1/8/8/8/8/8/R3K2R w KQ - 0 1", False, True, id="into g1"),
        pytest.param("4k3/2r5/8/8/8/8/8/R3K2R w KQ - 0 1", True, False, id="into c1"),
        pytest.param("4k3/1r5r/8/8/8/8/8/R3K2R w KQ - 0 1", True, True, id="b1 and the rooks may be attacked"),
    ],
)
async def test_castling_is_legal_only_under_its_conditions(
    client: Client, fen: str, kingside: bool, queenside: bool
) -> None:
    table = await new_table(client, fen=fen)
    actions = await table.actions()
    assert ("e1g1" in actions, "e1c1" in actions) == (kingside, queenside)
    # The access map does not show castling either, only the king's and the rooks' own moves.
    assert [0, 4] not in table.state["access_map"][0][6] + table.state["access_map"][0][2]
    for text in ([] if kingside else ["O-O", "e1g1"]) + ([] if queenside else ["O-O-O", "e1c1"]):
        assert (await table.refuse(text))["code"] == "illegal_move"


@pytest.mark.parametrize(
    ("moves", "castles"),
    [
        (["e1f1"], 0x04 | 0x08),
        (["h1g1"], 0x02 | 0x04 | 0x08),
        (["a1b1"], 0x01 | 0x04 | 0x08),
        (["h1h8"], 0x02 | 0x08),
        (["a1a8"], 0x01 | 0x04),
        (["e1f1", "e8e7"], 0),
        (["h1g1", "a8b8", "g1h1", "b8a8"], 0x02 | 0x04),
    ],
)
async def test_castling_rights_are_lost_by_moves_and_captures(client: Client, moves: list[str], castles: int) -> None:
    table = await new_table(client, fen="r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1")
    assert table.state["available_castles"] == 0x0F
    assert (await table.play(*moves))["available_castles"] == castles


async def test_castling_can_give_check_and_mate(client: Client) -> None:
    table = await new_table(client, fen="5k2/8/8/8/8/8/8/4K2R w K - 0 1")
    assert (await table.play("e1g1"))["pgn"] == "1.O-O+"
    table = await new_table(client, fen="8/8/8/8/8/8/2R5/R3K2k w Q - 0 1")
    state = await table.play("O-O-O")
    assert (state["pgn"], state["termination"]) == ("1.O-O-O#", "victory_white")


# --- Ambiguous moves --------------------------------------------------------------------------------------------


async def test_ambiguous_move_has_another_code_than_an_illegal_one(client: Client) -> None:
    table = await new_table(client, fen="4k3/8/8/8/8/8/4K3/R6R w - - 0 1")
    assert await table.refuse("Rd1") == {
        "state": None,
        "code": "ambiguous_move",
        "error": "move: 'Rd1' could be several moves: name the file or rank the piece comes from",
    }
    assert (await table.refuse("Rd3"))["code"] == "illegal_move"
    assert (await table.play("Rad1"))["last_move"] == "a1d1"


@pytest.mark.parametrize(
    ("fen", "uci", "san"),
    [
        pytest.param("4k3/8/8/8/8/8/4K3/R6R w - - 0 1", "a1d1", "Rad1", id="by the file"),
        pytest.param("R7/7k/8/8/8/8/8/R3K3 w - - 0 1", "a1a4", "R1a4", id="by the rank"),
        pytest.param("8/2k5/8/8/4Q2Q/8/8/K6Q w - - 0 1", "h4e1", "Qh4e1", id="by the square"),
        pytest.param("4k3/4r3/8/8/8/4N3/8/4K1N1 w - - 0 1", "g1f3", "Nf3", id="a pinned rival does not count"),
        pytest.param("4k3/8/8/8/8/1N6/8/1N2K3 w - - 0 1", "b1d2", "N1d2", id="knights on one file"),
    ],
)
async def test_san_is_as_short_as_possible(client: Client, fen: str, uci: str, san: str) -> None:
    table = await new_table(client, fen=fen)
    assert (await table.play(uci))["pgn"] == f"1.{san}"


async def test_pinned_piece_makes_no_move_ambiguous(client: Client) -> None:
    table = await new_table(client, fen="4k3/4r3/8/8/8/4N3/8/4K1N1 w - - 0 1")
    await table.refuse("Nd5")
    table = await new_table(client, fen="4k3/4r3/8/8/8/4N3/8/2N1K3 w - - 0 1")
    assert (await table.play("Ne2"))["last_move"] == "c1e2"


# --- Null moves -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", ["standard", "chess960", "crazyhouse"])
@pytest.mark.parametrize("text", ["--", "0000", "Z0", "@@@@", "", "e1e1", "null", "pass"])
async def test_null_moves_are_illegal(client: Client, variant: str, text: str) -> None:
    table = await new_table(client, variant=variant)
    assert (await table.refuse(text))["code"] == "illegal_move"
