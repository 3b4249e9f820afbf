"""Whole games: against a random mover, and of one depth against another."""

from __future__ import annotations

import math
import random

import chess
import pytest

from gm_bots.minimax.engine import Limit, Options, search
from tests.proofs import cases, in_processes

#: The plies that both sides play at random before a game between depths begins, so that no two games are the same.
OPENING_PLIES = 6

#: Half-moves after which a game is drawn.
MAX_PLIES = 300

#: The value below which 95 % of a normal distribution lie.
ONE_SIDED_95 = 1.645


def against_random(number: int) -> float:
    """Return the points that depth 2 scores in a game; it is White in the even-numbered ones."""
    rng, board = random.Random(number), chess.Board()
    while not board.is_game_over(claim_draw=True):
        if board.turn == (number % 2 == 0):
            move = search(board, Limit(depth=2)).move
        else:
            move = rng.choice(list(board.legal_moves))
        assert move is not None
        board.push(move)
    return points(board, number % 2 == 0)


def depth_against_depth(number: int, depth: int, other: int) -> float:
    """Return the points that a depth scores in a game; both play each opening."""
    rng, board = random.Random(number // 2), chess.Board()
    while board.ply() < OPENING_PLIES:
        board.push(rng.choice(list(board.legal_moves)))
    while not board.is_game_over(claim_draw=True) and board.ply() < MAX_PLIES:
        plies = depth if board.turn == (number % 2 == 0) else other
        move = search(board, Limit(depth=plies), Options(seed=number, margin=10)).move
        assert move is not None
        board.push(move)
    return points(board, number % 2 == 0)


def points(board: chess.Board, color: chess.Color) -> float:
    winner = (board.outcome(claim_draw=True) or chess.Outcome(chess.Termination.FIFTY_MOVES, None)).winner
    return 0.5 if winner is None else float(winner == color)


@pytest.mark.slow
def test_depth_two_beats_a_random_mover() -> None:
    games = cases(4)
    results = [against_random(number) for number in range(games)]
    assert min(results) > 0, "a game was lost"
    assert results.count(1.0) >= games - games // 50


@pytest.mark.nightly
def test_depth_three_is_ahead_of_depth_two() -> None:
    """The confidence is 95 %, by the normal approximation of the mean of the points; of two games it must win both."""
    games = cases(2)
    results = list(in_processes(depth_against_depth, [(number, 3, 2) for number in range(games)]))
    mean = sum(results) / games
    deviation = math.sqrt(sum((result - mean) ** 2 for result in results) / (games - 1))
    assert mean - ONE_SIDED_95 * deviation / math.sqrt(games) > 0.5, results
