"""The next games of a tournament, which depend only on its past events."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gm_arena.tournament.plan import (
    ABSENT,
    Entrant,
    GameResult,
    Key,
    Round,
    Settings,
    absentees,
    next_rounds,
    swiss_cards,
    terms_of,
    total_games,
)

#: The outcomes of a game, played or not played.
ENDS = (
    *(GameResult(result, "played") for result in ("1-0", "0-1", "1/2-1/2")),
    *(GameResult(result, ABSENT) for result in ("+/-", "-/+", "-/-")),
    GameResult("+/-", "declined"),
)


def tournament(players: int, **given: Any) -> Settings:
    entrants = tuple(Entrant(number, f"p{number}") for number in range(players))
    return Settings("spring", "cafe", **{"format": "swiss", "players": entrants, **given})


def played(plan: Settings, seed: int, ends: tuple[GameResult, ...] = ENDS) -> tuple[list[Round], dict[Key, GameResult]]:
    """Play a tournament to its end, with random results."""
    chance = random.Random(seed)
    rounds: list[Round] = []
    outcomes: dict[Key, GameResult] = {}
    while begun := next_rounds(plan, rounds, outcomes):
        rounds += begun
        for each in begun:
            outcomes |= {key: chance.choice(ends) for key in each.games}
    return rounds, outcomes


@pytest.mark.parametrize("format_", ["round-robin", "gauntlet"])
def test_fixed_schedule_begins_at_once_and_resumes_where_it_stopped(format_: str) -> None:
    plan = tournament(5, format=format_, games=2)
    rounds = next_rounds(plan, [], {})
    assert [begun.number for begun in rounds] == list(range(1, len(rounds) + 1))
    assert sum(len(begun.pairings) for begun in rounds) == total_games(plan)
    for written in range(len(rounds) + 1):
        assert next_rounds(plan, rounds[:written], {}) == rounds[written:]


def test_swiss_round_begins_once_when_the_previous_one_is_over() -> None:
    plan = tournament(4, rounds=2)
    (first,) = next_rounds(plan, [], {})
    one, other = first.games
    assert next_rounds(plan, [first], {one: GameResult("1-0", "played")}) == []
    both = {one: GameResult("1-0", "played"), other: GameResult("1/2-1/2", "played")}
    (second,) = next_rounds(plan, [first], both)
    assert (second.number, len(second.pairings)) == (2, 2)
    assert next_rounds(plan, [first, second], both | dict.fromkeys(second.games, both[one])) == []


@given(st.integers(2, 9), st.integers(1, 4), st.integers(1, 3), st.integers(0, 2**32))
def test_every_remaining_player_is_paired_or_has_the_bye(players: int, rounds: int, games: int, seed: int) -> None:
    plan = tournament(players, rounds=rounds, games=games)
    begun, outcomes = played(plan, seed)
    for index, each in enumerate(begun):
        gone = absentees(players, begun[:index], outcomes)
        counts = Counter(player for pairing in each.pairings for player in pairing)
        free = set() if each.bye is None else {each.bye}
        assert counts.keys() | free == set(range(players)) - gone
        assert not counts.keys() & free
        assert set(counts.values()) == {games}
    assert len(begun) == rounds or len(set(range(players)) - absentees(players, begun, outcomes)) < 2


@given(st.integers(2, 9), st.integers(0, 2**32))
def test_same_results_make_the_same_tournament(players: int, seed: int) -> None:
    plan = tournament(players, rounds=3, seed=seed)
    assert played(plan, seed) == played(plan, seed)


@given(st.integers(4, 9), st.integers(1, 4), st.integers(0, 2**32))
def test_points_of_all_players_add_up_to_the_points_awarded(players: int, rounds: int, seed: int) -> None:
    plan = tournament(players, rounds=rounds, games=2)
    begun, outcomes = played(plan, seed)
    given_away = sum(0 if outcome.result == "-/-" else 2 for outcome in outcomes.values())
    byes = sum(2 * plan.games for each in begun if each.bye is not None)
    assert sum(card.points for card in swiss_cards(plan, begun, outcomes)) == given_away + byes


def test_unplayed_game_is_no_meeting_has_no_color_and_counts_as_a_bye() -> None:
    plan = tournament(2, rounds=3)
    (first,) = next_rounds(plan, [], {})
    white, black = first.pairings[0]
    cards = swiss_cards(plan, [first], {Key(1, 1): GameResult("+/-", ABSENT)})
    assert (cards[white].points, cards[white].had_bye, cards[white].colors, cards[white].met) == (2, True, [], {})
    assert (cards[black].points, cards[black].had_bye, cards[black].colors, cards[black].met) == (0, False, [], {})
    cards = swiss_cards(plan, [first], {Key(1, 1): GameResult("1/2-1/2", "played")})
    assert (cards[white].points, cards[white].colors, cards[white].met) == (1, [True], {black: 1})
    assert (cards[black].points, cards[black].colors, cards[black].met) == (1, [False], {white: 1})


def test_two_games_of_a_meeting_have_both_colors_and_count_as_one_meeting() -> None:
    plan = tournament(2, rounds=1, games=2)
    (first,) = next_rounds(plan, [], {})
    assert first.pairings[0] == first.pairings[1][::-1]
    cards = swiss_cards(plan, [first], dict.fromkeys(first.games, GameResult("1-0", "played")))
    assert [(card.points, card.colors, sum(card.met.values())) for card in cards] == [(2, [], 1), (2, [], 1)]


def test_only_a_player_absent_twice_running_has_left() -> None:
    rounds = [Round(number, [(0, 1)]) for number in (1, 2, 3)]
    ends = {"0 stays away": "-/+", "1 stays away": "+/-", "both stay away": "-/-"}

    def gone(*what: str, reason: str = ABSENT) -> set[int]:
        outcomes = {Key(number, 1): GameResult(ends.get(end, end), reason) for number, end in enumerate(what, 1)}
        return absentees(3, rounds[: len(what)], outcomes)

    assert gone("0 stays away") == set()
    assert gone("0 stays away", "0 stays away") == {0}
    assert gone("0 stays away", "0 stays away", reason="expired") == {0}
    assert gone("0 stays away", "0 stays away", reason="declined") == set()
    assert gone("0 stays away", "0 stays away", "1-0") == set()
    assert gone("both stay away", "1 stays away") == {1}
    assert gone("1-0", "both stay away", "both stay away") == {0, 1}


def test_chess960_positions_depend_on_the_two_players_and_the_seed() -> None:
    plan = tournament(4, terms={"variant": "chess960"}, seed=1)
    assert terms_of(plan, 0, 1) == terms_of(plan, 1, 0)
    drawn = {terms_of(tournament(4, terms={"variant": "chess960"}, seed=seed), 0, 1)["position"] for seed in range(9)}
    assert len(drawn) > 1
    assert terms_of(tournament(4, terms={"variant": "chess960", "position": 7}), 0, 1)["position"] == 7
    assert terms_of(tournament(4, terms={"variant": "rbc"}), 0, 1) == {"variant": "rbc"}
