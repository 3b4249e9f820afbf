"""The diagonal of an inverse: correct whatever is eliminated first, and cheap if few players have met each other."""

from __future__ import annotations

from collections.abc import Generator
from random import Random
from typing import TypeVar

import chess
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gmd.event_log.interface import RankedResult
from gmd.lobby.results import Record
from gmd.lobby.strengths import SPREAD, Sparse, estimate, inverse_diagonal, solve

T = TypeVar("T")

WEIGHT = st.sampled_from((1e-9, 0.01, 0.25, 3.0, 25_000.0))


def whole(computing: Generator[None, None, T]) -> tuple[T, int]:
    """Return the value of a computation in steps, and the number of steps."""
    steps = 0
    while True:
        try:
            next(computing)
        except StopIteration as stop:
            value: T = stop.value
            return value, steps
        steps += 1


def matrix_of(rows: int, games: list[tuple[int, int, float]]) -> Sparse:
    """Return a matrix as ratings use it: 0.25 on the diagonal, each pair's weight added to it, and negated off it."""
    diagonal, others = [0.25] * rows, [dict[int, float]() for _ in range(rows)]
    for one, other, weight in games:
        if one != other:
            for mine, theirs in ((one, other), (other, one)):
                diagonal[mine] += weight
                others[mine][theirs] = others[mine].get(theirs, 0.0) - weight
    return diagonal, others


def by_solving(matrix: Sparse) -> list[float]:
    """Return the diagonal in another way: by solving a system for each entry."""
    size = len(matrix[0])
    units = ([float(row == column) for column in range(size)] for row in range(size))
    return [whole(solve(matrix, unit))[0][row] for row, unit in enumerate(units)]


@given(st.integers(1, 24), st.lists(st.tuples(st.integers(0, 23), st.integers(0, 23), WEIGHT), max_size=60))
def test_result_is_the_diagonal_of_the_inverse_for_any_games(rows: int, games: list[tuple[int, int, float]]) -> None:
    matrix = matrix_of(rows, [(one % rows, other % rows, weight) for one, other, weight in games])
    assert whole(inverse_diagonal(matrix))[0] == pytest.approx(by_solving(matrix), rel=1e-6)


def test_result_is_approximate_for_a_too_large_core() -> None:
    random = Random(1)
    matrix = matrix_of(120, [(one, random.randrange(120), 1.0) for one in range(120) for _ in range(60)])
    exact, _ = whole(inverse_diagonal(matrix))
    quick, _ = whole(inverse_diagonal(matrix, most_in_core=50))
    assert quick == pytest.approx(exact, rel=0.05)
    assert quick != pytest.approx(exact, rel=1e-6)


def versions(count: int) -> Record:
    """Return the games of two players who begin a new version after each game, and who both meet a third one."""
    games = [RankedResult(1, version, 2, version, chess.WHITE) for version in range(count)]
    games += [RankedResult(player, version, 3, 1, chess.BLACK) for version in range(count) for player in (1, 2)]
    return Record(games)


def test_cost_of_ratings_is_proportional_to_the_number_of_versions() -> None:
    """Twice as many versions take twice as long, not eight times."""
    few, many = (whole(estimate(versions(count).opponents(), {}))[1] for count in (100, 200))
    assert many < 2.5 * few


@pytest.mark.slow
def test_ten_thousand_versions_have_ratings() -> None:
    ratings, _ = whole(estimate(versions(5_000).opponents(), {}))
    assert len(ratings) == 10_001
    assert all(0 < rating.deviation < SPREAD for rating in ratings.values())
