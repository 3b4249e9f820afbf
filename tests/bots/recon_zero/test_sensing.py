"""A sense is chosen to learn the most."""

from __future__ import annotations

import math
from collections.abc import Sequence

import chess
import numpy as np
import pytest
from chess import Board, Square

from gm_bots.recon_zero.knowledge import Knowledge, belief_of
from gm_bots.recon_zero.lockstep.candidates import Examined, value_senses
from gm_client.rbc import SENSE_SQUARES
from gm_env.actions import seen_by
from gm_env.positions import read, written
from gm_recon import ReconBoard
from tests.bots.recon_zero.games import knowing
from tests.bots.recon_zero.plain_sensing import plain_worth

pytestmark = pytest.mark.slow


def examined(boards: Sequence[Board], *weights: float) -> Examined:
    rows = [written(ReconBoard.of(board)) for board in boards]
    states, numbers = (np.array(part) for part in zip(*rows, strict=True))
    return Examined.of(states, numbers, np.array(weights or [1.0] * len(boards), np.float64))


def worth(found: Examined, color: chess.Color, alarm: float = 0) -> dict[Square, float]:
    """Return what each sense with a whole window is worth."""
    values = np.empty(64)
    value_senses(found.states, found.weights, found.attacked, alarm, values)
    return {square: float(values[seen_by(square, color)]) for square in SENSE_SQUARES}


def about_attacks(boards: Sequence[Board]) -> dict[Square, float]:
    """Return the information of each sense about an attack alone."""
    found, color = examined(boards), boards[0].turn
    both, plain = worth(found, color, 1), worth(found, color)
    return {square: both[square] - plain[square] for square in plain}


@pytest.mark.parametrize("color", chess.COLORS)
def test_belief_counts_positions_by_their_weights(color: chess.Color) -> None:
    boards = [Board(f"{king}/8/8/8/8/8/8/4K3 w - - 0 1") for king in ("4k3", "4k3", "3k4")]
    boards = boards if color else [board.mirror() for board in boards]
    belief, first, last = belief_of(examined(boards, 1, 2, 1), color), (0, 7)[not color], (7, 0)[not color]
    assert belief[5, last, 4] == pytest.approx(0.75)
    assert belief[[5, 6], last, 3] == pytest.approx([0.25, 0.75])
    assert belief[6, first, 4] == 1  # its own king is no piece of the opponent's


def test_worth_of_a_sense_is_the_entropy_of_its_results() -> None:
    compared = 0
    for knowledge, game in knowing(2, 8):
        found = knowledge.examined()
        boards = [read(*row) for row in zip(found.states, found.numbers, strict=True)]
        learned = worth(found, knowledge.color)
        for square in SENSE_SQUARES if len(boards) < 100 else SENSE_SQUARES[:2]:
            assert learned[square] == pytest.approx(plain_worth(boards, found.weights, square), abs=1e-9)
            compared += 1
        assert not game.is_over()
    assert compared > 50


def test_likely_positions_weigh_more() -> None:
    start = "rnbqkbnr/pppp1ppp/8/4p3/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
    other = "rnbqkbnr/1ppppppp/8/p7/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
    third = "rnbqkbnr/2pppppp/p7/1p6/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
    boards = [Board(fen) for fen in (start, other, third)]
    # With equal weights, all three are distinguished near b6. Without the third, one sense is as good as the next.
    equal, without = worth(examined(boards), chess.WHITE), worth(examined(boards, 1, 1, 0), chess.WHITE)
    assert equal[chess.B6] == pytest.approx(math.log2(3))
    assert without[chess.E6] == without[chess.B6] == pytest.approx(1)
    assert equal[chess.E6] < equal[chess.B6]


def test_information_of_a_sense_about_an_attack_is_the_uncertainty_it_removes() -> None:
    """In one of three positions the knight attacks. A sense of the knight decides that; one of the pawn, a part."""
    quiet, other = "r1bqkbnr/pppppppp/2n5/8/8/8/8/4K3 w - - 0 1", "r1bqkbnr/pppppp1p/2n3p1/8/8/8/8/4K3 w - - 0 1"
    attack = "r1bqkbnr/pppppppp/8/8/8/3n4/8/4K3 w - - 0 1"
    boards = [Board(fen) for fen in (quiet, other, attack)]
    learned = about_attacks(boards)
    uncertain = math.log2(3) - 2 / 3
    assert learned[chess.D3] == pytest.approx(uncertain)
    assert learned[chess.C6] == pytest.approx(uncertain)
    assert learned[chess.G6] == pytest.approx(uncertain - 2 / 3)
    assert learned[chess.B2] == pytest.approx(0)


def test_attack_is_searched_for_when_that_is_worth_more() -> None:
    """Eight places for a far pawn are three bits; whether a knight attacks is one bit, which has to count for more."""
    board = Board("r1bqkbnr/8/2n5/8/8/8/8/4K3 w - - 0 1")
    boards = []
    for square in range(chess.A7, chess.H7 + 1):
        for knight in (chess.C6, chess.D3):
            position = board.copy()
            position.remove_piece_at(chess.C6)
            position.set_piece_at(knight, chess.Piece(chess.KNIGHT, chess.BLACK))
            position.set_piece_at(square, chess.Piece(chess.PAWN, chess.BLACK))
            boards.append(position)
    found = examined(boards)
    for alarm, better in ((0, chess.F7), (0.2, chess.F7), (3, chess.D3)):
        learned = worth(found, chess.WHITE, alarm)
        assert max((chess.F7, chess.D3), key=learned.__getitem__) == better


def test_square_without_a_whole_window_is_the_guess_s_choice() -> None:
    assert Knowledge(chess.WHITE).best_sense([chess.A1], 30.0) == chess.A1
