"""How often a league's members are met."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("torch", reason="needs PyTorch: .venv/bin/pip install -e '.[train]'")

from gm_bots.recon_zero.league.season import MOST, Standing, draw, shares, standings

TAKEN = st.dictionaries(st.sampled_from("abcdefghijkl"), st.floats(0, 1), min_size=1)


@given(TAKEN)
def test_every_member_has_a_share_and_none_has_most_games(taken: dict[str, float]) -> None:
    found = shares(taken)
    assert found.keys() == taken.keys()
    assert sum(found.values()) == pytest.approx(1)
    assert all(share > 0 for share in found.values())
    if len(found) > 1:
        assert max(found.values()) <= MOST + 1e-9


@given(TAKEN)
def test_member_that_takes_more_is_not_met_less_often(taken: dict[str, float]) -> None:
    found = shares(taken)
    ordered = sorted(taken, key=lambda member: taken[member])
    assert [found[member] for member in ordered] == pytest.approx(sorted(found.values()))


def test_one_that_takes_everything_gets_half_of_the_games_beside_others() -> None:
    found = shares({"beats us": 1.0, "loses": 0.0, "loses, too": 0.0})
    assert found == pytest.approx({"beats us": 0.5, "loses": 0.25, "loses, too": 0.25})
    assert shares({"alone": 0.0}) == {"alone": 1.0}
    assert shares({}) == {}


def test_share_grows_with_the_square_of_the_points_taken() -> None:
    found = shares({"a": 0.5, "b": 0.4, "c": 0.1, "d": 0.0})
    assert found["a"] / found["d"] == pytest.approx((0.05 + 0.25) / 0.05)
    assert found["b"] / found["c"] == pytest.approx((0.05 + 0.16) / (0.05 + 0.01))


def test_draws_follow_the_shares_and_the_seed() -> None:
    portions = {"a": 0.5, "b": 0.3, "c": 0.2}
    drawn = draw(portions, 4000, "1 league 7")
    counts = Counter(drawn)
    assert {name: counts[name] / 4000 for name in portions} == pytest.approx(portions, abs=0.03)
    assert draw(portions, 4000, "1 league 7") == drawn
    assert draw(portions, 4000, "1 league 8") != drawn


def test_member_not_yet_met_is_taken_to_be_equal() -> None:
    assert Standing().taken == 0.5
    assert standings(["new"], []) == {"new": Standing()}


def test_later_results_count_more_than_earlier_ones() -> None:
    """A game lost and then one won, in the order of the log; lines of older versions have no league."""
    log = [{"iteration": 1}, {"league": {"a": [0, 0, 1], "gone": [1, 0, 0]}}, {"league": {"a": [1, 0, 0]}}]
    found = standings(["a", "b"], log)
    assert found == {"a": Standing(1.8, 0.8), "b": Standing()}
    assert found["a"].taken == pytest.approx(1.8 / 3.8)
    turned = standings(["a"], [log[2], log[1]])
    assert turned["a"].taken > found["a"].taken


def test_draws_are_half_points() -> None:
    assert Standing().later((0, 3, 0)) == Standing(3.0, 1.5)
