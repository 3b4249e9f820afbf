"""Crazyhouse: captured pieces change sides and can be dropped."""

from __future__ import annotations

import pytest

from tests.games.talk import Table, new_table, refused_game
from tests.helpers import Client


async def house(client: Client, fen: str, **options: str) -> Table:
    return await new_table(client, variant="crazyhouse", fen=fen, **options)


async def test_new_game_has_the_default_options_and_empty_pockets(client: Client) -> None:
    table = await new_table(client, variant="crazyhouse")
    assert table.options == {
        "variant": "crazyhouse",
        "fen": "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR[] w KQkq - 0 1",
        "position": 518,
        "draws": "automatic",
        "max_moves": None,
        "clock": None,
        "illegal_move": "refuse",
    }
    assert table.state["pockets"] == {"white": "", "black": ""}


async def test_captured_pieces_go_to_the_pocket_of_the_captor(client: Client) -> None:
    table = await new_table(client, variant="crazyhouse")
    state = await table.play("e4", "d5", "exd5", "Qxd5", "Nc3", "Qxg2", "Bxg2")
    assert state["pockets"] == {"white": "QP", "black": "pp"}
    assert state["fen"] == "rnb1kbnr/ppp1pppp/8/8/8/2N5/PPPP1PBP/R1BQK1NR[QPpp] b KQkq - 0 4"


@pytest.mark.parametrize(
    ("text", "uci", "san", "left"),
    [
        ("N@e5+", "N@e5", "N@e5", "QRBP"),
        ("n@e5", "N@e5", "N@e5", "QRBP"),
        ("Q@e5", "Q@e5", "Q@e5+", "RBNP"),
        ("P@e5", "P@e5", "@e5", "QRBN"),
        ("@d7", "P@d7", "@d7+", "QRBN"),
    ],
)
async def test_drop_is_read_in_every_notation_and_leaves_the_pocket(
    client: Client, text: str, uci: str, san: str, left: str
) -> None:
    table = await house(client, "4k3/8/8/8/8/8/8/4K3[PNBRQ] w - - 0 1")
    assert table.state["pockets"] == {"white": "QRBNP", "black": ""}
    state = await table.play(text)
    assert (state["last_move"], state["pgn"], state["pockets"]["white"]) == (uci, f"1.{san}", left)


async def test_illegal_drop_is_refused(client: Client) -> None:
    table = await house(client, "4k3/8/8/8/8/8/8/4K3[PNp] w - - 0 1")
    for text in ("P@e1", "@h8", "K@e4", "N@e8", "N@i9", "N@", "@", "NN@e4", "N@e4=Q", "Q@e4", "e4@N"):
        assert (await table.refuse(text))["code"] == "illegal_move", text
    table = await new_table(client, fen="4k3/8/8/8/8/8/4P3/4K3 w - - 0 1")  # chess has no drops
    for text in ("P@e4", "@e4"):
        assert (await table.refuse(text))["code"] == "illegal_move", text


async def test_actions_contain_every_drop(client: Client) -> None:
    table = await house(client, "4k3/8/8/8/8/8/8/4K3[Pn] w - - 0 1")
    actions = await table.actions()
    drops = [uci for uci in actions if "@" in uci]
    assert drops == sorted(f"P@{file}{rank}" for file in "abcdefgh" for rank in range(2, 8))
    assert [uci for uci in actions if "@" not in uci] == ["e1d1", "e1d2", "e1e2", "e1f1", "e1f2"]


async def test_access_map_contains_no_drops(client: Client) -> None:
    table = await house(client, "4k3/8/8/8/8/8/8/4K3[QRBNPqrbnp] w - - 0 1")
    assert table.state["access_map"] == (await house(client, "4k3/8/8/8/8/8/8/4K3[] w - - 0 1")).state["access_map"]


async def test_drop_can_block_a_check(client: Client) -> None:
    table = await house(client, "4k3/8/8/8/4r3/8/8/3NKN2[Pn] w - - 0 1")
    assert [uci for uci in await table.actions() if "@" in uci] == ["P@e2", "P@e3"]
    assert (await table.play("P@e3"))["in_check"] is False


async def test_drop_can_mate(client: Client) -> None:
    table = await house(client, "6k1/5ppp/8/8/8/8/8/6K1[R] w - - 0 1")
    state = await table.play("R@e8")
    assert (state["termination"], state["pgn"]) == ("victory_white", "1.R@e8#")
    table = await house(client, "6k1/5ppp/8/8/8/8/8/6K1[Rb] w - - 0 1")
    state = await table.play("R@e8")
    assert (state["termination"], state["pgn"]) == ("available_move", "1.R@e8+")
    assert await table.actions() == ["B@f8"]


async def test_player_who_can_drop_is_not_stalemated(client: Client) -> None:
    table = await house(client, "7k/5Q2/8/8/8/8/8/K7[] b - - 0 1")
    assert table.state["termination"] == "stalemate"
    table = await house(client, "7k/5Q2/8/8/8/8/8/K7[p] b - - 0 1")
    assert table.state["termination"] == "available_move"
    assert all(uci.startswith("P@") for uci in await table.actions())


