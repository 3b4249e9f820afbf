"""A sense is chosen to learn the most, by either measure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import chess
import numpy as np
import pytest
from chess import Square

from gm_bots.recon_zero.belief import at, certain
from gm_bots.recon_zero.positions import Channels, channels_of
from gm_bots.recon_zero.sensing import (
    attacked_in,
    best_of,
    bits_of_senses,
    entropy_sense,
    information,
    information_of,
    values_of_senses,
)
from gm_client.rbc import SENSE_SQUARES, simulate_sense
from tests.bots.recon_zero.games import knowing

pytestmark = pytest.mark.slow


def best_sense(channels: Channels, squares: Sequence[Square], *given: Any, **named: Any) -> Square | None:
    return best_of(bits_of_senses(channels, *given, **named), squares)


def test_most_uncertain_window_is_sensed() -> None:
    belief = certain(chess.Board(), chess.WHITE)
    at(belief, chess.F6)[[chess.KNIGHT - 1, 6]] = 0.5, 0.5
    at(belief, chess.B5)[[chess.PAWN - 1, 6]] = 0.1, 0.9
    assert entropy_sense(belief, [chess.B5, chess.G7, chess.E4]) == chess.G7
    assert entropy_sense(belief, [chess.B5, chess.E4]) == chess.B5
    assert entropy_sense(belief, [chess.E3, chess.D3]) == chess.E3  # nothing to learn: the first


def test_information_of_a_sense_is_the_entropy_of_its_results() -> None:
    """The entropy is counted here from the senses themselves, one by one."""
    compared = 0
    for knowledge, game in knowing(2, 8):
        boards = knowledge.positions()
        learned = information(knowledge.channels())
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
    channels = channels_of([chess.Board(fen) for fen in (start, other, third)], chess.WHITE)
    # With equal weights, all three are distinguished near b6. Without the third, one sense is as good as the next.
    assert information(channels)[chess.B6] == pytest.approx(math.log2(3))
    assert information(channels, np.array([1.0, 1, 0]))[chess.E6] == pytest.approx(1)
    assert best_sense(channels, [chess.E6, chess.B6]) == chess.B6
    assert best_sense(channels, [chess.E6, chess.B6], np.array([1.0, 1, 0])) == chess.E6


def test_information_of_a_sense_about_an_attack_is_the_uncertainty_it_removes() -> None:
    """In one of three positions the knight attacks. A sense of the knight decides that; one of the pawn, a part."""
    quiet, other = "r1bqkbnr/pppppppp/2n5/8/8/8/8/4K3 w - - 0 1", "r1bqkbnr/pppppp1p/2n3p1/8/8/8/8/4K3 w - - 0 1"
    attack = "r1bqkbnr/pppppppp/8/8/8/3n4/8/4K3 w - - 0 1"
    boards = [chess.Board(fen) for fen in (quiet, other, attack)]
    channels, attacked = channels_of(boards, chess.WHITE), attacked_in(boards, chess.WHITE)
    assert attacked.tolist() == [False, False, True]
    learned = information_of(attacked, channels)
    uncertain = math.log2(3) - 2 / 3
    assert learned[chess.D3] == learned[chess.C6] == pytest.approx(uncertain)
    assert learned[chess.G6] == pytest.approx(uncertain - 2 / 3)
    assert learned[chess.B2] == pytest.approx(0)
    assert all(0 <= learned[square] + 1e-12 <= information(channels)[square] + 2e-12 for square in learned)


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
    channels, attacked = channels_of(boards, chess.WHITE), attacked_in(boards, chess.WHITE)
    squares = [chess.F7, chess.D3]
    assert best_sense(channels, squares, None, attacked) == chess.F7
    assert best_sense(channels, squares, None, attacked, alarm=0.2) == chess.F7
    assert best_sense(channels, squares, None, attacked, alarm=3) == chess.D3


def test_nothing_is_sensed_without_positions_or_squares() -> None:
    assert best_sense(channels_of([], chess.WHITE), [chess.E4]) is None
    assert best_sense(channels_of([chess.Board()], chess.WHITE), [chess.A1]) is None


def test_value_of_a_sense_is_that_of_brute_force() -> None:
    rng = np.random.default_rng(3)
    channels = rng.choice([6, 6, 6, 0, 1], (30, 64)).astype(np.uint8)
    channels[:, 9:] = channels[0, 9:]  # few squares differ, so that results of senses have several positions
    weights, values = rng.random(30) + 0.1, rng.normal(size=(30, 5))
    shares, doubt = weights / weights.sum(), 2 / 30
    mean = shares @ values
    for square, found in values_of_senses(channels, weights, values, doubt=2).items():
        shown = [
            tuple(channels[each, [square + step for step in (-9, -8, -7, -1, 0, 1, 7, 8, 9)]]) for each in range(30)
        ]
        total = 0.0
        for result in set(shown):
            here = np.array([each == result for each in shown])
            chance = shares[here].sum()
            total += chance * max((shares[here] @ values[here] + doubt * mean) / (chance + doubt))
        assert found == pytest.approx(total)
