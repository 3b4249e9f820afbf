"""What a player knows: the possible positions with their weights, and one guess where none is left."""

from __future__ import annotations

import random
from collections import Counter

import chess
import numpy as np
import pytest
from chess import Board, Color

from gm_bots.recon_zero.knowledge import Knowledge, draw
from gm_bots.recon_zero.lockstep.candidates import Examined
from gm_bots.recon_zero.lockstep.judging import count_material
from gm_bots.recon_zero.thinker import Settings
from gm_env.positions import read
from gm_recon import ReconGame
from gm_recon.possible import SENSE_SQUARES
from tests.bots.recon_zero.games import RARE, knowing
from tests.proofs import cases

pytestmark = pytest.mark.slow


def boards(found: Examined) -> list[Board]:
    return [read(*row) for row in zip(found.states, found.numbers, strict=True)]


def key(board: Board) -> tuple[str, chess.Bitboard, chess.Square | None]:
    """Return what tells possible positions apart: pieces, castling rights, and captures en passant."""
    return board.board_fen(), board.castling_rights, board.ep_square


def test_positions_examined_are_those_that_are_possible() -> None:
    compared = Counter[bool]()
    for seed in range(2 * len(RARE)):
        for knowledge, game in knowing(seed, 24, cap=1_000):
            if knowledge.kept > 200:
                continue
            found = boards(knowledge.examined())
            assert list(map(key, found)) == list(map(key, knowledge._known.positions))
            assert {board.turn for board in found} == {knowledge.color} == {game.turn}
            assert {board.fullmove_number for board in found} == {game.board.fullmoves}
            compared[any(board.ep_square for board in found)] += 1
    assert min(compared.values()) > 2, "with and without captures en passant"


def test_belief_is_a_distribution_that_counts_positions() -> None:
    """Until the true position is dropped, for want of room, it is not excluded."""
    excluded = 0
    for seed in range(cases(1)):
        for knowledge, game in knowing(seed, 400, cap=100):
            belief = knowledge.belief()
            assert belief.shape == (7, 8, 8)
            assert np.abs(belief.sum(axis=0) - 1).max() < 1e-9
            own = game.board.as_chess().occupied_co[knowledge.color]
            for square in chess.scan_forward(own):
                assert belief[6, square >> 3, square & 7] == 1, "an own piece is no piece of the opponent's"
            truth = channels(game.board.as_chess(), knowledge.color)
            is_possible = all(belief[channel, square >> 3, square & 7] > 0 for square, channel in enumerate(truth))
            assert is_possible or not knowledge._known.positions.complete
            excluded += not is_possible
    assert excluded, "the cap is small enough"


def channels(board: Board, color: Color) -> list[int]:
    pieces = [board.piece_at(square) for square in chess.SQUARES]
    return [6 if piece is None or piece.color == color else piece.piece_type - 1 for piece in pieces]


@pytest.mark.parametrize("seed", range(4))
def test_player_that_has_lost_all_positions_goes_on_with_a_guess(seed: int) -> None:
    """With room for one position the true one is dropped."""
    rng, game = random.Random(seed), ReconGame()
    knowledge, lost = Knowledge(chess.WHITE, cap=1, rng=random.Random(seed)), 0
    while not game.is_over() and game.ply < 80:
        if game.turn == chess.BLACK:
            game.sense(None)
        else:
            if game.ply:
                knowledge.opponent_moved(game.opponent_capture)
            lost += not knowledge.kept
            square = knowledge.best_sense(SENSE_SQUARES, 30.0)
            assert square in SENSE_SQUARES
            knowledge.saw(game.sense(square))
            (board,) = boards(knowledge.drawn(3, rng))
            assert board.turn == chess.WHITE
            assert board.occupied_co[chess.WHITE] == game.board.occupied_by(chess.WHITE)
        outcome = game.move(rng.choice([None, *game.move_actions()]))
        if game.turn == chess.BLACK and not game.is_over():
            knowledge.player_moved(*outcome)
    assert lost


def test_positions_are_drawn_as_often_as_they_are_likely() -> None:
    """After 1.e4, by the model of opponents that comes with the package."""
    knowledge, rng = Knowledge(chess.WHITE, weighing=Settings().weighing_with(count_material)), random.Random(1)
    move = chess.Move.from_uci("e2e4")
    knowledge.player_moved(move, move, None)
    knowledge.opponent_moved(None)
    found = knowledge.examined()
    likely = found.weights / found.weights.sum()
    assert likely.max() > 2 / len(likely), "not all are equally likely"
    names = [board.fen() for board in boards(found)]
    drawn = Counter(board.fen() for _ in range(2_000) for board in boards(knowledge.drawn(1, rng)))
    assert [drawn[name] / 2_000 for name in names] == pytest.approx(likely.tolist(), abs=0.04)
    assert len({board.fen() for board in boards(knowledge.drawn(100, rng))}) == len(names)


def test_index_with_almost_no_weight_is_drawn_last_and_not_lost() -> None:
    weights = np.array([1e-12**place for place in range(20)])
    assert draw(weights, 20, random.Random(1)) == list(range(20))
