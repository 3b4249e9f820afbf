"""En passant, promotion and castling; ambiguous moves and null moves.

``test_positions.py`` and ``test_move_texts.py`` compare every move and every spelling with python-chess.
"""

from __future__ import annotations

import pytest

from tests.games.talk import new_table
from tests.helpers import Client

# --- En passant -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["exd6", "e5d6", "exd6+"])
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


@pytest.mark.parametrize(
    ("fen", "legal"),
    [
        pytest.param("4k3/3p4/8/K3P2r/8/8/8/8 b - - 0 1", False, id="both pawns leave the king's rank"),
        pytest.param("4r1k1/3p4/8/4P3/8/8/8/4K3 b - - 0 1", False, id="the capturer is pinned on its file"),
        pytest.param("2b3k1/3p4/8/4PK2/8/8/8/8 b - - 0 1", False, id="the step opens a line of check"),
        pytest.param("6k1/3p4/8/4P3/5K2/8/8/b7 b - - 0 1", True, id="the diagonal stays closed"),
        pytest.param("8/3p4/8/1r2P3/2K5/1r6/8/1r2r2k b - - 0 1", True, id="the captured pawn gives check"),
    ],
)
async def test_en_passant_that_exposes_the_king_is_illegal(client: Client, fen: str, legal: bool) -> None:
    table = await new_table(client, fen=fen)
    state = await table.play("d5")
    assert (state["passant_file"], state["fen"].split()[3]) == ((3, "d6") if legal else (-1, "-"))
    assert ([4, 4] in state["access_map"][5][3]) is legal
    assert ("e5d6" in await table.actions()) is legal
    if not legal:
        assert (await table.refuse("exd6"))["code"] == "illegal_move"


async def test_access_map_shows_en_passant_only_for_the_side_to_move(client: Client) -> None:
    table = await new_table(client, fen="4k3/8/8/8/3pPp2/8/8/4K3 b - e3 0 1")
    assert table.state["access_map"][2][4] == [[3, 3], [3, 5]]
    state = await table.play("Kd8")
    assert state["access_map"][2][4] == []


# --- Promotion --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("letter", "QRBN")
async def test_pawn_promotes_to_each_piece(client: Client, letter: str) -> None:
    for text in (f"a8={letter}", f"a8{letter}", f"a7a8{letter.lower()}"):
        table = await new_table(client, fen="8/P6k/8/8/8/8/7K/8 w - - 0 1")
        state = await table.play(text)
        shown = state["last_move"], state["pgn"], state["board"][7][0]
        assert shown == (f"a7a8{letter.lower()}", f"1.a8={letter}", f"w{letter}")


async def test_promotion_must_name_its_piece(client: Client) -> None:
    table = await new_table(client, fen="8/P6k/8/8/8/P7/7K/8 w - - 0 1")
    for text in ("a8", "a7a8", "a8=", "a8=K", "a8=P", "a7a8k", "Ka8", "Kg2=Q", "a4=Q", "a3a4q"):
        assert (await table.refuse(text))["code"] == "illegal_move", text


async def test_promotion_can_capture_and_mate_and_is_shown_for_black_too(client: Client) -> None:
    table = await new_table(client, fen="1n4k1/P4ppp/8/8/8/8/6p1/K7 w - - 0 9")
    state = await table.play("axb8=R")
    assert (state["pgn"], state["termination"]) == ("9.axb8=R#", "victory_white")
    table = await new_table(client, fen="7k/8/8/8/8/8/p6K/8 b - - 0 9")
    state = await table.play("a1=N")
    assert (state["last_move"], state["pgn"], state["board"][0][0]) == ("a2a1n", "9...a1=N", "bN")


# --- Castling ---------------------------------------------------------------------------------------------------

CASTLING_FEN = "r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R3K2R w KQkq - 0 1"


@pytest.mark.parametrize(
    ("texts", "uci", "san", "row"),
    [
        (["O-O", "0-0", "e1g1", "e1h1", "O-O+"], "e1g1", "O-O", "R4RK1"),
        (["O-O-O", "0-0-0", "e1c1", "e1a1"], "e1c1", "O-O-O", "2KR3R"),
    ],
)
async def test_castling_is_played(client: Client, texts: list[str], uci: str, san: str, row: str) -> None:
    for text in texts:
        table = await new_table(client, fen=CASTLING_FEN)
        state = await table.play(text)
        assert (state["last_move"], state["pgn"], state["available_castles"]) == (uci, f"1.{san}", 0x04 | 0x08)
        assert state["fen"] == f"r3k2r/pppppppp/8/8/8/8/PPPPPPPP/{row} b kq - 1 1"
        state = await table.play(san)  # by Black
        assert (state["available_castles"], state["pgn"]) == (0, f"1.{san} {san}")


async def test_other_spellings_are_no_castling(client: Client) -> None:
    table = await new_table(client, fen=CASTLING_FEN)
    for text in ("o-o", "O-0", "O--O", "OO", "O-O-O-O", "o-o-o", "Kg1", "Kc1", "e1b1"):
        assert (await table.refuse(text))["code"] == "illegal_move", text


@pytest.mark.parametrize(
    ("fen", "kingside", "queenside"),
    [
        pytest.param("4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", True, True, id="free"),
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


@pytest.mark.parametrize(
    ("moves", "castles"),
    [
        (["e1f1"], 0x04 | 0x08),
        (["h1g1"], 0x02 | 0x04 | 0x08),
        (["a1b1"], 0x01 | 0x04 | 0x08),
        (["h1h8"], 0x02 | 0x08),
        (["a1a8"], 0x01 | 0x04),
        (["h1g1", "a8b8", "g1h1", "b8a8"], 0x02 | 0x04),
    ],
)
async def test_castling_rights_are_lost_by_moves_and_captures(client: Client, moves: list[str], castles: int) -> None:
    table = await new_table(client, fen="r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1")
    assert table.state["available_castles"] == 0x0F
    assert (await table.play(*moves))["available_castles"] == castles


# --- Ambiguous moves and null moves -----------------------------------------------------------------------------


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
    ],
)
async def test_san_is_as_short_as_possible(client: Client, fen: str, uci: str, san: str) -> None:
    table = await new_table(client, fen=fen)
    assert (await table.play(uci))["pgn"] == f"1.{san}"


@pytest.mark.parametrize("variant", ["standard", "chess960", "crazyhouse"])
async def test_null_moves_are_illegal(client: Client, variant: str) -> None:
    table = await new_table(client, variant=variant)
    for text in ("--", "0000", "Z0", "@@@@", "", "e1e1", "null", "pass"):
        assert (await table.refuse(text))["code"] == "illegal_move"
