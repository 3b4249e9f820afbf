"""The standing of a match while it is played, and the table at its end."""

from __future__ import annotations

import pytest

from gm_arena.match.report import RunningScore
from gm_arena.match.summary import meeting
from gm_arena.match.verdict import lines_of
from tests.arena.test_verdict import Records, game, pairs, single


def numbers(records: Records) -> str:
    standing = RunningScore(["new", "old"], None)
    for record in records:
        standing.add(record)
    return standing.numbers()


def test_numbers_are_those_of_fastchess_as_far_as_they_are_known() -> None:
    one_more = game(99, "new", "old", "1-0", pair=[0, 1, 99])
    assert numbers([*pairs([4, 0] * 6), one_more]) == "52.0 %, Elo 0 (-223 to +223), LOS 50.0 %"
    assert numbers(single("wwl")) == "66.7 %, Elo +120 (-325 to ∞), LOS 73.0 %"
    assert numbers(single("wwwww")) == "100.0 %"


def test_lines_are_those_of_fastchess() -> None:
    assert lines_of(meeting(pairs([3] * 9 + [1]), "new", "old")) == [
        "new against old: won 9, drawn 10, lost 1; 70.0 %",
        "Elo: +147.2 (+75.5 to +233.3), a rough figure from fewer than 60 games",
        "Ptnml(0-2): [0, 1, 0, 9, 0]",
    ]


@pytest.mark.parametrize("results", ["w", "ll", "dddd"])
def test_identical_results_give_no_elo(results: str) -> None:
    assert lines_of(meeting(single(results), "new", "old"))[1] == ("Elo: unknown, since all results are the same")
