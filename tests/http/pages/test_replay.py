"""Replays of open games: positions, captured pieces, moves in SAN; and their bounds in work."""

from __future__ import annotations

import random

import chess
import chess.svg
import pytest
from chess.variant import CrazyhouseBoard

from gmd.games.notation import run_through
from gmd.http.pages.drawing import Picture, draw
from gmd.http.pages.replay import PLIES_A_STEP, captured, position_steps, san_steps

SHREDDER = "bnnrqkrb/pppppppp/8/8/8/8/PPPPPPPP/BNNRQKRB w GDgd - 0 1"


def random_moves(board: chess.Board, plies: int, seed: int = 1) -> list[chess.Board]:
    """Play random moves on a board; return the positions, the first one included."""
    rng, boards = random.Random(seed), [board.copy()]
    while len(boards) <= plies and not board.is_game_over():
        board.push(rng.choice(sorted(board.legal_moves, key=str)))
        boards.append(board.copy())
    return boards


@pytest.mark.parametrize(
    ("variant", "board"),
    [
        ("standard", chess.Board()),
        ("chess960", chess.Board(SHREDDER, chess960=True)),
        ("crazyhouse", CrazyhouseBoard()),
        ("dark_chess", chess.Board()),
    ],
)
def test_position_of_every_ply_is_that_of_python_chess(variant: str, board: chess.Board) -> None:
    boards = random_moves(board, 80)
    start = boards[0].fen(shredder=board.chess960)
    moves = [move.uci() for move in boards[-1].move_stack]
    for ply, expected in enumerate(boards):
        position = run_through(position_steps(variant, start, moves, ply))
        assert position.fen == expected.fen(shredder=board.chess960)
        assert position.last_move == (moves[ply - 1] if ply else None)
        checked = expected.is_check() and variant != "dark_chess"
        assert position.check == (expected.king(expected.turn) if checked else None)


def test_long_game_is_replayed_in_small_steps() -> None:
    moves = ["g1f3", "g8f6", "f3g1", "f6g8"] * 300
    assert len(list(position_steps("standard", chess.STARTING_FEN, moves, 1_200))) == 1_200 // PLIES_A_STEP


def test_captured_pieces_are_those_missing_and_promoted_ones_count_as_pawns() -> None:
    start = chess.STARTING_FEN
    assert captured(start, start, chess.WHITE) == ""
    gone = "rnb1kbnr/ppp1pppp/8/8/8/8/PPPP1PPP/RNBQKB1R w KQkq - 0 5"
    assert captured(start, gone, chess.BLACK) == "qp"
    assert captured(start, gone, chess.WHITE) == "np"
    promoted = "rnbQkbnr/p1pppppp/8/8/8/8/P1PPPPPP/RNBQKBNR b KQkq - 0 5"
    assert captured(start, promoted, chess.BLACK) == "qp"
    assert captured(start, promoted, chess.WHITE) == ""
    assert captured(start, promoted.replace("rnbQ", "rnbr"), chess.WHITE) == "p"  # the promoted queen was captured


def test_moves_are_in_san_as_the_pgn_has_them() -> None:
    pgn = '[White "?"]\n\n1. e4 {a comment} 1... -- 2. Nf3 Nf6 1-0\n'
    assert run_through(san_steps(pgn, 10)) == ["e4", "--", "Nf3", "Nf6"]
    assert run_through(san_steps(pgn, 2)) == ["e4", "--"]


def test_drawing_is_python_chess_svg_and_always_the_same() -> None:
    picture = Picture("8/8/8/8/8/8/8/K6k", "a2a1", None, frozenset({0, 1}), frozenset({8}))
    assert draw(picture) == draw(picture)
    assert 'width="100"' in draw(picture, size=100)
    assert draw(picture) != draw(picture, flip=True)
    assert draw(Picture("8/8/8/8/8/8/8/K6k", "a2a1")).count("lastmove") >= 2
