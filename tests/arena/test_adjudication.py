"""Games that the bots' own scores end, with ``--resign`` and ``--draw``."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from chess import BLACK, WHITE

from gm_arena.match.adjudication import Adjudicator, DrawRule, ResignRule, Rules
from gm_protocol.endings import Cause, Ending
from tests.arena.matches import games, played, run

#: White's and Black's scores, move by move; whether White, to move, has to resign, one-sided and two-sided.
RESIGNATIONS = [
    (["-600"] * 3, ["+600"] * 3, True, True),
    (["-600"] * 3, ["+600", "+599", "+600"], True, False),
    (["-600"] * 3, ["+600"] * 2, True, False),
    (["-600"] * 3, [None] * 3, True, False),
    (["-600"] * 2, ["+600"] * 2, False, False),
    (["-600", "-599", "-600"], ["+600"] * 3, False, False),
    (["-600", None, "-600"], ["+600"] * 3, False, False),
    (["+10", "-600", "#-12", "-900"], ["-10", "+900", "#11", "+900"], True, True),
    (["#3", "#2", "#1"], ["#-3", "#-2", "#-1"], False, False),
]


@pytest.mark.parametrize(("white", "black", "one_sided", "two_sided"), RESIGNATIONS)
def test_bot_resigns_after_enough_low_scores_in_a_row(
    white: list[str | None], black: list[str | None], one_sided: bool, two_sided: bool
) -> None:
    for twosided, expected in ((False, one_sided), (True, two_sided)):
        for side, own, others in ((WHITE, white, black), (BLACK, black, white)):
            of = {side: white, not side: black}
            judge = Adjudicator(Rules(resign=ResignRule(3, 600, twosided)))
            for color, scores in of.items():
                for score in scores:
                    judge.note(color, score)
            ending = judge.ending(side, len(own) + len(others), offered=True)
            assert ending == (Ending.by(Cause.RESIGNATION, side) if expected else None)


def test_draw_is_offered_and_agreed_after_enough_even_scores_and_moves() -> None:
    judge = Adjudicator(Rules(draw=DrawRule(movenumber=4, movecount=2, score=10)))
    for ply, score in enumerate(["+50", "+10", "-10", "0", "+3", "-3", "0", "0"]):
        color = WHITE if ply % 2 == 0 else BLACK
        assert not judge.drawn(ply), "four moves of each side are not played"
        judge.note(color, score)
    assert judge.drawn(8)
    assert judge.ending(WHITE, 8, offered=True) == Ending(Cause.AGREEMENT)
    assert judge.ending(WHITE, 8, offered=False) is None
    judge.note(WHITE, "+11")
    assert not judge.drawn(9)
    assert judge.ending(BLACK, 9, offered=True) is None
    assert not Adjudicator(Rules()).drawn(100)


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["standard", "rbc"])
def test_lost_games_end_before_mate(variant: str, tmp_path: Path) -> None:
    pgn = tmp_path / "match.pgn"
    bots = ("strong=minimax:depth=2", "weak=minimax:depth=1", "--variant", variant, "--games", 4, "--seed", 3)
    records, totals = played(
        tmp_path / "match.jsonl", *bots, "--resign", "movecount=2", "score=150", "--pgn-out", pgn, "--max-moves", 80
    )
    adjudicated = [record for record in records if record["ending"] == "adjudication"]
    assert len(adjudicated) == totals["endings"]["adjudication"] >= (4 if variant == "standard" else 1)
    for record in adjudicated:
        loser = {"1-0": "black", "0-1": "white"}[record["result"]]
        assert record["termination"] == f"resignation_{loser}"
        assert [int(row[4]) <= -150 for row in record["times"][loser][-2:]] == [True, True]
        assert record["faults"] == {}
    words = re.findall(r'^\[Termination "(.*)"', pgn.read_text("utf-8"), re.MULTILINE)
    assert words.count("adjudication") == len(adjudicated)


@pytest.mark.slow
def test_even_games_are_drawn_and_resumed_only_by_the_same_rule(tmp_path: Path) -> None:
    path = tmp_path / "match.jsonl"
    bots = ("one=minimax:depth=1", "two=minimax:depth=1", "--json-out", path)
    rule = ("--draw", "movenumber=2", "movecount=1", "score=60")
    assert run(*bots, *rule)[0] == 0
    assert [(game["result"], game["ending"], game["termination"], game["plies"]) for game in games(path)] == [
        ("1/2-1/2", "adjudication", "draw_agreed", 5)
    ] * 2
    assert run(*bots, *rule, "--resume")[0] == 0
    status, _, error = run(*bots, "--resume")
    assert status == 1
    assert "belongs to another match: its draw is" in error
