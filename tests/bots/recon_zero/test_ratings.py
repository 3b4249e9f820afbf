"""The ratings of a round robin."""

from __future__ import annotations

import pytest

from gm_bots.recon_zero.measure.ratings import rated, ratings_text
from gmd.lobby.results import Score
from tests.bots.recon_zero.test_evaluate import PLAIN, record, rows, run

pytestmark = pytest.mark.slow

#: a beats b, b beats c; a has not met d.
RECORDS = [
    *[record("a", "b", "1-0")] * 3,
    record("b", "a", "1-0"),
    *[record("b", "c", "1-0")] * 2,
    record("c", "b", "1/2-1/2"),
    record("d", "c", "0-1", "time"),
]


def test_ratings_are_those_of_ranked_play() -> None:
    found = rated(RECORDS, ["c", "a", "b", "d", "absent"])
    assert [each.label for each in found] == ["a", "b", "c", "d"]
    assert {each.label: each.score for each in found} == {
        "a": Score(3, 0, 1),
        "b": Score(3, 1, 3),
        "c": Score(1, 1, 2),
        "d": Score(0, 0, 1),
    }
    assert sum(each.rating.rating for each in found) == pytest.approx(4 * 1500, abs=0.1), "the prior's mean"
    assert all(0 < each.rating.deviation < 350 for each in found)


def test_equal_bots_have_equal_ratings_and_more_games_narrow_them() -> None:
    few, many = ([record("a", "b", "1-0"), record("b", "a", "1-0")] * number for number in (1, 40))
    for games in (few, many):
        assert [each.rating.rating for each in rated(games, ["a", "b"])] == [1500, 1500]
    wide, narrow = (rated(games, ["a", "b"])[0].rating.deviation for games in (few, many))
    assert narrow < wide


def test_table_has_the_points_of_each_against_each() -> None:
    text = ratings_text(RECORDS, ["c", "a", "b", "d"])
    cells = {row[0]: row[1:] for row in rows(text).values()}
    assert [cells[name][-4:] for name in ("a", "b", "c", "d")] == [
        ["×", "3/4", "", ""],
        ["1/4", "×", "2½/3", ""],
        ["", "½/3", "×", "1/1"],
        ["", "", "0/1", "×"],
    ]
    assert cells["a"][2] == "3 of 4"
    assert text.splitlines()[-1] == "d lost by time 1"
    assert ratings_text([], ["a", "b"]) == "no game was played\n"


def test_league_is_a_round_robin() -> None:
    pytest.importorskip("numpy", reason="needs numpy: pip install 'grandmasterd[train]'")
    against = ("--against", "random:seed=1", "--against", "minimax:depth=1,seed=1")
    status, said, complaints = run(*PLAIN, "--league", *against, "--games", 2)
    assert (status, complaints) == (0, "")
    found = {row[0]: row[1:] for row in rows(said).values()}
    assert found.keys() == {"recon-zero", "random:seed=1", "minimax:depth=1,seed=1"}
    assert all(row[2].endswith(" of 4") for row in found.values())


def test_league_has_no_row_of_results() -> None:
    status, _, complaints = run(*PLAIN, "--league", "--results-out", "results.csv")
    assert status == 2
    assert "--results-out: its columns count the games of one bot: leave out --league" in " ".join(complaints.split())
