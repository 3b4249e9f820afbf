"""Moves are chosen by their values over several positions, and senses by the move after them."""

from __future__ import annotations

import chess
import pytest
from chess import Board

from gm_bots.expectation.choice import best_sense, expected_result_after, groups_of, values_of
from gm_recon.possible import WINDOWS

#: The opponent's rook is on a8, b8 or h8.
ROOKS = [Board(f"{rank}/4k3/8/8/8/8/8/4K3 w - - 0 1") for rank in ("r7", "1r6", "7r")]


def chosen(rows: list[list[float]], bits: dict[int, float], information: float = 0.01, prior: float = 0.0) -> str:
    square = best_sense(ROOKS, rows, [1.0] * len(rows), bits, information=information, prior=prior)
    return chess.square_name(square)


def test_value_is_the_weighted_mean_without_caution() -> None:
    assert values_of([[1.0, 0.0], [0.0, 0.5]], [3.0, 1.0], 0) == pytest.approx([0.75, 0.125])


def test_worst_tenth_counts_by_its_weight() -> None:
    rows = [[0.0], *[[1.0]] * 19]
    assert values_of(rows, [1.0] * 20, 1) == pytest.approx([0.5])  # half of two positions
    assert values_of(rows, [1.0] * 20, 0.5) == pytest.approx([0.5 * 0.95 + 0.5 * 0.5])
    assert values_of([[0.0], [1.0]], [1.0, 1.0], 1) == [0.0]


def test_value_of_one_position_is_its_result() -> None:
    assert values_of([[0.25, 0.75]], [0.1], 0.3) == pytest.approx([0.25, 0.75])


@pytest.mark.parametrize("weights", [[0.1, 0.7, 0.3], [0.3, 0.3, 0.3]])
def test_certain_win_is_worth_exactly_one(weights: list[float]) -> None:
    assert values_of([[1.0], [1.0], [1.0]], weights, 1.0) == [1.0]


def test_positions_that_look_alike_form_one_group() -> None:
    assert groups_of(ROOKS, WINDOWS[chess.G7]) == [[0, 1], [2]]
    assert groups_of(ROOKS, WINDOWS[chess.B7]) == [[0], [1], [2]]
    assert groups_of(ROOKS, WINDOWS[chess.D3]) == [[0, 1, 2]]


def test_own_pieces_do_not_distinguish_positions() -> None:
    assert groups_of(ROOKS, WINDOWS[chess.E2]) == [[0, 1, 2]]


def test_sense_that_changes_the_move_is_better_than_one_that_tells_more() -> None:
    """Only whether the rook is on h8 matters to the move."""
    rows = [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]
    bits = {chess.D3: 3.0, chess.G7: 0.9}
    assert chosen(rows, bits) == "g7"
    assert chosen(rows, bits, information=1) == "d3"


def test_information_decides_between_senses_that_change_no_move() -> None:
    rows = [[1.0, 0.0]] * 3
    assert chosen(rows, {chess.D3: 0.0, chess.G7: 0.9, chess.B7: 1.5}) == "b7"


def test_first_of_equal_senses_is_chosen() -> None:
    assert chosen([[1.0, 0.0]] * 3, {chess.D3: 0.0, chess.D4: 0.0}) == "d3"


#: The weights of three positions.
EVEN = [1.0] * 3


def test_each_group_makes_its_best_move() -> None:
    rows = [[1.0, 0.0], [0.0, 0.5], [0.0, 1.0]]
    assert expected_result_after([[0, 1, 2]], rows, EVEN, 0) == 1.5
    assert expected_result_after([[0], [1, 2]], rows, EVEN, 0) == 2.5


def test_prior_keeps_a_group_of_one_from_its_own_move_unless_the_difference_is_large() -> None:
    """The first position alone prefers the second move, by little."""
    rows = [[0.5, 0.6], [1.0, 0.0], [1.0, 0.0]]
    assert expected_result_after([[0], [1, 2]], rows, EVEN, 0) == pytest.approx(2.6)
    assert expected_result_after([[0], [1, 2]], rows, EVEN, 1) == pytest.approx(2.5)
    rows[0] = [0.0, 1.0]
    assert expected_result_after([[0], [1, 2]], rows, EVEN, 1) == pytest.approx(3.0)


def test_unlikely_position_changes_its_move_as_a_likely_one_does() -> None:
    """What a sense is worth in a position follows from that position, however small its part in the whole."""
    rows, weights = [[0.0, 0.01], [1.0, 0.0], [1.0, 0.0]], [0.01, 1.0, 1.0]
    assert expected_result_after([[0], [1, 2]], rows, weights, 1) == pytest.approx(2.01)
