"""The expected result of a request is that of the move which it leads to, by the rules of blind chess."""

from __future__ import annotations

import chess
import pytest
from chess import Board, Move

from gm_bots.expectation.engine import MATE, Stockfish
from gm_bots.expectation.results import WON, Judge, expected_result, fen_of, score_of
from gm_bots.unseen import Unseen
from tests.bots.expectation.asked import Unasked, stockfish

DEPTH = 4


def results(engine: Stockfish, fen: str, *requests: str | None, unseen: float = 0.2) -> list[float]:
    judge = Judge(engine, DEPTH, Unseen(unseen))
    judge.begin([None if request is None else Move.from_uci(request) for request in requests])
    return judge.results(Board(fen))


def test_capture_of_the_king_is_won_and_needs_no_score_of_a_move() -> None:
    with stockfish() as engine:
        taking, other = results(engine, "4k3/8/8/8/8/8/8/4RK2 w - - 0 1", "e1e8", "f1g1")
    assert taking == WON
    assert 0.5 < other < WON


def test_any_longer_move_along_the_line_captures_the_king_as_well() -> None:
    with stockfish() as engine:
        assert results(engine, "8/8/4k3/8/8/8/8/4RK2 w - - 0 1", "e1e8", "e1e7") == [WON, WON]


def test_move_that_leaves_the_king_attacked_counts_on_being_overlooked() -> None:
    with stockfish() as engine:
        staying, passing, leaving = results(engine, "4rk2/8/8/8/8/8/P5RR/4K3 w - - 0 1", "a2a3", None, "e1d1")
    assert staying == passing == 0.2 * 0.5 < leaving


@pytest.mark.parametrize(
    ("fen", "exposing"),
    [("4k3/8/8/1b6/8/8/8/4K2R w K - 0 1", "e1f1"), ("4k3/8/8/8/7b/8/8/4K2R w K - 0 1", "e1f2")],
    ids=["through check", "out of check"],
)
def test_castling_that_chess_forbids_is_a_move_like_others(fen: str, exposing: str) -> None:
    with stockfish() as engine:
        castling, exposed = results(engine, fen, "e1g1", exposing)
    assert castling > 0.4 > exposed == 0.2 * 0.5


def test_engine_is_not_asked_where_both_kings_are_attacked() -> None:
    judge = Judge(Unasked(), DEPTH, Unseen(0.2))
    judge.begin([Move.from_uci("e1e8"), Move.from_uci("e1e2"), None])
    assert judge.results(Board("r3k3/8/8/8/8/8/8/K3R3 w - - 0 1")) == [WON, 0.1, 0.1]


def test_refused_request_is_a_pass() -> None:
    with stockfish() as engine:
        refused, passing, made = results(engine, chess.STARTING_FEN, "e2d3", None, "e2e4")
    assert refused == passing
    assert made != passing


def test_slide_ends_at_the_first_piece_in_its_way() -> None:
    fen = "4k3/8/8/3q4/8/8/8/3RK3 w - - 0 1"
    with stockfish() as engine:
        further, capture, before = results(engine, fen, "d1d8", "d1d5", "d1d2")
    assert further == capture > before


def test_quiet_check_may_be_overlooked_and_a_capture_may_not() -> None:
    quiet = "4k3/8/8/8/8/8/7R/4K3 w - - 0 1", "h2h8"
    capture = "4k2n/8/8/8/8/8/7R/4K3 w - - 0 1", "h2h8"
    with stockfish() as engine:
        seen, unseen = (results(engine, *quiet, unseen=chance)[0] for chance in (0.0, 0.5))
        assert unseen == pytest.approx(seen + 0.5 * (WON - seen))
        seen, unseen = (results(engine, *capture, unseen=chance)[0] for chance in (0.0, 0.5))
        assert unseen == seen


def test_refined_results_are_of_the_same_requests() -> None:
    board = Board("4k3/8/8/3p4/8/8/8/3RK3 w - - 0 1")
    requests = [Move.from_uci(uci) for uci in ("d1d8", "e1e2", "d1d5")]
    with stockfish() as engine:
        judge = Judge(engine, DEPTH, Unseen(0.0))
        judge.begin([*requests, None])
        further, capture, passing = judge.refined(board, [0, 2, 3], 8)
        assert further == capture != judge.results(board)[2]
        assert passing == judge.results(board)[3]


def test_position_is_searched_once_a_turn() -> None:
    with stockfish() as engine:
        judge = Judge(engine, DEPTH, Unseen(0.2))
        judge.begin([None])
        for _ in range(2):
            judge.results(Board())
        assert judge.searched == 1
        judge.forget()
        judge.begin([None])
        judge.results(Board())
        assert judge.searched == 2


@pytest.mark.parametrize("score", [-900, -50, 0, 35, 400, 5_000, MATE - 3, 2 - MATE])
def test_expected_results_of_both_sides_sum_to_one(score: int) -> None:
    assert 0 < expected_result(score) < WON
    assert expected_result(score) + expected_result(-score) == pytest.approx(1)


def test_higher_scores_and_sooner_mates_have_higher_results() -> None:
    rising = [-400, 0, 400, 700, 1_500, 2_500, MATE - 9, MATE - 2, MATE - 1]
    results = [expected_result(score) for score in rising]
    assert results == sorted(set(results))


def test_score_comes_back_from_its_result() -> None:
    assert score_of(expected_result(150)) == pytest.approx(1.5)
    assert score_of(WON) == pytest.approx(12, abs=0.1)


def test_stockfish_is_told_of_moves_without_progress_but_never_of_a_draw() -> None:
    board = Board("4k3/8/8/8/8/8/4P3/4K3 w - - 30 40")
    assert fen_of(board) == "4k3/8/8/8/8/8/4P3/4K3 w - - 30 1"
    board.halfmove_clock = 300
    assert fen_of(board).split()[4] == "80"
