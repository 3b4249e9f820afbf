"""The matchmaker's pairings, for any players."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from random import Random
from statistics import mean

from hypothesis import given
from hypothesis import strategies as st

from gmd.lobby.matchmaker import EXPLORES, Candidate, Pairing, pair

candidates = st.lists(
    st.builds(
        Candidate,
        player=st.integers(1, 50),
        room=st.integers(0, 4),
        rating=st.floats(0, 3000),
        deviation=st.floats(0, 350),
        last=st.integers(0, 5),
    ),
    max_size=20,
    unique_by=lambda candidate: candidate.player,
)
pairs = st.frozensets(st.tuples(st.integers(1, 50), st.integers(1, 50)).map(frozenset), max_size=60)


@dataclass
class Meetings:
    """Earlier meetings of the players."""

    apart: frozenset[frozenset[int]] = frozenset()
    made: Counter[tuple[int, int]] = field(default_factory=Counter)
    on: Counter[frozenset[int]] = field(default_factory=Counter)

    def in_hand(self, one: int, other: int) -> int:
        return self.on[frozenset((one, other))]

    def whites(self, one: int, other: int) -> int:
        return self.made[one, other]

    def just_met(self, one: int, other: int) -> bool:
        return frozenset((one, other)) in self.apart


@given(candidates, pairs, st.integers())
def test_player_gets_no_excess_game_no_game_with_itself_and_no_immediate_rematch(
    everybody: list[Candidate], apart: frozenset[frozenset[int]], seed: int
) -> None:
    made = pair(everybody, Meetings(apart), Random(seed))
    given = Counter(player for pairing in made for player in pairing)
    assert all(given[each.player] <= each.room for each in everybody)
    assert given.keys() <= {each.player for each in everybody}
    assert all(white != black and frozenset((white, black)) not in apart for white, black in made)


@given(candidates, pairs, st.integers())
def test_no_two_players_who_could_play_each_other_are_left(
    everybody: list[Candidate], apart: frozenset[frozenset[int]], seed: int
) -> None:
    made = pair(everybody, Meetings(apart), Random(seed))
    given = Counter(player for pairing in made for player in pairing)
    left = [each.player for each in everybody if given[each.player] < each.room]
    assert all(frozenset((one, other)) in apart for one in left for other in left if one < other)


@given(candidates, st.integers())
def test_pairings_do_not_depend_on_the_order_of_the_players(everybody: list[Candidate], seed: int) -> None:
    there = pair(everybody, Meetings(), Random(seed))
    assert pair(everybody[::-1], Meetings(), Random(seed)) == there


@given(st.lists(candidates, max_size=4), st.integers())
def test_colours_alternate_in_every_pair_of_players(rounds: list[list[Candidate]], seed: int) -> None:
    random, meetings = Random(seed), Meetings()
    latest: dict[frozenset[int], Pairing] = {}
    for everybody in rounds:
        for pairing in pair(everybody, meetings, random):
            assert latest.get(frozenset(pairing)) != pairing
            latest[frozenset(pairing)] = pairing
            meetings.made[pairing] += 1


@given(st.integers(2, 9), st.lists(st.integers(1, 4), min_size=2, max_size=9), st.integers())
def test_no_player_starves(rounds: int, rooms: list[int], seed: int) -> None:
    """A player without a game has waited longest the next time and then gets one: two rounds are enough for all."""
    random = Random(seed)
    last = dict.fromkeys(range(len(rooms)), 0)
    waited = Counter[int]()
    for number in range(1, 2 * rounds):
        everybody = [Candidate(player, room, 1500, 350, last[player]) for player, room in enumerate(rooms)]
        got = {player for pairing in pair(everybody, Meetings(), random) for player in pairing}
        for player in last:
            waited[player] = 0 if player in got else waited[player] + 1
            assert waited[player] <= 1
        last.update(dict.fromkeys(got, number))


def gaps(deviation: float, spacing: float = 20.0, players: int = 100) -> list[float]:
    """Return the rating differences of paired players for a given deviation."""
    random = Random(1)
    everybody = [Candidate(player, 4, 500 + spacing * player, deviation) for player in range(players)]
    return [spacing * abs(white - black) for white, black in pair(everybody, Meetings(), random)]


def test_known_players_meet_equals_and_unknown_players_meet_all_kinds() -> None:
    known, unknown = gaps(0), gaps(350)
    near = sorted(known)[: len(known) * (EXPLORES - 2) // EXPLORES]
    assert max(near) < 250  # the other pairings are chosen from all players, or are left over at the end
    assert mean(unknown) > 1.5 * mean(known)
    assert max(known) > 800


def test_player_with_games_in_progress_against_an_opponent_gets_others() -> None:
    everybody = [Candidate(player, 1, 1500, 0) for player in range(6)]
    with_neighbour = Counter({frozenset((0, other)): 9 for other in range(1, 5)})
    opponents = Counter[int]()
    for seed in range(200):
        for pairing in pair(everybody, Meetings(on=with_neighbour), Random(seed)):
            if 0 in pairing:
                opponents[sum(pairing)] += 1
    assert opponents[5] > 80  # by chance it would be 40; other players choose too
    assert len(opponents) == 5  # but player 5 is not the only opponent


def test_pairing_takes_time_proportional_to_the_number_of_players() -> None:
    """The number of comparisons for one choice does not grow with the number of players."""

    class Counting(Meetings):
        asked = 0

        def just_met(self, one: int, other: int) -> bool:
            self.asked += 1
            return False

    asked = []
    for players in (200, 2000):
        meetings = Counting()
        made = pair([Candidate(player, 2, 1500 + player, 50) for player in range(players)], meetings, Random(1))
        asked.append(meetings.asked / len(made))
    assert asked[1] < 1.2 * asked[0] < 40
