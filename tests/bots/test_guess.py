"""The blind player's single guess at the position follows its observations."""

from __future__ import annotations

import chess
import pytest

from gm_bots.minimax.guess import Guess
from gm_client.rbc import simulate_sense

START = chess.Board()


def own(board: chess.Board, color: chess.Color) -> chess.Board:
    """Return what a player sees of a true position."""
    shown = board.copy(stack=False)
    for square in chess.scan_forward(board.occupied_co[not color]):
        shown.remove_piece_at(square)
    return shown


def guessed(true: chess.Board, color: chess.Color = chess.WHITE) -> Guess:
    """Return a guess that is right."""
    guess = Guess(true, color)
    guess.opponent_moved(own(true, color), None)
    return guess


def test_guess_begins_with_the_start_position() -> None:
    guess = guessed(START)
    assert guess.board.fen() == START.fen()
    assert guess.legal_board() == START


def test_piece_that_appears_has_left_its_old_square() -> None:
    guess, true = guessed(START), START.copy()
    true.push_san("e4")
    guess.moved(chess.Move.from_uci("e2e4"), chess.Move.from_uci("e2e4"), None)
    true.push_san("Nf6")
    guess.opponent_moved(own(true, chess.WHITE), None)
    guess.saw(simulate_sense(true, chess.F6))
    assert guess.board.board_fen() == true.board_fen()


@pytest.mark.parametrize("reply", ["d5", "d6", "a5", "Nc6"])
def test_piece_missing_from_its_square_is_guessed_elsewhere(reply: str) -> None:
    guess, true = guessed(START), START.copy()
    true.push_san("e4")
    guess.moved(chess.Move.from_uci("e2e4"), chess.Move.from_uci("e2e4"), None)
    true.push_san(reply)
    guess.opponent_moved(own(true, chess.WHITE), None)
    for square in (chess.B7, chess.G7, chess.D6):
        guess.saw(simulate_sense(true, square))
    assert guess.board.board_fen() == true.board_fen()


def test_missing_king_is_guessed_near_its_square() -> None:
    true = chess.Board("8/8/8/8/4k3/8/8/K6R w - - 0 1")
    guess = guessed(true)
    guess.saw([(square, None) for square in chess.SquareSet(chess.BB_KING_ATTACKS[chess.E4] | chess.BB_E4)])
    king = guess.board.king(chess.BLACK)
    assert king is not None
    assert chess.square_distance(king, chess.E4) == 2


def test_capture_is_guessed_to_be_by_the_least_possible_piece() -> None:
    true = chess.Board("4k3/8/3p1n2/4P3/8/8/8/4K3 b - - 0 1")
    guess = guessed(true)
    true.push_san("dxe5")
    guess.opponent_moved(own(true, chess.WHITE), chess.E5)
    assert guess.board.board_fen() == true.board_fen()
    assert guess.best_sense(range(64)) in chess.SquareSet(chess.BB_KING_ATTACKS[chess.E5] | chess.BB_E5)


def test_pawn_that_is_guessed_to_capture_on_the_last_rank_is_a_queen() -> None:
    true = chess.Board("4k3/8/8/8/8/8/1p2K3/R7 b - - 0 1")
    guess = guessed(true)
    true.push_san("bxa1=N")
    guess.opponent_moved(own(true, chess.WHITE), chess.A1)
    board = guess.legal_board()
    assert board is not None
    assert board.piece_at(chess.A1) == chess.Piece.from_symbol("q")


def test_seen_capturer_is_placed_and_the_wrongly_guessed_one_put_back() -> None:
    """A knight has come to e5 unseen, and captures on f3, where no known piece could."""
    guess, true = guessed(START), START.copy()
    for mine, reply in (("Nf3", "Nc6"), ("Nc3", "Ne5"), ("e4", "Nxf3+")):
        move = true.parse_san(mine)
        guess.moved(move, move, None)
        true.push(move)
        taken = true.parse_san(reply)
        captured = taken.to_square if true.is_capture(taken) else None
        true.push(taken)
        guess.opponent_moved(own(true, chess.WHITE), captured)
    assert guess.best_sense(range(64)) in chess.SquareSet(chess.BB_KING_ATTACKS[chess.F3] | chess.BB_F3)
    guess.saw(simulate_sense(true, chess.F3))
    assert guess.board.piece_at(chess.F3) == chess.Piece.from_symbol("n")
    assert guess.board.pieces(chess.PAWN, chess.BLACK) == true.pieces(chess.PAWN, chess.BLACK)
    assert len(guess.board.pieces(chess.KNIGHT, chess.BLACK)) == 2


def test_piece_seen_on_anothers_square_stays_in_the_guess() -> None:
    guess = guessed(chess.Board("4k3/8/8/3b4/8/8/8/n3K3 w - - 0 1"))
    true = chess.Board("4k3/8/8/3n4/8/8/8/b3K3 w - - 0 1")
    guess.opponent_moved(own(true, chess.WHITE), None)
    guess.saw(simulate_sense(true, chess.D5))
    assert guess.board.piece_at(chess.D5) == chess.Piece.from_symbol("n")


def test_captured_piece_and_disproved_blocker_leave_the_guess() -> None:
    guess = guessed(chess.Board("4k3/8/8/3p4/4P3/8/8/4K3 w - - 0 1"))
    guess.moved(chess.Move.from_uci("e4d5"), None, None)
    assert guess.board.piece_at(chess.D5) is None
    guess = guessed(chess.Board("4k3/3p4/8/8/8/8/8/3RK3 w - - 0 1"))
    guess.moved(chess.Move.from_uci("d1d7"), chess.Move.from_uci("d1d7"), chess.D7)
    assert guess.board.piece_at(chess.D7) == chess.Piece.from_symbol("R")


def test_king_that_can_be_taken_is_taken() -> None:
    guess = guessed(chess.Board("4k3/8/8/8/8/8/8/4R2K w - - 0 1"))
    taking = chess.Move.from_uci("e1e8")
    assert guess.takes_king([chess.Move.from_uci("e1e2"), taking]) == taking
    assert guess.takes_king([chess.Move.from_uci("e1e2")]) is None
    assert guess.legal_board() is None


def test_king_that_has_moved_loses_its_castling_rights() -> None:
    """The engine refuses castling rights without a king at home."""
    guess, true = guessed(START), chess.Board("rnbq1bnr/ppppkppp/8/4p3/4P3/8/PPPPKPPP/RNBQ1BNR w - - 2 3")
    guess.opponent_moved(own(chess.Board("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2"), True), None)
    guess.saw(simulate_sense(true, chess.E7))
    board = guess.legal_board()
    assert board is not None
    assert board.king(chess.BLACK) == chess.E7
    assert board.castling_rights == chess.BB_A1 | chess.BB_H1


def test_guess_senses_the_squares_not_seen_for_longest() -> None:
    guess = guessed(START)
    inner = [square for square in chess.SQUARES if 0 < square % 8 < 7 and 0 < square // 8 < 7]
    seen = set()
    for _ in range(3):
        square = guess.best_sense(inner)
        seen.add(square)
        guess.saw(simulate_sense(START, square))
        guess.opponent_moved(own(START, chess.WHITE), None)
    assert len(seen) == 3
