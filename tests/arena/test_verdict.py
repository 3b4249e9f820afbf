"""The sentence that a match ends with."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, count
from typing import Any

import chess
import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gm_arena.match.summary import meeting
from gm_arena.match.verdict import Verdict, coloured, lines_of, verdict
from gm_arena.sprt import Sprt

Records = list[dict[str, Any]]


def game(number: int, white: str, black: str, result: str, **fields: Any) -> dict[str, Any]:
    """Return a game that differs from all others."""
    moves, pair = fields.pop("moves", [f"move {number}"]), fields.pop("pair", [0, 1, f"alone {number}"])
    return {
        "white": white, "black": black, "result": result, "ending": "checkmate", "pair": pair, "moves": moves,
        "opening": "start", "start_fen": chess.STARTING_FEN, **fields
    }  # fmt: skip


def single(results: str, one: str = "new", other: str = "old") -> Records:
    """Return games of two without pairs, by what the first has won (w), drawn (d) and lost (l)."""
    results_of = {"w": "1-0", "d": "1/2-1/2", "l": "0-1"}
    return [game(number, one, other, results_of[letter]) for number, letter in enumerate(results)]


def pairs(half_points: Sequence[int], one: str = "new", other: str = "old") -> Records:
    """Return pairs of games in which the first scores so many half-points."""
    records: Records = []
    for number, points in enumerate(half_points):
        first, second = min(points, 2), max(points - 2, 0)
        records.append(game(2 * number, one, other, ("0-1", "1/2-1/2", "1-0")[first], pair=[0, 1, number]))
        records.append(game(2 * number + 1, other, one, ("1-0", "1/2-1/2", "0-1")[second], pair=[0, 1, number]))
    return records


def text(records: Records, *labels: str, sprt: Sprt | None = None) -> str:
    return verdict(records, labels or ("new", "old"), sprt).text


def test_decided_difference_is_named_with_its_interval_and_likelihood() -> None:
    many = single("w" * 450 + "d" * 300 + "l" * 350)
    assert verdict(many, ["new", "old"], None) == Verdict(
        "new is stronger than old: Elo +32 (+14 to +49), LOS 99.9 %", "good"
    )
    assert verdict(many, ["old", "new"], None) == Verdict(
        "old is weaker than new: Elo -32 (-49 to -14), LOS 0.0 %", "bad"
    )


def test_pairs_are_judged_as_pairs() -> None:
    """Single games scatter more than the two from one opening together."""
    balanced = pairs([2] * 70 + [3] * 20 + [1] * 5)
    assert text(balanced) == "new is stronger than old: Elo +27 (+10 to +45), LOS 99.9 %"
    assert text([{**record, "pair": [number]} for number, record in enumerate(balanced)]).startswith("not decided: ")


def test_undecided_match_says_how_many_more_games_it_needs() -> None:
    assert verdict(single("w" * 100 + "d" * 100 + "l" * 95), ["new", "old"], None) == Verdict(
        "not decided: new scored 50.8 % in 295 games, Elo +6 (-26 to +38); "
        "about 1,300 more games would show a difference of 20 Elo",
        "open",
    )


def test_few_games_prove_little_and_how_sure_they_are_is_not_told() -> None:
    assert text(single("wwdd")) == (
        "not decided: new scored 75.0 % in 4 games, Elo +191 (+3 to +919); "
        "about 1,200 more games would show a difference of 20 Elo"
    )
    few = pairs([3] * 9 + [1])
    assert text(few) == ("new is stronger than old: Elo +147 (+76 to +233), a rough figure from fewer than 60 games")
    assert not any("LOS" in line for line in lines_of(meeting(few, "new", "old")))


def test_infinity_has_one_form() -> None:
    assert lines_of(meeting(single("wwl"), "new", "old"))[1] == (
        "Elo: +120.4 (-325.3 to ∞), a rough figure from fewer than 30 games"
    )


@pytest.mark.parametrize(
    ("results", "expected"),
    [
        (
            "w",
            "not decided: new won its only game, Elo above -234; 5 more games like that would show that it is stronger",
        ),
        (
            "lllll",
            "not decided: new lost all 5 games, Elo below -46; 1 more game like that would show that it is weaker",
        ),
        ("d" * 40, "not decided: new scored 50.0 % in 40 games; about 71 more games would show a difference of 20 Elo"),
        ("w" * 12, "new is stronger than old: it won all 12 games, Elo above +198"),
        ("l" * 12, "new is weaker than old: it lost all 12 games, Elo below -198"),
    ],
)
def test_games_with_identical_results_have_a_verdict(results: str, expected: str) -> None:
    assert text(single(results)) == expected


def test_six_to_nothing_decides_games_from_one_start_and_not_pairs_from_openings() -> None:
    """An opening may suit one of the bots whatever its colour: three openings are three observations."""
    won = pairs([4, 4, 4])
    assert verdict(won, ["new", "old"], None) == Verdict(
        "new is stronger than old: it won all 6 games, Elo above +77", "good"
    )
    assert text([{**record, "opening": f"opening {record['pair'][2]}"} for record in won]) == (
        "not decided: new won all 6 games, Elo above +77; 6 more games like that would show that it is stronger"
    )


def test_repeated_games_prove_nothing() -> None:
    same = [{**record, "moves": ["e2e4"]} for record in single("w" * 20)]
    assert text(same) == "not decided: the 20 games repeat 1 game; give --openings"
    again = [{**record, "pair": ["again", *record["pair"]]} for record in same[:3]]
    assert text(single("w" * 20) + again).startswith("new is stronger")


#: Two kings and a pawn that may stand on three files.
POSITIONS = [f"4k3/8/8/8/8/8/{pawn}/4K3 w - - 0 1" for pawn in ("P7", "1P6", "2P5")]


def from_openings(openings: Sequence[tuple[str, str]], *bots: str, move: str = "") -> Records:
    """Return pairs of games of every two bots, all with the same moves.

    :param openings: each pair's opening: its name and position.
    :param move: the move of every game; by default it differs from position to position.
    """
    return [
        game(0, *colors, "1-0", pair=[0, 1, number], opening=name, start_fen=fen, moves=[move or fen])
        for number, (name, fen) in enumerate(openings)
        for one, other in combinations(bots or ("new", "old"), 2)
        for colors in ((one, other), (other, one))
    ]


def test_identical_bots_repeat_no_game_when_openings_or_colours_differ() -> None:
    openings = [(str(number), fen) for number, fen in enumerate(POSITIONS, 1)]
    even = "not decided: new scored 50.0 % in 6 games"
    assert text(from_openings(openings)).startswith(even)
    assert text(from_openings(openings, move="e1e2")).startswith(even), "the same moves from other positions"
    three = text(from_openings(openings[:1], "a", "b", "c"), "a", "b", "c")
    assert three.startswith("not decided which is the strongest: ")


def test_sequential_test_of_identical_bots_has_a_verdict() -> None:
    openings = [(str(number), f"position {number}") for number in range(120)]
    assert text(from_openings(openings), sprt=Sprt(0, 40)).startswith("new fails the test: ")


def test_repeated_games_with_openings_need_more_openings() -> None:
    thrice = [("1", POSITIONS[0]), ("2", POSITIONS[1])] * 3
    assert text(from_openings(thrice)) == "not decided: the 12 games repeat 4 games; give more openings"
    alike = [(str(number), POSITIONS[0]) for number in range(3)]
    assert text(from_openings(alike)) == "not decided: the 6 games repeat 2 games; give more openings"


def test_faults_are_named() -> None:
    records = single("w" * 20)
    for record in records[:3]:
        record |= {"ending": "crash", "moves": []}
    assert text(records).endswith("; old lost 3 of its games by faults")


# Sequential tests.


@pytest.mark.parametrize(
    ("elo0", "elo1", "passes", "fails"),
    [
        (0, 40, "stronger than old", "less than 40 Elo stronger than old"),
        (5, 40, "more than 5 Elo stronger than old", "less than 40 Elo stronger than old"),
        (-40, 0, "less than 40 Elo weaker than old", "not stronger than old"),
        (-40, -5, "less than 40 Elo weaker than old", "more than 5 Elo weaker than old"),
    ],
)
def test_sequential_test_is_described_in_words(elo0: float, elo1: float, passes: str, fails: str) -> None:
    test = Sprt(elo0, elo1, model="logistic")
    good, bad = single("w" * 300 + "d" * 200 + "l" * 200), single("w" * 200 + "d" * 200 + "l" * 300)
    labels = ["new", "old"]
    assert verdict(good, labels, test) == Verdict(
        f"new passes the test: {passes} (error rate 5 %), after 700 games, Elo +50 (+28 to +72)", "good"
    )
    assert verdict(bad, labels, test) == Verdict(
        f"new fails the test: {fails} (error rate 5 %), after 700 games, Elo -50 (-72 to -28)", "bad"
    )
    normalized = verdict(good, labels, Sprt(elo0, elo1)).text
    assert normalized.startswith(f"new passes the test: {passes.replace(' Elo', ' normalized Elo')} (error rate 5 %)")


def test_undecided_sequential_test_says_how_many_games_remain() -> None:
    assert text(single("wdl" * 20), sprt=Sprt(0, 10)) == (
        "not decided: the test goes on after 60 games; about 11,000 more are expected at most"
    )


# More than two.


def gauntlet_games(results: dict[str, str]) -> Records:
    numbers = count()
    return [
        {**record, "moves": [str(next(numbers))]}
        for other, played in results.items()
        for record in single(played, "new", other)
    ]


def test_gauntlet_verdict_names_every_opponent() -> None:
    records = gauntlet_games({"a": "w" * 20, "b": "wl" * 10, "c": "l" * 20, "d": "w" * 30})
    assert text(records, "new", "a", "b", "c", "d") == (
        "new is stronger than a and d, weaker than c, not decided against b"
    )


def round_robin(strongest: int, drawn: int) -> Records:
    """Return the games of three who each win as many games against those after them in order, with the rest drawn."""
    records = [
        record
        for one, other in combinations(("a", "b", "c"), 2)
        for record in single("w" * strongest + "d" * drawn, one, other)
    ]
    return [{**record, "moves": [str(number)]} for number, record in enumerate(records)]


def test_table_names_the_strongest_only_when_it_is_proved_against_each() -> None:
    assert text(round_robin(12, 20), "b", "a", "c") == "a is the strongest: 44 of 64 points, stronger than b and c"
    assert text(round_robin(1, 6), "b", "a", "c") == (
        "not decided which is the strongest: a leads with 8 of 14 points, b has 7 of 14; not decided against b and c"
    )


@given(st.lists(st.sampled_from("wdl"), min_size=1, max_size=40), st.booleans())
def test_verdicts_of_both_bots_agree(results: list[str], paired: bool) -> None:
    records = single("".join(results))
    if paired:
        records = pairs(["ldw".index(result) * 2 for result in results])
    mirrored = {"good": "bad", "bad": "good", "open": "open"}
    assert verdict(records, ["old", "new"], None).tone == mirrored[verdict(records, ["new", "old"], None).tone]


def test_verdict_is_coloured_unless_no_color_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    for tone, sequence in (("good", "\x1b[32m"), ("bad", "\x1b[31m"), ("open", "\x1b[1m")):
        found = coloured(Verdict("so it is", tone))  # type: ignore[arg-type]
        assert found.startswith(sequence)
        assert click.unstyle(found) == "so it is"
    monkeypatch.setenv("NO_COLOR", "1")
    assert coloured(Verdict("so it is", "good")) == "so it is"
