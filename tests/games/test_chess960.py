"""Chess960: every start position, and castling for every placement of king and rooks."""

from __future__ import annotations

from itertools import combinations, product

import chess
import pytest

from gm_protocol.messages import NewGame
from gmd.games.variants import resolve
from tests.games.talk import new_table, refused_game
from tests.helpers import START_FEN, Client
from tests.oracle import Oracle, actions, start_board

#: The files of rook, king and rook in every start position; the tests clear all other squares of the rank.
PLACES = sorted(
    {
        tuple(file for file, letter in enumerate(fen[:8]) if letter in "rk")
        for fen in (chess.Board.from_chess960_pos(number).fen() for number in range(960))
    }
)

QUEENSIDE, KINGSIDE = "O-O-O", "O-O"


def rank_of(pieces: dict[int, str]) -> str:
    """Return one rank of a FEN, given its pieces by file."""
    rank = "".join(pieces.get(file, "1") for file in range(8))
    for empty in range(8, 1, -1):
        rank = rank.replace("1" * empty, str(empty))
    return rank


def cleared(place: tuple[int, ...]) -> tuple[str, str]:
    """Return White's first rank with only king and rooks, and the letters of its rights, kingside first."""
    queenside, king, kingside = place
    return rank_of({queenside: "R", king: "K", kingside: "R"}), "HGFEDCBA"[7 - kingside] + "HGFEDCBA"[7 - queenside]


def castled(place: tuple[int, ...], side: str) -> str:
    """Return White's first rank after castling: king and rook end as in chess, the other rook stays."""
    queenside, _, kingside = place
    if side == KINGSIDE:
        return rank_of({queenside: "R", 6: "K", 5: "R"})
    return rank_of({2: "K", 3: "R", kingside: "R"})


def test_placements_are_all_those_with_the_king_between_the_rooks() -> None:
    assert list(combinations(range(8), 3)) == PLACES


def test_start_positions_have_the_numbers_of_scharnagl() -> None:
    for number in range(960):
        options = resolve(
            NewGame(player_white=1, player_black=2, variant="chess960", position=number), {}, 0, strict=True
        )
        assert options.fen == start_board("chess960", position=number).fen(shredder=True)


async def test_new_game_has_the_default_options(client: Client) -> None:
    table = await new_table(client, variant="chess960", position=518)
    oracle = Oracle(start_board("chess960", position=518), "chess960", "automatic")
    assert table.state == oracle.state(table.id)
    assert table.options == {
        "variant": "chess960",
        "fen": START_FEN.replace("KQkq", "HAha"),
        "position": 518,
        "draws": "automatic",
        "max_moves": None,
        "clock": None,
        "illegal_move": "refuse",
    }


def blocked(place: tuple[int, ...], side: str) -> bool:
    """Return whether the other rook stands where king or rook must go."""
    return place[0] in (5, 6) if side == KINGSIDE else place[2] in (2, 3)


@pytest.mark.parametrize("side", [KINGSIDE, QUEENSIDE])
async def test_castling_works_for_every_placement_of_king_and_rooks(client: Client, side: str) -> None:
    for number, place in enumerate(PLACES):
        first, rights = cleared(place)
        start = f"{first.lower()}/pppppppp/8/8/8/8/PPPPPPPP/{first} w {rights}{rights.lower()} - 0 1"
        rook = place[2] if side == KINGSIDE else place[0]
        uci = f"{'abcdefgh'[place[1]]}1{'abcdefgh'[rook]}1"
        text = (side, side.replace("O", "0"), uci)[number % 3]
        table = await new_table(client, variant="chess960", fen=start)
        assert (table.state["fen"], table.state["available_castles"]) == (start, 15)
        assert (uci in await table.actions()) is not blocked(place, side)
        if blocked(place, side):
            assert (await table.refuse(text))["code"] == "illegal_move"
            continue
        after = castled(place, side)
        state = await table.play(text)
        assert (state["last_move"], state["pgn"], state["available_castles"]) == (uci, f"1.{side}", 0x04 | 0x08)
        assert state["fen"] == f"{first.lower()}/pppppppp/8/8/8/8/PPPPPPPP/{after} b {rights.lower()} - 1 1"
        state = await table.play(uci.replace("1", "8"))
        assert (state["available_castles"], state["pgn"]) == (0, f"1.{side} {side}")
        assert state["fen"] == f"{after.lower()}/pppppppp/8/8/8/8/PPPPPPPP/{after} w - - 2 2"


