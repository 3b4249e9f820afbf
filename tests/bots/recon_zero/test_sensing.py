"""A sense is chosen where most is learned, by either idea of what that is."""

from __future__ import annotations

import math
from collections import Counter

import chess
import numpy as np
import pytest

from gm_bots.recon_zero.belief import at, certain
from gm_bots.recon_zero.positions import channels_of
from gm_bots.recon_zero.sensing import entropy_sense, information, information_sense
from gm_client.rbc import SENSE_SQUARES, simulate_sense
from tests.bots.recon_zero.games import knowing


def test_the_most_uncertain_window_is_sensed() -> None:
    belief = certain(chess.Board(), chess.WHITE)
    at(belief, chess.F6)[[chess.KNIGHT - 1, 6]] = 0.5, 0.5
    at(belief, chess.B5)[[chess.PAWN - 1, 6]] = 0.1, 0.9
    assert entropy_sense(belief, [chess.B5, chess.G7, chess.E4]) == chess.G7
    assert entropy_sense(belief, [chess.B5, chess.E4]) == chess.B5
    assert entropy_sense(belief, [chess.E3, chess.D3]) == chess.E3  # nothing to learn: the first


def test_what_a_sense_tells_is_the_entropy_of_what_it_may_show() -> None:
    """Counted here from the senses themselves, one by one."""
    compared = 0
    for knowledge, game in knowing(2, 8):
        boards = knowledge.positions()
        told = information(knowledge.channels())
        assert set(told) == set(SENSE_SQUARES)
        for square in SENSE_SQUARES if len(boards) < 100 else SENSE_SQUARES[:2]:
            shown = Counter(
                tuple(None if piece is None or piece.color == knowledge.color else piece for _, piece in cells)
                for cells in (simulate_sense(board, square) for board in boards)
            )
            bits = sum(count / len(boards) * math.log2(len(boards) / count) for count in shown.values())
            assert told[square] == pytest.approx(bits, abs=1e-9)
            compared += 1
        assert not game.is_over()
    assert compared > 50


def test_what_is_likely_is_weighed_for_more() -> None:
    start = "rnbqkbnr/pppp1ppp/8/4p3/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
    other = "rnbqkbnr/1ppppppp/8/p7/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
    third = "rnbqkbnr/2pppppp/p7/1p6/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
    channels = channels_of([chess.Board(fen) for fen in (start, other, third)], chess.WHITE)
    # Alike, all three are told from each other near b6. If the third is out, one sense is as good as the next.
    assert information(channels)[chess.B6] == pytest.approx(math.log2(3))
    assert information(channels, np.array([1.0, 1, 0]))[chess.E6] == pytest.approx(1)
    assert information_sense(channels, [chess.E6, chess.B6]) == chess.B6
    assert information_sense(channels, [chess.E6, chess.B6], np.array([1.0, 1, 0])) == chess.E6


def test_without_positions_or_squares_there_is_nothing_to_choose() -> None:
    assert information_sense(channels_of([], chess.WHITE), [chess.E4]) is None
    assert information_sense(channels_of([chess.Board()], chess.WHITE), [chess.A1]) is None
