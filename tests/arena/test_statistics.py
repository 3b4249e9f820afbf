"""Elo estimates, against the worked values in fastchess's own tests (app/tests/elo_test.cpp), and by their meaning."""

from __future__ import annotations

import math
import random
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gm_arena.statistics import (
    Z_95,
    Sample,
    elo_difference,
    elo_interval,
    elo_of_score,
    likelihood_of_superiority,
    normalized_elo,
    score_interval,
    score_of_elo,
)
from tests.proofs import cases

#: Losses, draws and wins, or pairs from 0 to 2 points; Elo and its error; normalised Elo and its error; superiority.
WORKED = [
    ((89, 123, 76), None, (-20.76, 40.13), 0.1553),
    ((96, 111, 136), (40.70, 30.43), (49.77, 36.77), 0.9960),
    ((356, 0, 34), None, (-508.44, 34.48), None),
    ((34, 54, 31 + 32, 64, 75), (55.58, 27.65), (57.94, 28.28), 1.0),
    ((332, 433, 457 + 41, 333, 334), (-8.64, 10.33), (-9.17, 10.96), 0.0505),
    ((7895, 8757, 5485 + 200, 568, 9999), (-21.04, 2.95), (-19.01, 2.65), None),
]


@pytest.mark.parametrize(("counts", "elo", "nelo", "superiority"), WORKED)
def test_estimates_match_worked_values(
    counts: tuple[int, ...],
    elo: tuple[float, float] | None,
    nelo: tuple[float, float],
    superiority: float | None,
) -> None:
    sample = Sample(counts)
    normalized, plain, likelihood = normalized_elo(sample), elo_difference(sample), likelihood_of_superiority(sample)
    assert normalized is not None
    assert plain is not None
    assert (normalized.value, normalized.error) == pytest.approx(nelo, rel=1e-2)
    if elo is not None:
        assert (plain.value, plain.error) == pytest.approx(elo, abs=0.01)
    if superiority is not None:
        assert likelihood == pytest.approx(superiority, abs=5e-5)


@given(st.floats(-2000, 2000))
def test_elo_and_score_are_each_others_inverse(elo: float) -> None:
    assert elo_of_score(score_of_elo(elo)) == pytest.approx(elo, rel=1e-6, abs=1e-6)


def test_score_of_all_or_nothing_has_infinite_elo() -> None:
    assert (elo_of_score(0.0), elo_of_score(1.0)) == (-math.inf, math.inf)


#: Successes, trials, and the ends of Wilson's interval: R. G. Newcombe, "Two-sided confidence intervals for the single
#: proportion: comparison of seven methods", Statistics in Medicine 17 (1998), table I, method 3.
NEWCOMBE = [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)]


@pytest.mark.parametrize(("won", "games", "low", "high"), NEWCOMBE)
def test_score_intervals_match_worked_values(won: int, games: int, low: float, high: float) -> None:
    interval = score_interval(Sample((games - won, 0, won)))
    assert interval is not None
    assert (interval.value, interval.low, interval.high) == pytest.approx((won / games, low, high), abs=5e-5)


def test_score_of_all_points_has_an_interval_and_a_least_elo() -> None:
    interval = score_interval(Sample((0, 0, 200)))
    assert interval is not None
    assert (interval.value, interval.high) == (1.0, 1.0)
    assert interval.low == pytest.approx(200 / (200 + Z_95**2))
    elo = elo_interval(interval)
    assert (elo.value, elo.high) == (math.inf, math.inf)
    assert score_of_elo(elo.low) == pytest.approx(interval.low)
    assert score_interval(Sample((0, 0, 0))) is None


def test_score_interval_counts_the_games_of_pairs() -> None:
    games, pairs = score_interval(Sample((10, 0, 30))), score_interval(Sample((5, 0, 0, 0, 15)))
    assert games == pairs


counts = st.lists(st.integers(0, 1000), min_size=3, max_size=3) | st.lists(st.integers(0, 1000), min_size=5, max_size=5)


@given(counts)
def test_estimates_of_the_other_side_are_the_opposite(counts: list[int]) -> None:
    mine, yours = Sample(tuple(counts)), Sample(tuple(reversed(counts)))
    for estimate in (elo_difference, normalized_elo):
        one, other = estimate(mine), estimate(yours)
        if one is None or other is None:
            assert one is other
            assert sum(count > 0 for count in counts) < 2
            continue
        assert (one.value, one.low, one.high) == pytest.approx((-other.value, -other.high, -other.low), abs=1e-6)
        assert one.low <= one.value <= one.high
    score, reverse = score_interval(mine), score_interval(yours)
    if score is not None and reverse is not None:
        assert (score.value, score.low, score.high) == pytest.approx(
            (1 - reverse.value, 1 - reverse.high, 1 - reverse.low)
        )
        assert 0 <= score.low <= score.value <= score.high <= 1
    likelihoods = likelihood_of_superiority(mine), likelihood_of_superiority(yours)
    if None not in likelihoods:
        assert sum(filter(None, likelihoods)) == pytest.approx(1.0)


@pytest.mark.parametrize("counts", [(0, 0, 0), (0, 0, 7), (3, 0, 0), (0, 9, 0), (0, 0, 4, 0, 0)])
def test_identical_results_have_no_interval(counts: tuple[int, ...]) -> None:
    assert elo_difference(Sample(counts)) is None
    assert likelihood_of_superiority(Sample(counts)) is None


def test_games_have_three_outcomes_and_pairs_five() -> None:
    with pytest.raises(ValueError, match="4 outcomes"):
        Sample((1, 2, 3, 4))


def test_interval_contains_the_true_value_in_95_of_100_matches() -> None:
    """The matches are simulated, between two bots whose difference is known."""
    matches, rng, true = cases(200), random.Random(7), 35.0
    win = score_of_elo(true) - 0.2  # 4 of 10 games are drawn
    hits = 0
    for _ in range(matches):
        games = rng.choices((0, 1, 2), weights=(0.6 - win, 0.4, win), k=400)
        interval = elo_difference(Sample(tuple(map(games.count, range(3)))))
        assert interval is not None
        hits += interval.low <= true <= interval.high
    spread = NormalDist().inv_cdf(0.999) * math.sqrt(0.95 * 0.05 / matches)
    assert hits / matches == pytest.approx(0.95, abs=spread)