async def test_captured_promoted_piece_becomes_a_pawn_in_the_pocket(client: Client) -> None:
    table = await house(client, "1n5k/P7/8/8/8/8/6r1/K7[] w - - 0 1")
    state = await table.play("axb8=Q+")
    assert (state["fen"], state["pockets"]) == ("1Q~5k/8/8/8/8/8/6r1/K7[N] b - - 0 1", {"white": "N", "black": ""})
    assert state["board"][7][1] == "wQ"
    state = await table.play("Rg8", "Qb2+", "Rg7", "Qxg7+", "Kxg7")
    assert (state["fen"], state["pockets"]) == ("8/6k1/8/8/8/8/8/K7[RNp] w - - 0 4", {"white": "RN", "black": "p"})


async def test_dropped_piece_keeps_its_type_and_has_no_history(client: Client) -> None:
    table = await house(client, "4k3/8/8/3p4/8/8/8/4K3[Q] w - - 0 1")
    assert (await table.play("Q@c4", "dxc4"))["pockets"] == {"white": "", "black": "q"}
    table = await house(client, "4k3/8/8/8/3p4/8/8/4K3[P] w - - 0 1")
    state = await table.play("P@e2", "Kd8", "e4")
    assert (state["passant_file"], state["fen"]) == (4, "3k4/8/8/8/3pP3/8/8/4K3[] b - e3 0 2")
    table = await house(client, "4k3/8/8/8/8/8/8/4K3[Rn] w - - 0 1")
    await table.play("R@h1", "N@a8")
    assert (await table.refuse("O-O"))["code"] == "illegal_move"


@pytest.mark.parametrize("pocket", ["PQNRBbrnqp", "qrbnpQRBNP"])
async def test_pockets_are_shown_in_fixed_order(client: Client, pocket: str) -> None:
    table = await house(client, f"4k3/8/8/8/8/8/8/4K3[{pocket}] w - - 0 1")
    assert table.state["pockets"] == {"white": "QRBNP", "black": "qrbnp"}
    assert table.state["fen"] == "4k3/8/8/8/8/8/8/4K3[QRBNPqrbnp] w - - 0 1"


@pytest.mark.parametrize(
    ("fen", "why"),
    [
        ("4k3/8/8/8/8/8/8/4K3[K] w - - 0 1", "a king in hand"),
        (f"4k3/8/8/8/8/8/8/4K3[{'P' * 16}{'q' * 15}] w - - 0 1", "more than 32 pieces on board and in hand"),
        ("4k3/8/8/8/8/8/8/4K3[X] w - - 0 1", ""),
        ("4k3/8/8/8/8/8/8/4K3[P w - - 0 1", ""),
    ],
)
async def test_impossible_pocket_is_refused(client: Client, fen: str, why: str) -> None:
    reply = await refused_game(client, variant="crazyhouse", fen=fen)
    assert reply["code"] == "bad_position"
    assert why in reply["error"]


# --- From a Chess960 start --------------------------------------------------------------------------------------


async def test_chess960_start_castles_as_in_chess960(client: Client) -> None:
    table = await new_table(client, variant="crazyhouse", position=342)
    assert table.state["fen"] == "nrbkqbrn/pppppppp/8/8/8/8/PPPPPPPP/NRBKQBRN[] w GBgb - 0 1"
    table = await house(client, "1r1k2r1/pppppppp/8/8/8/8/PPPPPPPP/1R1K2R1[] w GBgb - 0 1")
    assert (await table.play("d1g1"))["fen"] == "1r1k2r1/pppppppp/8/8/8/8/PPPPPPPP/1R3RK1[] b gb - 1 1"
    assert (await table.play("O-O-O"))["last_move"] == "d8b8"


async def test_classical_start_castles_as_in_chess(client: Client) -> None:
    for options in ({"position": 518}, {"seed": 518}, {"fen": "r3k2r/8/8/8/8/8/8/R3K2R[] w KQkq - 0 1"}):
        table = await new_table(client, variant="crazyhouse", **options)
        assert table.state["fen"].split()[2] == "KQkq"
    assert (await table.play("e1g1"))["last_move"] == "e1g1"


@pytest.mark.parametrize("rights", ["GBgb", "KQkq"])
async def test_fen_of_a_chess960_start_castles_as_in_chess960(client: Client, rights: str) -> None:
    table = await house(client, f"1r1k2r1/8/8/8/8/8/8/1R1K2R1[] w {rights} - 0 1")
    assert table.state["fen"].split()[2] == "GBgb"
    assert "d1b1" in await table.actions()


async def test_rights_written_by_file_castle_as_in_chess960_on_classical_squares_too(client: Client) -> None:
    """Some Chess960 starts have king and rooks there: a FEN that a game shows must begin the same game."""
    table = await new_table(client, variant="crazyhouse", position=524)
    assert table.state["fen"] == "rbnqknbr/pppppppp/8/8/8/8/PPPPPPPP/RBNQKNBR[] w HAha - 0 1"
    again = await house(client, table.state["fen"])
    assert again.state["fen"] == table.state["fen"]
    table = await house(client, "r3k2r/8/8/8/8/8/8/R3K2R[] w HAha - 0 1")
    assert (await table.play("e1h1"))["last_move"] == "e1h1"
