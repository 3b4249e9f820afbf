"""Ratings compared with openskill's: how close they are to known strengths, and whether their deviations are right.

The strengths of a ladder's players are drawn from the prior of the ratings; the players are paired as by the matchmaker
and rated as by the daemon; one of them is an anchor. openskill's Bradley-Terry gets the same games in their order, with
the same scale, the same first guess and the same anchor.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import sqrt
from random import Random
from statistics import mean
from time import process_time
from typing import Any, NamedTuple

import chess

from bench.ladders import Simulation, rate
from gmd.event_log.interface import RankedResult
from gmd.lobby.strengths import MEAN, SCALE, SPREAD

PLAYERS, ROUNDS = 30, 50
ANCHOR = 1

#: A better place is a lower number.
_RANKS = {chess.WHITE: [1, 2], None: [1, 1], chess.BLACK: [2, 1]}


class Guess(NamedTuple):
    """A rating, and its standard deviation."""

    rating: float
    deviation: float


Way = Callable[[Simulation, float], Mapping[int, Guess]]


def measure(ladders: int) -> None:
    """Print a line for each way of rating."""
    ways: dict[str, Way] = {"gmd": _ours}
    if (model := _openskill()) is not None:
        undamped = _openskill(gamma=lambda *_, **__: 1.0)
        ways["openskill"] = lambda simulation, anchor: _one_by_one(simulation.results, anchor, model)
        ways["openskill, gamma 1"] = lambda simulation, anchor: _one_by_one(simulation.results, anchor, undamped)
    found: dict[str, list[tuple[float, Guess]]] = {}
    seconds: dict[str, float] = {}
    for seed in range(ladders):
        random = Random(seed)
        strengths = {player: random.gauss(MEAN, SPREAD) for player in range(1, PLAYERS + 1)}
        simulation = Simulation(strengths, {ANCHOR: strengths[ANCHOR]}, random)
        for _ in range(ROUNDS):
            simulation.play_round()
        for name, guess in ways.items():
            begun = process_time()
            guesses = guess(simulation, strengths[ANCHOR])
            seconds[name] = seconds.get(name, 0.0) + process_time() - begun
            known = [(strengths[player], guesses[player]) for player in strengths if player != ANCHOR]
            found.setdefault(name, []).extend(known)
    print(
        f"{f'{ladders} ladders of {PLAYERS}':22}{'within 2 dev.':>15}{'deviation':>12}{'error':>8}{'ms a ladder':>14}"
    )
    for name, known in found.items():
        within = mean(abs(guess.rating - strength) <= 2 * guess.deviation for strength, guess in known)
        error = sqrt(mean((guess.rating - strength) ** 2 for strength, guess in known))
        deviation, took = mean(guess.deviation for _, guess in known), 1e3 * seconds[name] / ladders
        print(f"{name:22}{within:>15.1%}{deviation:>12.0f}{error:>8.0f}{took:>14.0f}")


def _ours(simulation: Simulation, anchor: float) -> dict[int, Guess]:
    ratings = rate(simulation.record, {ANCHOR: anchor})
    return {player: Guess(rating.rating, rating.deviation) for (player, _), rating in ratings.items()}


#: In openskill the odds are e to the difference over the root of 2 beta² plus both variances. No strength drifts.
_SCALE: dict[str, Any] = {"mu": MEAN, "sigma": SPREAD, "beta": SCALE / sqrt(2), "tau": 0.0, "kappa": 1e-9}
#: Practically 0, which openskill does not accept.
_PINNED = 1e-3


def _openskill(**options: Any) -> Any:
    """Return openskill's model; None if it is not installed. The extra ``bench`` has it."""
    try:
        from openskill.models import BradleyTerryFull
    except ImportError:
        print("openskill is not installed: pip install -e '.[bench]'")
        return None
    return BradleyTerryFull(**_SCALE, **options)


def _one_by_one(results: list[RankedResult], anchor: float, model: Any) -> dict[int, Guess]:
    ratings = {player: model.rating() for player in range(1, PLAYERS + 1)}
    for game in results:
        ratings[ANCHOR] = model.rating(mu=anchor, sigma=_PINNED)
        teams = [[ratings[game.white]], [ratings[game.black]]]
        (ratings[game.white],), (ratings[game.black],) = model.rate(teams, ranks=_RANKS[game.winner])
    return {player: Guess(rating.mu, rating.sigma) for player, rating in ratings.items()}
