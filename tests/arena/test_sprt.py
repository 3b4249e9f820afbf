"""Sequential tests, against the worked values in fastchess's own tests (app/tests/sprt_test.cpp), and by simulation."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from functools import cache
from itertools import product

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gm_arena.sprt import UNSEEN, Model, Sprt, with_mean, with_mean_in_deviations
from gm_arena.statistics import NELO, Sample, cautious_variance, normalized_elo, score_of_elo
from tests.proofs import cases

#: elo0 and elo1; the model; losses, draws and wins (or pairs from 0 to 2 points); the log-likelihood ratio.
WORKED: list[tuple[float, float, Model, tuple[int, ...], float]] = [
    (0, 2, "normalized", (36027, 68692, 36433), 0.92),
    (-1.75, 0.25, "normalized", (10650, 20431, 10871), 2.30),
    (0, 10, "normalized", (0, 0, 4250), 120.56),
    (0.5, 2.5, "logistic", (21184, 40708, 21404), -1.57),
    (0, 2, "logistic", (57030, 106593, 57433), -2.59),
    (0, 2, "normalized", (365, 16618, 36029 + 200, 16974, 390), 2.25),
    (-1.75, 0.25, "normalized", (127, 4883, 10311 + 401, 5150, 104), 3.01),
    (0.5, 2.5, "logistic", (223, 9863, 20279 + 1000, 10037, 246), -3.07),
    (0, 2, "logistic", (871, 26175, 55003 + 980, 26678, 821), -4.98),
]


@pytest.mark.parametrize(("elo0", "elo1", "model", "counts", "llr"), WORKED)
def test_llr_matches_worked_values(elo0: float, elo1: float, model: Model, counts: tuple[int, ...], llr: float) -> None:
    assert Sprt(elo0, elo1, model=model).llr(Sample(counts)) == pytest.approx(llr, rel=1e-2)


def test_bounds_are_walds() -> None:
    test = Sprt(0, 10, alpha=0.05, beta=0.10)
    assert test.lower == pytest.approx(math.log(0.10 / 0.95))
    assert test.upper == pytest.approx(math.log(0.90 / 0.05))
    assert Sprt(0, 10).upper == pytest.approx(2.944, abs=1e-3)


def test_test_without_games_has_no_verdict() -> None:
    assert Sprt(0, 10).llr(Sample((0, 0, 0))) == 0.0
    assert Sprt(0, 10).verdict(Sample((0, 0, 0))) is None


def test_verdict_follows_the_results() -> None:
    test = Sprt(0, 20)
    assert test.verdict(Sample((100, 100, 200))) == "H1"
    assert test.verdict(Sample((200, 100, 100))) == "H0"
    assert test.verdict(Sample((101, 100, 105))) is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"elo0": 5, "elo1": 5}, "elo0=5 is not below elo1=5"),
        ({"elo0": math.nan, "elo1": 5}, "elo0=nan is not from -10000 to 10000"),
        ({"elo0": 0, "elo1": math.inf}, "elo1=inf is not from -10000 to 10000"),
        ({"elo0": -10_001, "elo1": 5}, "elo0=-10001 is not from -10000 to 10000"),
        ({"elo0": 0, "elo1": 5, "alpha": math.nan}, "alpha=nan is not between 0 and 0.5"),
        ({"elo0": 0, "elo1": 5, "alpha": 0.5}, "alpha=0.5 is not between 0 and 0.5"),
        ({"elo0": 0, "elo1": 5, "beta": 0.0}, "beta=0 is not between 0 and 0.5"),
        ({"elo0": 0, "elo1": 5, "model": "bayesian"}, "model=bayesian is neither logistic nor normalized"),
    ],
)
def test_invalid_parameters_are_refused(arguments: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Sprt(**arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize("model", ["logistic", "normalized"])
@pytest.mark.parametrize("elo1", [1, 234, 236, 700, 7_000, 10_000])
def test_ratio_of_an_even_sample_rejects_any_higher_elo(elo1: float, model: Model) -> None:
    for counts in ((10, 100, 300, 100, 10), (0, 0, 40, 0, 0), (7, 0, 0, 0, 7), (150, 200, 150)):
        test, mirrored = Sprt(0, elo1, model=model), Sprt(-elo1, 0, model=model)
        assert -1e6 < test.llr(Sample(counts)) < 0
        assert mirrored.llr(Sample(counts)) == pytest.approx(-test.llr(Sample(counts)))
        assert Sprt(-elo1, elo1, model=model).llr(Sample(counts)) == pytest.approx(0, abs=1e-6)


COUNTS = st.lists(st.integers(0, 3) | st.integers(0, 20_000), min_size=5, max_size=5).map(tuple).filter(any)


@pytest.mark.slow
@given(COUNTS, st.floats(5, 1500), st.sampled_from([5, 100, 600, 1500]))
def test_normalized_ratio_is_finite_symmetric_and_has_the_sign_of_the_nearer_hypothesis(
    counts: tuple[int, ...], elo1: float, apart: float
) -> None:
    elo0 = elo1 - apart
    llr = Sprt(elo0, elo1).llr(Sample(counts))
    assert math.isfinite(llr)
    assert Sprt(-elo1, -elo0).llr(Sample(counts[::-1])) == pytest.approx(-llr, rel=1e-6, abs=1e-6)
    whole = [count or UNSEEN for count in counts]
    mean, deviation = moments([count / sum(whole) for count in whole])
    seen = (mean - 0.5) / deviation * NELO / math.sqrt(2)
    assume(not elo0 <= seen <= elo1)
    assert (llr > 0) == (seen > elo1)


SEEN = (0.1, 0.2, 0.4, 0.25, 0.05)
SCORES = (0.0, 0.25, 0.5, 0.75, 1.0)


def moments(p: list[float]) -> tuple[float, float]:
    mean = sum(a * b for a, b in zip(p, SCORES, strict=True))
    return mean, math.sqrt(sum(a * (b - mean) ** 2 for a, b in zip(p, SCORES, strict=True)))


def likelihood(p: list[float]) -> float:
    return sum(seen * math.log(q) for seen, q in zip(SEEN, p, strict=True))


@pytest.mark.parametrize("elo", [-700.0, -120.0, 0.0, 3.0, 250.0, 700.0])
def test_fitted_distributions_have_their_mean_and_the_largest_likelihood(elo: float) -> None:
    plain, normalized = with_mean(SCORES, SEEN, score_of_elo(elo)), with_mean_in_deviations(SCORES, SEEN, elo / NELO)
    assert sum(plain) == pytest.approx(1.0)
    assert moments(plain)[0] == pytest.approx(score_of_elo(elo))
    assert sum(normalized) == pytest.approx(1.0)
    mean, deviation = moments(normalized)
    assert (mean - 0.5) / deviation == pytest.approx(elo / NELO, abs=1e-9)
    for i, j in product(range(3), repeat=2):  # changes that keep the sum and the mean
        change = [0.0] * 5
        for k, by in zip(range(3), (1e-5, -2e-5, 1e-5), strict=True):
            change[i + k] += by
            change[j + k] += 0.3 * by
        nearby = [p + by for p, by in zip(plain, change, strict=True)]
        assert likelihood(nearby) < likelihood(plain)


# Error rates. A test at 5 % may be wrong in 5 of 100 matches at most, whichever hypothesis holds.


def wrongs(test: Sprt, elo: float, wrong: str, matches: int, *, pairs: bool) -> int:
    """Simulate matches; return how many end with the wrong verdict."""
    rng = random.Random(f"{elo} {pairs}")
    verdict = cache(lambda counts: test.verdict(Sample(counts)))  # many matches pass through the same counts
    outcomes = _pair_weights(elo) if pairs else _game_weights(score_of_elo(elo))
    errors = 0
    for _ in range(matches):
        counts = [0] * len(outcomes)
        while (decided := verdict(tuple(counts))) is None:
            for index in rng.choices(range(len(outcomes)), weights=outcomes, k=2):
                counts[index] += 1
        errors += decided == wrong
    return errors


def _game_weights(score: float, drawn: float = 0.3) -> tuple[float, float, float]:
    return 1.0 - score - drawn / 2.0, drawn, score - drawn / 2.0


def _pair_weights(elo: float, bias: float = 0.15) -> tuple[float, ...]:
    """Return the weights of pairs: two games from an opening that favours White, with each side White once."""
    white, black = _game_weights(score_of_elo(elo) + bias), _game_weights(score_of_elo(elo) - bias)
    weights = [0.0] * 5
    for (i, p), (j, q) in product(enumerate(white), enumerate(black)):
        weights[i + j] += p * q
    return tuple(weights)


@pytest.mark.slow
@pytest.mark.parametrize("pairs", [False, True])
@pytest.mark.parametrize(("elo", "wrong"), [(0.0, "H1"), (40.0, "H0")])
def test_error_rate_is_within_the_requested_one(elo: float, wrong: str, pairs: bool) -> None:
    test, matches = Sprt(0, 40, alpha=0.05, beta=0.05, model="logistic"), cases(30)
    errors = wrongs(test, elo, wrong, matches, pairs=pairs)
    spread = 3.0 * math.sqrt(0.05 * 0.95 / matches)  # chance alone
    assert errors / matches <= 0.05 + spread, f"{errors} of {matches}"


@pytest.mark.slow
@pytest.mark.parametrize("model", ["logistic", "normalized"])
@pytest.mark.parametrize("pairs", [False, True])
def test_games_left_is_the_mean_number_half_way_between_the_hypotheses(model: Model, pairs: bool) -> None:
    test, matches = Sprt(0, 120, model=model), cases(40)
    rng = random.Random(f"{model} {pairs}")
    verdict = cache(lambda counts: test.verdict(Sample(counts)))
    middle = 60 if model == "logistic" else elo_half_way(pairs=pairs)
    outcomes = _pair_weights(middle) if pairs else _game_weights(score_of_elo(middle))
    guess = Sample(tuple(round(10_000 * weight) for weight in outcomes))
    taken = 0
    for _ in range(matches):
        counts = [0] * len(outcomes)
        while verdict(tuple(counts)) is None:
            counts[rng.choices(range(len(outcomes)), weights=outcomes)[0]] += 1
        taken += sum(counts) * guess.games_each
    begun = replace(guess, counts=(0,) * len(outcomes))
    deviation = math.sqrt(guess.variance / cautious_variance(begun)) if model == "logistic" else 1.0
    expected = test.games_left(begun) * deviation**2  # without games the variance is a guess, and here it is known
    assert 0.75 <= taken / matches / expected <= 1.35


def elo_half_way(*, pairs: bool) -> float:
    """Return the logistic Elo whose normalised Elo is 60."""
    low, high = 0.0, 100.0
    for _ in range(40):
        middle = (low + high) / 2
        weights = _pair_weights(middle) if pairs else _game_weights(score_of_elo(middle))
        found = normalized_elo(Sample(tuple(round(1e9 * weight) for weight in weights)))
        assert found is not None
        low, high = (middle, high) if found.value < 60 else (low, middle)
    return low


def test_decided_test_needs_no_more_games() -> None:
    test = Sprt(0, 40)
    assert test.games_left(Sample((0, 100, 900))) == 0
    assert test.games_left(Sample((900, 100, 0))) == 0
