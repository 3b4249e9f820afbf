"""The engine in ``gmd match``: a depth against another bot, the scores of every move, and what is drawn of them."""

from __future__ import annotations

import csv
from pathlib import Path

from gm_arena.match.outputs import mean_by_move, scores_by_move
from tests.arena.matches import played

ONE, RANDOM = "minimax:depth=1", "random:seed=1"


def test_every_move_of_its_games_has_its_score_and_they_are_drawn(tmp_path: Path) -> None:
    moves, plot = tmp_path / "moves.csv", tmp_path / "scores.svg"
    records, summary = played(
        tmp_path / "match.jsonl", ONE, RANDOM, "--games", 2, "--concurrency", 0, "--csv-out", moves, "--plot", plot
    )
    assert summary["meetings"][0]["wins"] == 2, summary
    rows = list(csv.DictReader(moves.read_text().splitlines()))
    assert len(rows) == sum(len(record["moves"]) for record in records)
    for row in rows:
        assert bool(row["score"]) == bool(row["pawns"]) == (row["bot"] == ONE)
    for record in records:
        last = next(row for row in reversed(rows) if row["game"] == str(record["game"]))
        assert (last["bot"], last["score"], last["result"]) == (ONE, "#1", record["result"])
    assert_the_mean_is_by_move(*(scores_by_move(record, ONE) for record in records))
    drawn = plot.read_text("utf-8")
    assert f"<!-- {ONE} -->" in drawn
    assert f"<!-- {RANDOM} -->" not in drawn, "who has no scores has no line"


def assert_the_mean_is_by_move(first: list[tuple[int, float]], second: list[tuple[int, float]]) -> None:
    """Of two games, whichever colour the bot had in them: White's third ply and Black's fourth are both move 2."""
    assert [move for move, _ in first] == list(range(1, len(first) + 1))
    both = min(len(first), len(second))
    mean = mean_by_move([first, second])
    assert mean[:both] == [(move, (one + two) / 2) for (move, one), (_, two) in zip(first, second, strict=False)]
    assert mean[both:] == max(first, second, key=len)[both:]


def test_a_seed_gives_every_game_its_own_way_and_the_match_the_same_games_again(tmp_path: Path) -> None:
    """Depth against depth, without which a match is the same two games over and over."""
    bots = (f"a={ONE},seed=1", f"b={ONE},seed=1")
    first, second = (
        [record["moves"] for record in played(tmp_path / name, *bots, "--games", 4, *limits)[0]]
        for name, *limits in (("one", "--max-moves", 4), ("two", "--max-moves", 4, "--concurrency", 2))
    )
    assert first == second
    assert len(set(map(str, first))) == 4
