"""A drawn position is consistent with all that is known."""

from __future__ import annotations

import random
from collections import Counter

import chess
import numpy as np
import pytest
from chess import Board, Color

from gm_bots.recon_zero import belief as beliefs
from gm_bots.recon_zero.belief import EMPTY, Belief, at
from gm_bots.recon_zero.determinise import determinise, draw, from_belief
from gm_bots.recon_zero.knowledge import Knowledge
from gm_bots.recon_zero.lockstep.judging import count_material
from gm_bots.recon_zero.player import Settings
from tests.bots.recon_zero.games import knowing

pytestmark = pytest.mark.slow


def check(board: Board, knowledge: Knowledge, belief: Belief) -> None:
    color = knowledge.color
    assert chess.popcount(board.occupied_co[not color]) == knowledge.remaining
    assert len(board.pieces(chess.KING, not color)) == 1
    for square in chess.SQUARES:
        piece, known = board.piece_at(square), knowledge.own.piece_at(square)
        if known is not None:
            assert piece == known
            continue
        assert piece is None or piece.color != color
        channel = EMPTY if piece is None else piece.piece_type - 1
        assert at(belief, square)[channel] > 0, (board, chess.square_name(square))


@pytest.mark.parametrize("positions", [True, False], ids=["positions", "squares"])
def test_determinised_position_agrees_with_all_knowledge(positions: bool) -> None:
    """Knowledge is what the belief is certain of, what it excludes, and where it requires some piece."""
    rng, made = random.Random(1), 0
    for seed in range(4):
        both = zip(knowing(seed, 24, positions=positions, cap=100), knowing(seed, 24, positions=False), strict=True)
        for (knowledge, game), (squares, _) in both:
            if game.turn != knowledge.color:
                continue
            boards = determinise(knowledge, 3, rng)
            for board in boards:
                check(board, knowledge, squares.belief())
            assert all(board.turn == knowledge.color for board in boards)
            made += len(boards)
    assert made > 200


def test_positions_are_drawn_as_often_as_they_are_likely() -> None:
    """After 1.e4, by the model of opponents that comes with the package."""
    knowledge, rng = Knowledge(chess.WHITE, weighing=Settings().weighing_with(count_material)), random.Random(1)
    move = chess.Move.from_uci("e2e4")
    knowledge.player_moved(move, move, None)
    knowledge.opponent_moved(None)
    likely = knowledge.weights() / knowledge.weights().sum()
    assert likely.max() > 2 / len(likely), "not all are equally likely"
    names = [board.fen() for board in knowledge.positions()]
    drawn = Counter(board.fen() for _ in range(2_000) for board in determinise(knowledge, 1, rng))
    assert [drawn[name] / 2_000 for name in names] == pytest.approx(likely.tolist(), abs=0.04)
    assert len({board.fen() for board in determinise(knowledge, 100, rng)}) == len(names)


def test_index_with_almost_no_weight_is_drawn_last_and_not_lost() -> None:
    weights = np.array([1e-12**place for place in range(20)])
    assert draw(weights, 20, random.Random(1)) == list(range(20))


def test_position_is_drawn_by_probability() -> None:
    board = Board("4k3/8/8/8/8/8/8/4K3 w - - 0 1")
    belief = beliefs.certain(board, chess.WHITE)
    for square, chance in ((chess.E8, 0.7), (chess.D8, 0.3)):
        at(belief, square)[:] = 0
        at(belief, square)[[chess.KING - 1, EMPTY]] = chance, 1 - chance
    own = Board("8/8/8/8/8/8/8/4K3 w - - 0 1")
    assert from_belief(belief, own, chess.WHITE, 1).king(chess.BLACK) == chess.E8
    rng = np.random.default_rng(1)
    kings = [from_belief(belief, own, chess.WHITE, 1, rng).king(chess.BLACK) for _ in range(500)]
    assert 310 < kings.count(chess.E8) < 390
    assert set(kings) == {chess.E8, chess.D8}


@pytest.mark.parametrize("color", chess.COLORS)
def test_second_queen_is_assumed_only_when_necessary(color: Color) -> None:
    belief = beliefs.nothing()
    beliefs.set_square(belief, chess.E8, chess.KING - 1)
    at(belief, chess.A4)[[chess.QUEEN - 1, EMPTY]] = 0.9, 0.1
    at(belief, chess.B4)[[chess.QUEEN - 1, chess.ROOK - 1, EMPTY]] = 0.5, 0.3, 0.2
    own = Board("8/8/8/8/8/8/8/4K3 w - - 0 1") if color else Board("8/8/8/8/8/8/8/4k3 b - - 0 1")
    made = from_belief(belief, own, color, 3)
    assert [made.piece_type_at(square) for square in (chess.A4, chess.B4)] == [chess.QUEEN, chess.ROOK]
    at(belief, chess.B4)[[chess.QUEEN - 1, chess.ROOK - 1, EMPTY]] = 1, 0, 0
    at(belief, chess.A4)[[chess.QUEEN - 1, EMPTY]] = 1, 0
    made = from_belief(belief, own, color, 3)
    assert [made.piece_type_at(square) for square in (chess.A4, chess.B4)] == [chess.QUEEN, chess.QUEEN]
