"""Swiss rounds: the properties of any round, and some known rounds."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gm_arena.schedule import Pairing
from gm_arena.swiss import Card, SwissRound, next_round

#: The results of a game, as White's half-points.
ENDS = (2, 2, 0, 0, 1)


class Played:
    """A tournament whose results are random."""

    def __init__(self, players: int, rounds: int, seed: int) -> None:
        self.cards = [Card() for _ in range(players)]
        self.rounds: list[SwissRound] = []
        chance = random.Random(seed)
        for _ in range(rounds):
            self.rounds.append(next_round(self.cards))
            self._play(self.rounds[-1], chance)

    def _play(self, paired: SwissRound, chance: random.Random) -> None:
        for white, black in paired.pairings:
            end = chance.choice(ENDS)
            for player, other, points, is_white in ((white, black, end, True), (black, white, 2 - end, False)):
                card = self.cards[player]
                card.points += points
                card.met[other] += 1
                card.colors.append(is_white)
        if paired.bye is not None:
            self.cards[paired.bye].points += 2
            self.cards[paired.bye].had_bye = True

    @property
    def byes(self) -> list[int]:
        return [paired.bye for paired in self.rounds if paired.bye is not None]


def numbered(pairings: list[Pairing]) -> str:
    return " ".join(f"{white + 1}-{black + 1}" for white, black in pairings)


def test_upper_half_meets_lower_half_in_order_in_the_first_round() -> None:
    assert numbered(next_round([Card() for _ in range(8)]).pairings) == "1-5 6-2 3-7 8-4"
    assert numbered(next_round([Card() for _ in range(8)], first_is_white=False).pairings) == "5-1 2-6 7-3 4-8"
    assert next_round([Card() for _ in range(5)]) == ([(0, 2), (3, 1)], 4)


def test_winners_meet_winners_and_colors_change_in_the_second_round() -> None:
    tournament = Played(8, 0, 0)
    first = next_round(tournament.cards)
    for white, black in first.pairings:  # the stronger one wins
        won = min(white, black)
        for player, other, is_white in ((white, black, True), (black, white, False)):
            tournament.cards[player].points = 2 * (player == won)
            tournament.cards[player].met[other] = 1
            tournament.cards[player].colors = [is_white]
    assert numbered(next_round(tournament.cards).pairings) == "4-1 2-3 5-8 7-6"


def test_round_of_no_player_or_of_one() -> None:
    assert next_round([]) == ([], None)
    assert next_round([Card()]) == ([], 0)


@given(st.data())
def test_every_player_is_paired_or_has_one_bye_and_nobody_meets_twice(data: st.DataObject) -> None:
    players = data.draw(st.integers(2, 17), label="players")
    most = players - 1 + players % 2
    rounds = data.draw(st.integers(1, max(1, most // 2)), label="rounds")
    tournament = Played(players, rounds, data.draw(st.integers(0, 2**32), label="seed"))
    for paired in tournament.rounds:
        free = [] if paired.bye is None else [paired.bye]
        assert sorted([*free, *(player for pairing in paired.pairings for player in pairing)]) == list(range(players))
        assert len(free) == players % 2
    assert len(set(tournament.byes)) == len(tournament.byes)
    assert all(count == 1 for card in tournament.cards for count in card.met.values())


@pytest.mark.slow
@given(st.integers(2, 5), st.integers(0, 2**32))
def test_longest_tournament_gives_every_player_one_bye(half: int, seed: int) -> None:
    players = 2 * half - 1
    assert sorted(Played(players, players, seed).byes) == list(range(players))


@pytest.mark.slow
@given(st.integers(8, 13), st.integers(0, 2**32))
def test_colors_stay_even_and_never_come_three_times_running(players: int, seed: int) -> None:
    for card in Played(players, 5, seed).cards:
        assert abs(card.surplus) <= 2
        assert all(len(set(card.colors[start : start + 3])) == 2 for start in range(len(card.colors) - 2))


@given(st.integers(2, 6), st.integers(0, 2**32))
def test_round_is_made_even_when_rematches_are_unavoidable(players: int, seed: int) -> None:
    """Two players play as many rounds as requested; no player meets another again before it has met every other."""
    tournament = Played(players, 2 * players, seed)
    assert all(len(paired.pairings) == players // 2 for paired in tournament.rounds)
    byes = [tournament.byes.count(player) for player in range(players)]
    assert max(byes) <= 1 or players % 2 == 1


@given(st.integers(2, 10), st.integers(0, 2**32))
def test_bye_goes_to_a_player_with_fewest_points_who_has_had_none(half: int, seed: int) -> None:
    tournament = Played(2 * half + 1, 1, seed)
    paired = next_round(tournament.cards)
    assert paired.bye is not None
    others = [card for card in tournament.cards if not card.had_bye]
    assert tournament.cards[paired.bye].points == min(card.points for card in others)


def test_same_cards_make_the_same_round() -> None:
    assert Played(11, 6, 3).rounds == Played(11, 6, 3).rounds


@pytest.mark.slow
def test_large_field_is_paired() -> None:
    players = 64
    tournament = Played(players, 6, 1)
    for paired in tournament.rounds[1:]:
        assert len(paired.pairings) == players // 2
    leaders = sorted(card.points for card in tournament.cards)
    assert leaders[-1] >= 10, "winners met winners"
