"""The evidence of a match, checked by exact enumeration and simulation."""

from __future__ import annotations

import math
import random
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gm_arena.statistics import (
    CONFIDENCE,
    GOALS,
    POWER,
    Sample,
    cautious_variance,
    exact_p,
    games_needed,
    next_goal,
    score_of_elo,
    sureness,
    verdict_of,
)
from tests.proofs import cases

small_samples = st.sampled_from([3, 5]).flatmap(
    lambda outcomes: st.lists(st.integers(0, 3), min_size=outcomes, max_size=outcomes).map(
        lambda counts: Sample(tuple(counts))
    )
)


def half_points(sample: Sample) -> list[int]:
    """Return each observation's deviation from even."""
    middle = len(sample.counts) // 2
    return [index - middle for index, count in enumerate(sample.counts) for _ in range(count)]


@given(small_samples)
def test_exact_p_is_the_share_of_sign_flips_that_reach_the_score(sample: Sample) -> None:
    deviations = [deviation for deviation in half_points(sample) if deviation]
    reached = abs(sum(deviations))
    flips = [
        sum(s * d for s, d in zip(signs, deviations, strict=True)) for signs in product((-1, 1), repeat=len(deviations))
    ]
    expected = 1.0 if reached == 0 else sum(flip >= reached for flip in flips) / len(flips)
    assert exact_p(sample) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("counts", "side"),
    [
        ((0, 0, 0), None),
        ((0, 2, 2), None),  # 97.7 % by mean and variance
        ((0, 0, 5), None),  # a chance of 1 in 32
        ((0, 0, 6), "stronger"),  # 1 in 64
        ((6, 0, 0), "weaker"),
        ((0, 100, 0), None),
        ((0, 0, 0, 6, 0), "stronger"),
        ((400, 300, 400), None),
        ((400, 300, 500), "stronger"),
        ((30_000, 20_000, 31_000), "stronger"),
    ],
)
def test_difference_is_reported_only_when_chance_cannot_explain_it(counts: tuple[int, ...], side: str | None) -> None:
    assert verdict_of(Sample(counts)) == side


def test_sureness_of_many_games_is_their_likelihood_of_superiority() -> None:
    assert sureness(Sample((400, 300, 500))) == pytest.approx(0.99957, abs=2e-4)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=4))
def test_games_of_equal_players_from_one_start_decide_in_5_of_100_matches_at_most(whites: list[float]) -> None:
    """Each counts by itself, whatever White's advantage is: the two games of a pair then have opposite chances."""
    chances = [chance for white in whites for chance in (white, 1 - white)]
    wrong = 0.0
    for outcome in product((0, 1), repeat=len(chances)):
        losses = outcome.count(0)
        if exact_p(Sample((losses, 0, len(outcome) - losses))) <= 1 - CONFIDENCE:
            wrong += math.prod(p if won else 1 - p for p, won in zip(chances, outcome, strict=True))
    assert wrong <= 2 * (1 - CONFIDENCE) + 1e-9


weights = st.tuples(*[st.floats(0.01, 1)] * 3)


@given(weights, st.integers(1, 7), st.booleans())
def test_equal_players_are_told_apart_in_5_of_100_matches_at_most(
    weights: tuple[float, float, float], size: int, pairs: bool
) -> None:
    """This holds for any draw rate and any length of the match: every outcome is counted with its probability."""
    sides = [*weights[:2], weights[2], *weights[1::-1]] if pairs else [weights[0], weights[2], weights[0]]
    total = sum(sides)
    wrong = 0.0
    for outcome in _compositions(size, len(sides)):
        if verdict_of(Sample(outcome)) is not None:
            ways = math.factorial(size)
            for count, weight in zip(outcome, sides, strict=True):
                ways = ways * (weight / total) ** count / math.factorial(count)
            wrong += ways
    assert wrong <= 2 * (1 - CONFIDENCE) + 1e-9


def _compositions(total: int, parts: int) -> list[tuple[int, ...]]:
    """Return every way to split a number into so many parts."""
    if parts == 1:
        return [(total,)]
    return [(first, *rest) for first in range(total + 1) for rest in _compositions(total - first, parts - 1)]


# How many games reveal a difference.

#: For games and pairs: how often each outcome comes where the players are equal.
EVEN = {"decisive": (0.4, 0.2, 0.4), "drawn": (0.1, 0.8, 0.1), "pairs": (0.08, 0.22, 0.4, 0.22, 0.08)}


def shifted(even: tuple[float, ...], elo: float) -> list[float]:
    """Return the outcomes of players who are so many Elo apart: some of the losses become wins."""
    last = len(even) - 1
    moved = (score_of_elo(elo) - 0.5) * last / 2
    share = moved / sum(even[: len(even) // 2][i] * (last - 2 * i) / 2 for i in range(len(even) // 2))
    found = list(even)
    for i in range(len(even) // 2):
        found[i] -= share * even[i]
        found[last - i] += share * even[i]
    return found


@pytest.mark.parametrize("name", EVEN)
@pytest.mark.parametrize("elo", [pytest.param(20.0, marks=pytest.mark.slow), 50.0])
def test_estimated_number_of_games_shows_the_difference_as_often_as_promised(name: str, elo: float) -> None:
    """The promise is four matches of five; the exact test falls a little short of it in short ones."""
    even = EVEN[name]
    rng, matches = random.Random(f"{name} {elo}"), cases(300)
    guess = Sample(tuple(round(2_000 * share) for share in even))
    size = games_needed(guess, elo) // guess.games_each
    weights = shifted(even, elo)
    assert sum(i * p for i, p in enumerate(weights)) / (len(weights) - 1) == pytest.approx(score_of_elo(elo))
    right = sum(verdict_of(_drawn(rng, weights, size)) == "stronger" for _ in range(matches))
    spread = 4 * math.sqrt(POWER * (1 - POWER) / matches)
    assert POWER - 0.05 - spread <= right / matches <= POWER + 0.03 + spread


def _drawn(rng: random.Random, weights: list[float], size: int) -> Sample:
    counts = [0] * len(weights)
    for index in rng.choices(range(len(weights)), weights=weights, k=size):
        counts[index] += 1
    return Sample(tuple(counts))


@given(small_samples)
def test_smaller_difference_needs_more_games_and_all_numbers_are_finite(sample: Sample) -> None:
    needed = [games_needed(sample, elo) for elo in (400.0, 100.0, *GOALS)]
    assert needed == sorted(needed)
    assert needed[0] > 0
    assert cautious_variance(sample) > 0


def test_next_goal_is_a_difference_that_the_games_so_far_could_not_show() -> None:
    elo, more = next_goal(Sample((40, 20, 40)))
    assert elo == 20
    assert more == games_needed(Sample((40, 20, 40)), 20) - 100
    assert next_goal(Sample((2_000, 1_000, 2_000)))[0] == 10
    assert next_goal(Sample((4_000, 2_000, 4_000)))[0] == 5
    assert next_goal(Sample((10**9, 10**9, 10**9))) == (1.0, 0)
