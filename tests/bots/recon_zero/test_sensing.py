"""A sense is chosen to learn the most."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import chess
import numpy as np
import pytest
from chess import Square

from gm_bots.recon_zero.lockstep.candidates import Examined
from gm_bots.recon_zero.sensing import (
    Channels,
    belief_of,
    best_of,
    bits_of_senses,
    channels_of,
    information,
    information_of,
)
from gm_client.rbc import SENSE_SQUARES, simulate_sense
from gm_env.positions import read, written
from gm_recon import ReconBoard
from tests.bots.recon_zero.games import knowing

pytestmark = pytest.mark.slow


def examined(boards: Sequence[chess.Board]) -> Examined:
    rows = [written(ReconBoard.of(board)) for board in boards]
    states, numbers = (np.array(part) for part in zip(*rows, strict=True))
    return Examined.of(states, numbers, np.ones(len(boards)))


def channels_in(boards: Sequence[chess.Board]) -> Channels:
    return channels_of(examined(boards).states, boards[0].turn)


def best_sense(
    boards: Sequence[chess.Board], squares: Sequence[Square], *weights: float, alarm: float = 0
) -> Square | None:
    weighed = np.array(weights) if weights else np.ones(len(boards))
    return best_of(bits_of_senses(channels_in(boards), weighed, examined(boards).attacked, alarm), squares)


@pytest.mark.parametrize("turn", chess.COLORS)
def test_channels_are_the_opponents_pieces_on_the_true_board(turn: chess.Color) -> None:
    board = chess.Board("r1bqkbnr/pppppppp/2n5/8/8/5N2/PPPPPPPP/RNBQKB1R w KQkq - 2 2")
    board.turn = turn
    (found,) = channels_in([board])
    for square, channel in enumerate(found):
        piece = board.piece_at(square)
        assert channel == (6 if piece is None or piece.color == turn else piece.piece_type - 1)


def test_belief_counts_positions_by_their_weights() -> None:
    channels = channels_in([chess.Board(f"{king}/8/8/8/8/8/8/4K3 w - - 0 1") for king in ("4k3", "4k3", "3k4")])
    belief = belief_of(channels, np.array([1.0, 2, 1]))
    assert belief[5, 7, 4] == pytest.approx(0.75)
    assert belief[[5, 6], 7, 3] == pytest.approx([0.25, 0.75])
    assert belief[6, 0, 4] == 1  # its own king is no piece of the opponent's


def test_information_of_a_sense_is_the_entropy_of_its_results() -> None:
    """The entropy is counted here from the senses themselves, one by one."""
    compared = 0
    for knowledge, game in knowing(2, 8):
        found = knowledge.examined()
        boards = [read(*row) for row in zip(found.states, found.numbers, strict=True)]
        learned = information(channels_of(found.states, knowledge.color), np.ones(len(boards)))
        assert set(learned) == set(SENSE_SQUARES)
        for square in SENSE_SQUARES if len(boards) < 100 else SENSE_SQUARES[:2]:
            shown = Counter(
                tuple(None if piece is None or piece.color == knowledge.color else piece for _, piece in cells)
                for cells in (simulate_sense(board, square) for board in boards)
            )
            bits = sum(count / len(boards) * math.log2(len(boards) / count) for count in shown.values())
            assert learned[square] == pytest.approx(bits, abs=1e-9)
            compared += 1
        assert not game.is_over()
    assert compared > 50


def test_likely_positions_weigh_more() -> None:
    start = "rnbqkbnr/pppp1ppp/8/4p3/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
    other = "rnbqkbnr/1ppppppp/8/p7/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
    third = "rnbqkbnr/2pppppp/p7/1p6/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
    boards = [chess.Board(fen) for fen in (start, other, third)]
    channels = channels_in(boards)
    # With equal weights, all three are distinguished near b6. Without the third, one sense is as good as the next.
    assert information(channels, np.ones(3))[chess.B6] == pytest.approx(math.log2(3))
    assert information(channels, np.array([1.0, 1, 0]))[chess.E6] == pytest.approx(1)
    assert best_sense(boards, [chess.E6, chess.B6]) == chess.B6
    assert best_sense(boards, [chess.E6, chess.B6], 1, 1, 0) == chess.E6


def test_information_of_a_sense_about_an_attack_is_the_uncertainty_it_removes() -> None:
    """In one of three positions the knight attacks. A sense of the knight decides that; one of the pawn, a part."""
    quiet, other = "r1bqkbnr/pppppppp/2n5/8/8/8/8/4K3 w - - 0 1", "r1bqkbnr/pppppp1p/2n3p1/8/8/8/8/4K3 w - - 0 1"
    attack = "r1bqkbnr/pppppppp/8/8/8/3n4/8/4K3 w - - 0 1"
    boards = [chess.Board(fen) for fen in (quiet, other, attack)]
    channels, attacked, weights = channels_in(boards), examined(boards).attacked, np.ones(3)
    assert attacked.tolist() == [False, False, True]
    learned = information_of(attacked, channels, weights)
    uncertain = math.log2(3) - 2 / 3
    assert learned[chess.D3] == learned[chess.C6] == pytest.approx(uncertain)
    assert learned[chess.G6] == pytest.approx(uncertain - 2 / 3)
    assert learned[chess.B2] == pytest.approx(0)
    assert all(0 <= learned[square] + 1e-12 <= information(channels, weights)[square] + 2e-12 for square in learned)


def test_attack_is_searched_for_when_that_is_worth_more() -> None:
    """Eight places for a far pawn are three bits; whether a knight attacks is one bit, which has to count for more."""
    board = chess.Board("r1bqkbnr/8/2n5/8/8/8/8/4K3 w - - 0 1")
    boards = []
    for square in range(chess.A7, chess.H7 + 1):
        for knight in (chess.C6, chess.D3):
            position = board.copy()
            position.remove_piece_at(chess.C6)
            position.set_piece_at(knight, chess.Piece(chess.KNIGHT, chess.BLACK))
            position.set_piece_at(square, chess.Piece(chess.PAWN, chess.BLACK))
            boards.append(position)
    squares = [chess.F7, chess.D3]
    assert best_sense(boards, squares) == chess.F7
    assert best_sense(boards, squares, alarm=0.2) == chess.F7
    assert best_sense(boards, squares, alarm=3) == chess.D3


def test_square_without_a_whole_window_is_not_the_best() -> None:
    assert best_sense([chess.Board()], [chess.A1]) is None