@pytest.mark.slow
async def test_castling_is_legal_exactly_when_python_chess_says_so(client: Client) -> None:
    for place, file in product(PLACES, range(8)):
        first, rights = cleared(place)
        fens = [f"3k4/3p4/8/{rank_of({file: 'r'})}/8/8/8/{first} w {rights} - 0 1"]  # a rook attacks the file
        if file not in place:
            pieces = dict(zip(place, "RKR", strict=True))
            fens.append(f"3k4/3p4/8/8/8/8/8/{rank_of({**pieces, file: 'N'})} w {rights} - 0 1")
            # A rook on the first rank: the king may be in check once its own rook moves away from between.
            fens.append(f"3k4/3p4/8/8/8/8/8/{rank_of({**pieces, file: 'r'})} w {rights} - 0 1")
        for fen in fens:
            table = await new_table(client, variant="chess960", fen=fen)
            assert await table.actions() == actions(start_board("chess960", fen=fen)), fen


async def test_rook_that_shields_its_king_cannot_castle_away(client: Client) -> None:
    table = await new_table(client, variant="chess960", fen="4k3/8/8/8/8/8/8/rRK5 w B - 0 1")
    for text in ("O-O-O", "c1b1"):
        assert (await table.refuse(text))["code"] == "illegal_move"
    table = await new_table(client, variant="chess960", fen="4k3/8/8/8/8/8/8/1RK5 w B - 0 1")
    assert (await table.play("O-O-O"))["fen"] == "4k3/8/8/8/8/8/8/2KR4 b - - 1 1"


async def test_position_with_castling_as_the_only_move_is_no_stalemate(client: Client) -> None:
    table = await new_table(client, variant="chess960", fen="2k4r/8/8/8/8/6p1/6P1/5KRB b G - 0 1")
    state = await table.play("Re8")
    assert (state["termination"], state["in_check"]) == ("available_move", False)
    assert await table.actions() == ["f1g1"]
    assert (await table.play("O-O"))["fen"] == "2k1r3/8/8/8/8/6p1/6P1/5RKB b - - 2 2"
    table = await new_table(client, variant="chess960", fen="2k4r/8/8/8/8/6p1/6P1/5KRB b - - 0 1")
    assert (await table.play("Re8"))["termination"] == "stalemate"


async def test_king_move_by_two_squares_castles_from_the_classical_squares(client: Client) -> None:
    """python-chess reads it so: from e1, ``e1g1`` castles too."""
    fen = "r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R3K2R w HAha - 0 1"
    for text, uci in (("e1g1", "e1h1"), ("e1c1", "e1a1")):
        table = await new_table(client, variant="chess960", fen=fen)
        assert (await table.play(text))["last_move"] == uci


async def test_king_step_next_to_its_rook_is_no_castling(client: Client) -> None:
    fen = "4k3/8/8/8/8/8/8/R4K1R w HA - 0 1"
    table = await new_table(client, variant="chess960", fen=fen)
    state = await table.play("f1g1")
    assert (state["last_move"], state["pgn"], state["available_castles"]) == ("f1g1", "1.Kg1", 0)
    table = await new_table(client, variant="chess960", fen=fen)
    assert (await table.play("f1h1"))["pgn"] == "1.O-O"


async def test_castling_rights_are_lost_when_king_or_rook_moves_or_is_captured(client: Client) -> None:
    fen = "1r2k1r1/8/8/8/8/8/8/1R2K1R1 w GBgb - 0 1"
    for moves, castles in ((["Rb2"], 0x0D), (["Rg2"], 0x0E), (["Kd1"], 0x0C), (["Rxb8+"], 0x05), (["Rxg8+"], 0x0A)):
        table = await new_table(client, variant="chess960", fen=fen)
        assert (await table.play(*moves))["available_castles"] == castles


@pytest.mark.parametrize("spelling", ["GBgb", "KQkq"])
async def test_castling_rights_may_be_written_by_file_or_by_side(client: Client, spelling: str) -> None:
    fen = f"1r2k1r1/8/8/8/8/8/8/1R2K1R1 w {spelling} - 0 1"
    table = await new_table(client, variant="chess960", fen=fen)
    assert table.state["start_fen"] == table.options["fen"] == "1r2k1r1/8/8/8/8/8/8/1R2K1R1 w GBgb - 0 1"


async def test_inner_rook_can_castle_without_the_outer_one(client: Client) -> None:
    table = await new_table(client, variant="chess960", fen="4k3/8/8/8/8/8/8/4KR1R w F - 0 1")
    assert table.state["fen"].split()[2] == "F"
    state = await table.play("O-O")
    assert (state["last_move"], state["fen"]) == ("e1f1", "4k3/8/8/8/8/8/8/5RKR b - - 1 1")


async def test_castling_rights_without_their_rook_are_refused(client: Client) -> None:
    reply = await refused_game(client, variant="chess960", fen="4k3/8/8/8/8/8/8/4K2R w G - 0 1")
    assert reply["code"] == "bad_position"
