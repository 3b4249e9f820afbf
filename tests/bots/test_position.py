"""Moves are made and taken back by the rules; the score, the key and the state for draws follow."""

from __future__ import annotations

import random

import chess
import pytest

from gm_bots.minimax.evaluation import evaluate, is_end_game
from gm_bots.minimax.generation import legal_moves, pseudo_legal_moves
from gm_bots.minimax.hashing import key_of
from gm_bots.minimax.position import Position, decode, encode
from tests.bots.positions import PERFT, random_boards
from tests.proofs import cases, in_processes

#: All attributes that a position keeps.
KEPT = (
    "squares", "bitboards", "colors", "kings", "rights", "ep_square", "score", "key", "keys", "turn", "halfmove_clock",
    "end_game", "dead",
)  # fmt: skip


def snapshot(position: Position) -> dict[str, object]:
    return {name: value[:] if isinstance(value := getattr(position, name), list) else value for name in KEPT}


def assert_is(position: Position, board: chess.Board) -> None:
    """Check that a position updated by moves equals one made afresh from the board; key and score are python-chess's
    and ours.
    """
    assert position.key == key_of(board), board.fen()
    assert position.evaluate() == (evaluate(board) if board.turn else -evaluate(board)), board.fen()
    assert (position.end_game, position.dead) == (is_end_game(board), board.is_insufficient_material()), board.fen()
    assert (position.halfmove_clock, position.in_check()) == (board.halfmove_clock, board.is_check()), board.fen()


def checked_perft(position: Position, board: chess.Board, depth: int) -> int:
    """Count the sequences, comparing everything at every node with python-chess."""
    assert_is(position, board)
    if depth == 0:
        return 1
    moves = legal_moves(position)
    assert sorted(map(str, map(decode, moves))) == sorted(map(str, board.legal_moves)), board.fen()
    before, count = snapshot(position), 0
    for move in moves:
        position.make(move)
        board.push(decode(move))
        count += checked_perft(position, board, depth - 1)
        board.pop()
        position.unmake()
    assert snapshot(position) == before, board.fen()
    return count


def perft(position: Position, depth: int) -> int:
    """Count the sequences as a search generates them."""
    in_check, count = position.in_check(), 0
    for move in pseudo_legal_moves(position):
        if position.make_legal(move, in_check):
            count += perft(position, depth - 1) if depth > 1 else 1
            position.unmake()
    return count


def checked_after(fen: str, uci: str, depth: int) -> int:
    """Count the checked sequences after one move; this may run in another process."""
    board = chess.Board(fen)
    position = Position(board)
    position.make(encode(chess.Move.from_uci(uci)))
    board.push_uci(uci)
    return checked_perft(position, board, depth)


@pytest.mark.parametrize("fen", PERFT)
def test_every_node_of_a_shallow_perft_matches_python_chess(fen: str) -> None:
    for depth in (1, 2):
        assert checked_perft(Position(chess.Board(fen)), chess.Board(fen), depth) == PERFT[fen][depth - 1]


@pytest.mark.nightly
@pytest.mark.parametrize("fen", PERFT)
def test_every_node_of_perft_to_depth_four_matches_python_chess(fen: str) -> None:
    jobs = [(fen, move.uci(), 3) for move in chess.Board(fen).legal_moves]
    assert sum(in_processes(checked_after, jobs)) == PERFT[fen][3]


@pytest.mark.slow
@pytest.mark.parametrize("fen", PERFT)
def test_perft_matches_the_known_counts(fen: str) -> None:
    depth = 4 if PERFT[fen][3] < 200_000 else 3
    assert perft(Position(chess.Board(fen)), depth) == PERFT[fen][depth - 1]


def test_random_games_keep_everything_right_forwards_and_backwards() -> None:
    rng = random.Random(3)
    for _ in range(cases(3)):
        board, snapshots = chess.Board(), list[dict[str, object]]()
        position = Position(board)
        while not board.is_game_over() and board.ply() < 300:
            snapshots.append(snapshot(position))
            move = rng.choice(list(board.legal_moves))
            position.make(encode(move))
            board.push(move)
            assert_is(position, board)
        assert snapshot(Position(board))["keys"] == position.keys[len(position.keys) - board.halfmove_clock :]
        for before in reversed(snapshots):
            position.unmake()
            assert snapshot(position) == before


def test_en_passant_square_counts_only_when_the_capture_is_legal() -> None:
    untaken, taking, discovering = (
        Position(chess.Board(fen))
        for fen in (
            "4k3/8/8/8/3pP3/8/8/4K3 b - - 0 1",
            "4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1",
            "4k3/8/8/8/K2pP2r/8/8/8 b - e3 0 1",
        )
    )
    assert (untaken.ep_square, taking.ep_square, discovering.ep_square) == (-1, chess.E3, chess.E3)
    assert untaken.key != taking.key
    both_pawns_leave_the_rank = Position(chess.Board("8/8/8/8/k2p3R/8/4P3/4K3 w - - 0 1"))
    both_pawns_leave_the_rank.make(encode(chess.Move.from_uci("e2e4")))
    assert both_pawns_leave_the_rank.ep_square == -1


@pytest.mark.parametrize(
    ("fen", "reason"),
    [
        ("8/8/8/8/8/8/8/4K3 w - - 0 1", "each side needs one king"),
        ("4k3/8/8/8/8/8/8/4K2K w - - 0 1", "each side needs one king"),
        ("4k3/4R3/8/8/8/8/8/4K3 w - - 0 1", "the side to move could take the king"),
        ("1r2k3/8/8/8/8/8/8/1R2K3 w B - 0 1", "castling that only Chess960 allows is not supported"),
    ],
)
def test_position_that_cannot_be_searched_is_refused(fen: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        Position(chess.Board(fen, chess960=True))


# Draws.


def play(board: chess.Board, moves: str) -> Position:
    for san in moves.split():
        board.push_san(san)
    return Position(board)


def test_third_occurrence_of_a_position_draws() -> None:
    assert not play(chess.Board(), "Nf3 Nf6 Ng1 Ng8").repeats(0)
    assert play(chess.Board(), "Nf3 Nf6 Ng1 Ng8 Nf3 Nf6 Ng1 Ng8").repeats(0)


def test_second_occurrence_since_the_root_draws_at_once() -> None:
    position = play(chess.Board(), "Nf3 Nf6 Ng1 Ng8")
    assert [ply for ply in range(6) if position.repeats(ply)] == [4, 5]


def test_other_castling_rights_make_another_position() -> None:
    fen = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"
    moves = "Ra2 Ra7 Ra1 Ra8"
    assert not play(chess.Board(fen), f"{moves} {moves}").repeats(0)
    assert play(chess.Board(fen), f"{moves} {moves} {moves}").repeats(0)


def test_irreversible_move_forgets_earlier_positions() -> None:
    position = play(chess.Board(), "Nf3 Nf6 Ng1 Ng8 e4 e5 Nf3 Nf6 Ng1 Ng8")
    assert position.made == 4
    assert not position.repeats(2)


def test_repetitions_match_python_chess() -> None:
    rng = random.Random(5)
    for start in random_boards(cases(10), seed=6, plies=120):
        board = start
        board.halfmove_clock = 0
        for _ in range(30):
            knights_and_kings = [move for move in board.legal_moves if not board.is_zeroing(move)]
            if not knights_and_kings:
                break
            board.push(rng.choice(knights_and_kings[:2]))
            assert Position(board).repeats(0) == board.is_repetition(3)
