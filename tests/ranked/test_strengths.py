"""Ratings estimate strengths: they come as close to them as their deviations say, and not closer."""

from __future__ import annotations

from random import Random
from statistics import correlation, mean

import chess
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gmd.event_log.interface import RankedResult
from gmd.lobby.results import Entrant, Record
from gmd.lobby.strengths import MEAN, SPREAD, Rating, expected
from tests.proofs import cases
from tests.ranked.ladders import Simulation, rate

PLAYERS = 25
ROUNDS = 50

WINNERS = [chess.WHITE, None, chess.BLACK]
results = st.lists(
    st.builds(
        RankedResult,
        white=st.integers(1, 5),
        white_version=st.integers(0, 2),
        black=st.integers(1, 5),
        black_version=st.integers(0, 2),
        winner=st.sampled_from(WINNERS),
        games=st.sampled_from((1, 1, 1, 50, 100_000)),
    ),
    max_size=40,
)


def ladder(seed: int) -> tuple[dict[int, float], dict[int, float], Simulation]:
    """Return the strengths of players, the anchor, and a simulation of their games."""
    random = Random(seed)
    strengths = {player: random.gauss(MEAN, SPREAD) for player in range(1, PLAYERS + 1)}
    anchors = {1: strengths[1]}
    simulation = Simulation(strengths, anchors, random)
    for _ in range(ROUNDS):
        simulation.play_round()
    return strengths, anchors, simulation


def places(values: list[float]) -> list[int]:
    """Return, for each value, how many values are smaller."""
    in_order = sorted(values)
    return [in_order.index(value) for value in values]


@pytest.mark.slow
def test_ratings_of_a_simulated_ladder_converge_to_its_strengths_within_their_deviations() -> None:
    """Of the ratings, 95 in 100 are within two deviations of the strengths, and the deviations are not too large."""
    ladders = cases(1)
    within: list[bool] = []
    errors: list[float] = []
    for seed in range(ladders):
        strengths, anchors, simulation = ladder(seed)
        ratings = rate(simulation.record, anchors)
        assert len(simulation.results) == PLAYERS * ROUNDS
        assert ratings.pop(Entrant(1, 1)) == Rating(strengths[1], 0.0)
        known = [(strengths[player], rating.rating, rating.deviation) for (player, _), rating in ratings.items()]
        errors += [(rating - strength) / deviation for strength, rating, deviation in known]
        within += [abs(rating - strength) <= 2 * deviation for strength, rating, deviation in known]
        assert correlation(places([s for s, *_ in known]), places([r for _, r, _ in known])) > 0.95
        assert mean(deviation for *_, deviation in known) < SPREAD / 4
    # The errors within a ladder are correlated, so few ladders permit only a weaker statement. A draw contains more
    # information about strengths than the model assumes, so the squares are nine tenths of the stated ones.
    spare = ladders**-0.5
    assert mean(within) >= 0.95 - spare / 10
    assert abs(mean(error**2 for error in errors) - 0.9) < spare


@pytest.mark.slow
def test_more_games_give_smaller_deviations() -> None:
    _, anchors, simulation = ladder(1)
    deviations = []
    for games in (250, 1250):
        ratings = rate(Record(simulation.results[:games]), anchors)
        deviations.append(mean(rating.deviation for rating in ratings.values() if not rating.is_anchor))
    assert 1.7 < deviations[0] / deviations[1] < 2.4  # the square root of five


def test_order_of_games_does_not_matter() -> None:
    random = Random(2)
    games = [RankedResult(*random.sample(range(1, 6), 4), random.choice(WINNERS)) for _ in range(100)]
    there = rate(Record(games), {1: 1_000.0})
    assert rate(Record(games[::-1]), {1: 1_000.0}) == there
    random.shuffle(games)
    assert rate(Record(games), {1: 1_000.0}) == there


@given(results, st.dictionaries(st.integers(1, 5), st.floats(-10_000, 10_000), max_size=2))
def test_any_results_have_ratings(games: list[RankedResult], anchors: dict[int, float]) -> None:
    ratings = rate(Record(games), anchors)
    played = {Entrant(g.white, g.white_version) for g in games} | {Entrant(g.black, g.black_version) for g in games}
    assert ratings.keys() <= played
    for entrant, rating in ratings.items():
        assert rating.is_anchor is (entrant.player in anchors)
        assert 0 <= rating.deviation <= SPREAD
        assert -12_000 < rating.rating < 15_000


@given(results, results)
def test_removed_results_leave_no_trace(kept: list[RankedResult], removed: list[RankedResult]) -> None:
    record = Record([*kept, *removed])
    for result in removed:
        record.add(result._replace(games=-result.games))
    there = Record(kept)
    assert (record.games, record.totals()) == (there.games, there.totals())
    assert rate(record) == rate(there)


def test_ratings_exist_for_one_game_and_for_none() -> None:
    assert rate(Record()) == {}
    ratings = rate(Record([RankedResult(1, 1, 2, 1, chess.WHITE)]))
    winner, loser = ratings[Entrant(1, 1)], ratings[Entrant(2, 1)]
    assert winner.rating + loser.rating == pytest.approx(2 * MEAN)
    assert winner.rating > MEAN + 50
    assert winner.deviation == loser.deviation < SPREAD


def test_anchor_fixes_the_scale() -> None:
    """A score of three in four against a player with a given rating is worth 191 points on Elo's scale."""
    games = [RankedResult(1, 1, 2, 1, chess.WHITE, 3_000), RankedResult(1, 1, 2, 1, chess.BLACK, 1_000)]
    ratings = rate(Record(games), {2: 1000.0})
    assert ratings[Entrant(2, 1)] == Rating(1000.0, 0.0)
    assert ratings[Entrant(1, 1)].rating == pytest.approx(1000 + 190.85, abs=2)
    assert ratings[Entrant(1, 1)].deviation == pytest.approx(173.72 / (4_000 * 0.75 * 0.25) ** 0.5, abs=0.1)
    assert expected(ratings[Entrant(1, 1)].rating, 1000.0) == pytest.approx(0.75, abs=0.002)
