"""``gm_recon.belief``: marginals and samples of possible positions, compared with counting boards."""

from __future__ import annotations

import random

import chess
import pytest

from gm_recon import ReconGame
from gm_recon.belief import PIECES, marginals, sample
from gm_recon.possible import PossiblePositions


def followed(seed: int, color: chess.Color) -> PossiblePositions:
    """Return a player's possible positions at the beginning of its fifth turn, in a game of random moves."""
    rng, game = random.Random(seed), ReconGame()
    positions = PossiblePositions(color, cap=100_000, rng=random.Random(0))
    while game.ply < 8 + (color == chess.BLACK):
        mover = game.turn
        if mover == color and game.ply:
            positions.opponent_moved(game.opponent_capture)
        cells = game.sense(positions.best_sense() if mover == color else None)
        if mover == color:
            positions.saw(cells)
        decision = game.move(rng.choice([None, *game.move_actions()]))
        assert not game.is_over(), "choose another seed"
        if mover == color:
            positions.player_moved(*decision)
    positions.opponent_moved(game.opponent_capture)
    return positions


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "color"), [(3, chess.BLACK), (2, chess.WHITE)])
def test_marginals_are_the_shares_of_the_boards(seed: int, color: chess.Color) -> None:
    positions = followed(seed, color)
    boards = list(positions)
    assert boards
    rows = marginals(positions)
    assert len(rows) == len(PIECES) == 12
    for piece, row in zip(PIECES, rows, strict=True):
        shares = [sum(board.piece_at(square) == piece for board in boards) / len(boards) for square in chess.SQUARES]
        assert row == shares


def test_samples_are_different_possible_positions_drawn_by_the_seed() -> None:
    positions = followed(1, chess.WHITE)
    drawn = sample(positions, 20, random.Random(3))
    assert all(board in positions for board in drawn)
    fens = [board.fen(en_passant="fen") for board in drawn]
    assert len(set(fens)) == min(20, len(positions))
    assert fens == [board.fen(en_passant="fen") for board in sample(positions, 20, random.Random(3))]
    assert {board.halfmove_clock for board in drawn} == {0}


def test_every_position_is_about_equally_often_drawn() -> None:
    positions = PossiblePositions(chess.BLACK, rng=random.Random(0))
    positions.opponent_moved(None)
    counts = dict.fromkeys((board.board_fen() for board in positions), 0)
    for seed in range(2_100):
        counts[sample(positions, 1, random.Random(seed))[0].board_fen()] += 1
    assert len(counts) == 21
    assert 60 < min(counts.values()) <= max(counts.values()) < 145  # 100 expected; five standard deviations
