"""The evaluation is the Simplified Evaluation Function, and is symmetric between the sides."""

from __future__ import annotations

import chess
import pytest

from gm_bots.minimax.evaluation import evaluate, is_end_game
from gm_bots.minimax.position import Position
from tests.bots.positions import PERFT, random_boards
from tests.proofs import cases


def test_start_position_is_even() -> None:
    assert evaluate(chess.Board()) == 0


@pytest.mark.parametrize(
    ("fen", "expected"),
    [
        # Kings on e1 and e8 count 0 for both in the middle game, and -30 in the end game, which this is without a
        # queen.
        ("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", 100 - 20),
        ("4k3/8/8/8/4P3/8/8/4K3 w - - 0 1", 100 + 20),
        ("4k3/P7/8/8/8/8/8/4K3 w - - 0 1", 100 + 50),
        ("4k3/8/8/8/8/8/p7/4K3 w - - 0 1", -100 - 50),
        ("4k3/8/8/8/8/8/8/N3K3 w - - 0 1", 320 - 50),
        ("4k3/8/8/3N4/8/8/8/4K3 w - - 0 1", 320 + 20),
        ("4k3/8/8/8/8/8/1B6/4K3 w - - 0 1", 330 + 5),
        ("4k3/R7/8/8/8/8/8/4K3 w - - 0 1", 500 + 5),
        ("4k3/8/8/8/8/8/8/3RK3 w - - 0 1", 500 + 5),
        ("4k3/8/8/8/8/8/7r/4K3 w - - 0 1", -500 - 5),
        ("4k3/8/8/8/Q7/8/8/4K3 w - - 0 1", 900 + 0),
        ("4k3/8/8/7Q/8/8/8/4K3 w - - 0 1", 900 - 5),  # the queen's table is not symmetric: a4 counts 0, h5 -5
        # The kings: home is best in the middle game, the centre in the end game.
        ("3qk2r/8/8/8/8/8/8/3QK2R w - - 0 1", 0),
        ("3qk2r/8/8/8/8/8/8/3Q2KR w - - 0 1", 30),
        ("3qk2r/8/8/8/4K3/8/8/3Q3R w - - 0 1", -40),
        ("4k2r/8/8/8/4K3/8/8/7R w - - 0 1", 40 + 30),
    ],
)
def test_values_match_the_tables(fen: str, expected: int) -> None:
    assert evaluate(chess.Board(fen)) == expected


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        ("", True),
        ("RRBBNN", True),
        ("Q", True),
        ("QN", True),
        ("QB", True),
        ("QBN", False),
        ("QR", False),
        ("QQ", False),
        ("QPPPP", True),
    ],
)
def test_end_game_has_no_queens_or_each_queen_with_at_most_one_minor_piece(pieces: str, expected: bool) -> None:
    board = chess.Board("4k3/8/8/8/8/8/8/4K3 w - - 0 1")
    for square, symbol in zip(chess.SquareSet(chess.BB_RANK_3), pieces, strict=False):
        board.set_piece_at(square, chess.Piece.from_symbol(symbol))
    assert is_end_game(board) is is_end_game(board.mirror()) is expected
    board.set_piece_at(chess.D8, chess.Piece.from_symbol("q"))
    assert is_end_game(board) is expected
    board.set_piece_at(chess.A8, chess.Piece.from_symbol("r"))
    assert is_end_game(board) is False


def test_mirrored_position_has_the_negated_score() -> None:
    boards = [*map(chess.Board, PERFT), *random_boards(cases(40), seed=1)]
    for board in boards:
        assert evaluate(board.mirror()) == -evaluate(board)
        assert Position(board.mirror()).evaluate() == Position(board).evaluate()
