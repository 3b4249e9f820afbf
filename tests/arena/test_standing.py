"""The standing of a match while it is played, and the table at its end."""

from __future__ import annotations

import pytest

from gm_arena.match.pace import Pace
from gm_arena.match.report import Report
from gm_arena.match.standing import RunningScore
from gm_arena.match.summary import meeting
from gm_arena.match.text import cost_lines, lines_of
from gm_arena.sprt import Sprt
from tests.arena.test_verdict import Records, game, pairs, single, text


def numbers(records: Records) -> str:
    standing = RunningScore(["new", "old"], None)
    for record in records:
        standing.add(record)
    return standing.numbers()


def test_lead_that_equal_bots_often_have_is_not_called_sure() -> None:
    one_more = game(99, "new", "old", "1-0", pair=[0, 1, 99])
    assert numbers([*pairs([4, 0] * 6), one_more]).startswith("52.0 %, Elo 0 (")
    assert numbers([*pairs([4, 2]), one_more]) == "80.0 %, Elo +191 (-68 to ∞)"
    assert numbers(single("wwl")) == "66.7 %, Elo +120 (-325 to ∞)"


def test_lead_that_equal_bots_seldom_have_names_the_leader_and_is_as_sure_as_the_verdict() -> None:
    assert numbers(single("wwwww")) == "100.0 %, 96.9 % sure that new is stronger"
    assert numbers(single("lllll")) == "0.0 %, 96.9 % sure that old is stronger"
    records = single("w" * 12)
    assert numbers(records).endswith(", 99.9 % sure that new is stronger")
    assert text(records).endswith(", 99.9 % sure")


def test_likelihood_of_superiority_is_shown_only_with_enough_games() -> None:
    few, enough = (lines_of(meeting(single("wwd" * count), "new", "old")) for count in (9, 10))
    assert few[1] == "Elo difference: +279.6, with 95 % from +185.7 to +429.6"
    assert enough[1].startswith("Elo difference: +279.6, with 95 % from ")
    assert enough[1].endswith("; likelihood of superiority 99.9 %")


def test_time_to_go_shows_at_most_only_when_that_is_more() -> None:
    now = 0.0
    pace = Pace(1, now=lambda: now)
    with pace.game(1):
        now = 1.0
    labels = ["new", "old"]
    likely_all = Report(labels, 3, Sprt(0, 10), pace, quiet=True, verbose=False)
    likely_few = Report(labels, 5_000, Sprt(0, 500), pace, quiet=True, verbose=False)
    for record in single("wl" * 1):
        likely_all.played(record)
    for record in single("w" * 20):
        likely_few.played(record)
    assert "at most" not in likely_all.time_to_go()
    assert ", at most " in likely_few.time_to_go()


def test_cost_is_never_minus_zero() -> None:
    times = {"white": [[0, 0.5, 0.49999, 9.0, None, None]], "black": []}
    (line,) = cost_lines([{**single("w")[0], "times": times}])
    assert line.endswith(": median 0.0 ms, worst 0.0 ms, of 1 moves")


@pytest.mark.parametrize("results", ["w", "ll", "dddd"])
def test_identical_results_give_no_elo(results: str) -> None:
    assert lines_of(meeting(single(results), "new", "old"))[1] == (
        "Elo difference: unknown, since all results are the same"
    )
