"""The pairings: round robins by the tables of FIDE, and gauntlets."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gm_arena.schedule import Pairing, gauntlet, round_robin

#: Annex 1 of FIDE's Handbook C.05, as it is printed.
BERGER = {
    4: ["1-4 2-3", "4-3 1-2", "2-4 3-1"],
    6: ["1-6 2-5 3-4", "6-4 5-3 1-2", "2-6 3-1 4-5", "6-5 1-4 2-3", "3-6 4-2 5-1"],
    8: [
        "1-8 2-7 3-6 4-5",
        "8-5 6-4 7-3 1-2",
        "2-8 3-1 4-7 5-6",
        "8-6 7-5 1-4 2-3",
        "3-8 4-2 5-1 6-7",
        "8-7 1-6 2-5 3-4",
        "4-8 5-3 6-2 7-1",
    ],
}


@pytest.mark.parametrize("players", BERGER)
def test_round_robin_is_as_fide_prints_it(players: int) -> None:
    rounds = round_robin(players)
    assert [" ".join(f"{white + 1}-{black + 1}" for white, black in games) for games in rounds] == BERGER[players]


@pytest.mark.parametrize(("players", "rounds"), [(0, []), (1, []), (2, [[(0, 1)]])])
def test_round_robin_of_few_players(players: int, rounds: list[list[Pairing]]) -> None:
    assert round_robin(players) == rounds


def balance(rounds: list[list[Pairing]], players: int) -> list[int]:
    """Return how many more Whites than Blacks each has."""
    games = [pairing for games in rounds for pairing in games]
    return [sum((white == player) - (black == player) for white, black in games) for player in range(players)]


def nobody_twice_a_round(rounds: list[list[Pairing]]) -> bool:
    return all(len({player for pairing in games for player in pairing}) == 2 * len(games) for games in rounds)


@given(st.integers(2, 24), st.integers(1, 4))
def test_round_robin_players_all_meet_equally_often_with_even_colors(players: int, cycles: int) -> None:
    rounds = round_robin(players, cycles)
    assert nobody_twice_a_round(rounds)
    assert len(rounds) == cycles * (players - 1 + players % 2)
    meetings = Counter(frozenset(pairing) for games in rounds for pairing in games)
    assert set(meetings.values()) == {cycles}
    assert len(meetings) == players * (players - 1) // 2
    assert all(abs(surplus) <= cycles % 2 for surplus in balance(rounds, players))


@given(st.integers(1, 12), st.integers(1, 4))
def test_gauntlet_s_first_player_meets_every_other_one_with_even_colors(others: int, games: int) -> None:
    rounds = gauntlet(others + 1, games)
    assert nobody_twice_a_round(rounds)
    meetings = Counter(frozenset(pairing) for pairings in rounds for pairing in pairings)
    assert meetings == {frozenset((0, other)): games for other in range(1, others + 1)}
    assert all(abs(surplus) <= games % 2 for surplus in balance(rounds, others + 1))
