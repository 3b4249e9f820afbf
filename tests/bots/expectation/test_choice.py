"""A move's value is mostly its mean over the positions, with a part of the worst of them."""

from __future__ import annotations

import pytest

from gm_bots.expectation.choice import WORST, values_of


def test_value_is_the_weighted_mean_without_caution() -> None:
    assert values_of([[1.0, 0.0], [0.0, 0.5]], [3.0, 1.0], 0) == pytest.approx([0.75, 0.125])


def test_worst_tenth_counts_by_its_weight() -> None:
    rows = [[0.0], *[[1.0]] * 19]
    assert values_of(rows, [1.0] * 20, 1) == pytest.approx([0.5])  # half of two positions
    assert values_of(rows, [1.0] * 20, 0.5) == pytest.approx([0.5 * 0.95 + 0.5 * 0.5])
    assert values_of([[0.0], [1.0]], [1.0, 1.0], 1) == [0.0]
    assert WORST == 0.1


def test_value_of_one_position_is_its_result() -> None:
    assert values_of([[0.25, 0.75]], [0.1], 0.3) == pytest.approx([0.25, 0.75])


@pytest.mark.parametrize("weights", [[0.1, 0.7, 0.3], [0.3, 0.3, 0.3]])
def test_certain_win_is_worth_exactly_one(weights: list[float]) -> None:
    assert values_of([[1.0], [1.0], [1.0]], weights, 1.0) == [1.0]
