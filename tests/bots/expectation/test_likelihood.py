"""How likely positions are by the opponent's moves."""

from __future__ import annotations

import random
from math import log

import chess
import pytest
from chess import Color, Move

from gm_bots.expectation.likelihood import Likelihoods
from gm_bots.expectation.results import Engine
from gm_recon import ReconBoard, ReconGame
from gm_recon.possible import PossiblePositions
from tests.bots.expectation.asked import Even, stockfish


class Follower:
    """Follows the positions of a player with their probabilities."""

    def __init__(self, engine: Engine, fen: str = chess.STARTING_FEN, color: Color = chess.WHITE) -> None:
        self.positions = PossiblePositions(color, fen, cap=10_000, rng=random.Random(1))
        self.likelihoods = Likelihoods(self.positions, engine)

    def opponent_moved(self, capture: chess.Square | None = None, most: int = 1_000) -> None:
        self.likelihoods.opponent_moved(capture)
        self.positions.opponent_moved(capture)
        self.likelihoods.carry(most, float("inf"))

    def saw(self, board: ReconBoard, square: chess.Square) -> None:
        self.positions.saw(board.window(square))
        self.likelihoods.saw(board.window(square))

    def moved(self, requested: Move | None, taken: Move | None, capture: chess.Square | None) -> None:
        left = self.likelihoods.moving(requested, taken, capture)
        self.positions.player_moved(requested, taken, capture)
        self.likelihoods.moved(left)

    def of(self, board: chess.Board) -> float:
        """Return the probability of a position."""
        position = PossiblePositions.part_of(board, self.positions.color)
        return self.likelihoods.likely.get(position, self.likelihoods.other)

    def whole(self) -> float:
        return sum(self.of(board) for board in self.positions)


def after(fen: str, uci: str) -> chess.Board:
    board = chess.Board(fen)
    board.push_uci(uci)
    return board


def test_good_moves_are_likelier_and_all_moves_are_possible() -> None:
    fen = "6k1/8/8/3q4/8/8/3R4/3R1K2 b - - 0 1"
    with stockfish() as engine:
        mine = Follower(engine, fen)
        mine.opponent_moved()
        assert mine.of(after(fen, "d5h1")) > 2 * mine.of(after(fen, "g8f8")) > 0
    assert mine.whole() == pytest.approx(1)


def test_positions_that_are_not_followed_share_what_remains() -> None:
    """With room for the moves from one position only, those from the others have the rest."""
    mine = Follower(Even(), color=chess.BLACK)
    mine.opponent_moved()
    quiet = Move.from_uci("a7a6")
    mine.moved(quiet, quiet, None)
    mine.opponent_moved(most=1)
    assert mine.whole() == pytest.approx(1)
    assert 0 < mine.likelihoods.other < max(mine.likelihoods.likely.values())


def test_castling_out_of_check_is_a_move_and_a_captured_king_ends_the_game() -> None:
    fen = "4k2r/8/8/8/8/8/8/4RK2 b k - 0 1"
    mine = Follower(Even(), fen)
    mine.opponent_moved()
    board = chess.Board("5rk1/8/8/8/8/8/8/4RK2 w - - 1 2")
    assert mine.of(board) > 0
    move = Move.from_uci("e1e8")
    mine.moved(move, move, None)  # the king was not there: it has castled, or gone elsewhere
    assert mine.whole() == pytest.approx(1)


@pytest.mark.slow
def test_a_game_tells_whether_the_opponent_plays_well() -> None:
    """The true position is likelier than by counting, on average, whether the opponent plays well or at random."""
    with stockfish() as engine:
        assert gain(engine, strong=True) > 0.3
        assert gain(engine, strong=False) > -0.3


def gain(engine: Engine, *, strong: bool) -> float:
    """Return by what factor the true position is likelier than all others on average, as a logarithm to base e."""
    gains = []
    for seed in range(4):
        game, rng = ReconGame(), random.Random(seed)
        mine = Follower(engine)
        while not game.is_over() and game.ply < 24:
            if game.turn == chess.WHITE:
                if game.ply:
                    mine.opponent_moved(game.opponent_capture, most=50)
                square = mine.positions.best_sense()
                game.sense(square)
                mine.saw(game.board, square)
                gains.append(log(mine.of(game.board.as_chess()) * len(mine.positions)))
                outcome = game.move(rng.choice(game.move_actions()))
                if not game.is_over():
                    mine.moved(*outcome)
                continue
            game.sense(None)
            scores = engine.scores(game.board.fen(), 3) if strong and game.board.as_chess().is_valid() else {}
            best = max(scores, key=scores.__getitem__, default=None)
            game.move(rng.choice(game.move_actions()) if best is None else Move.from_uci(best))
    return sum(gains) / len(gains)
