"""Links to lichess's analysis board."""

from __future__ import annotations

import chess
import pytest

from gmd.http.pages.lichess import analysis_address

FEN = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"
MOVES = ["e4", "e5", "Qh5+", "Ke7", "Qxe5#"]


@pytest.mark.parametrize(
    ("variant", "start", "moves", "address"),
    [
        ("standard", chess.STARTING_FEN, MOVES, "pgn/e4_e5_Qh5%2B_Ke7_Qxe5%23#3"),
        ("standard", FEN, MOVES, f"standard/{FEN.replace(' ', '_')}"),
        ("chess960", chess.STARTING_FEN, MOVES, f"chess960/{FEN.replace(' ', '_')}"),
        ("standard", chess.STARTING_FEN, [], f"standard/{FEN.replace(' ', '_')}"),
        ("standard", chess.STARTING_FEN, MOVES * 300, f"standard/{FEN.replace(' ', '_')}"),
    ],
)
def test_game_is_named_by_its_moves_where_lichess_takes_them_and_else_by_its_position(
    variant: str, start: str, moves: list[str], address: str
) -> None:
    assert analysis_address(variant, start, moves, 3, FEN) == f"https://lichess.org/analysis/{address}"
