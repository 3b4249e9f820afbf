"""Games to learn from, many at a time: all take their turns together, and the network is asked once for all of them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

import chess
import numpy as np
from chess import Color, Square
from numpy.typing import NDArray

from gm_env import PASS, SKIP, BatchedRbc, CompiledPositions
from gm_env.actions import FROM_TO_BY_PLANES, cells_of, move_of, seen_by
from gm_env.kernels.layout import NONE, NUMBERS, PAWN, STATE
from gm_recon.possible import PossiblePositions

from ..evaluation import Evaluator
from ..knowledge import CAP, LOOKED_AT
from ..player import Settings
from ..replay import Sample
from .candidates import lay_out, value_senses, weigh
from .encoding import encode_all
from .forest import Forest, Found
from .judges import judge_for
from .network_judge import Precision


@dataclass(frozen=True)
class _Examined:
    """Positions that may be true, with their weights and whether the player's king is attacked there."""

    states: NDArray[np.uint64]
    numbers: NDArray[np.int32]
    weights: NDArray[np.float64]
    attacked: NDArray[np.bool_]


def play_together(
    evaluator: Evaluator, settings: Settings, seeds: Sequence[str], max_plies: int, precision: Precision = "float32"
) -> list[list[Sample]]:
    """Play games of a player against itself; return the decisions of each game with its result.

    A game that is too long is drawn, as is one in which a player loses track of the possible positions.

    :param settings: must keep positions, sense for information and search by the rules of blind chess.
    :param seeds: one for each game. The same seeds, in the same order, make the same games.
    :param precision: the numbers that a network computes with: see :class:`.network_judge.NetworkJudge`.
    :raises ValueError: a setting is not one of those.
    """
    forest = forest_of(evaluator, settings, precision)
    games = Games(settings, seeds, max_plies)
    while games.playing:
        games.sense()
        games.move(forest)
    return games.samples()


def forest_of(evaluator: Evaluator, settings: Settings, precision: Precision) -> Forest:
    """Return the search of a player in many games."""
    judge = judge_for(evaluator, precision)
    return Forest(judge, settings.c_puct, together=settings.together, unseen=settings.unseen)


def _check(settings: Settings) -> None:
    for name, value, wanted in (
        ("positions", settings.positions, True),
        ("sensing", settings.sensing, "information"),
        ("check", settings.check, False),
    ):
        if value != wanted:
            raise ValueError(f"{name}: {value!r}: games in step are played with {wanted!r} only; play them one by one")


class _Seat:
    """What one player of one game knows, and its random numbers."""

    def __init__(self, color: Color, seed: str) -> None:
        self.color, self.moves = color, 0
        self.rng = random.Random(f"{seed} {color}")
        self.positions = PossiblePositions(color, cap=CAP, rng=self.rng, backend=CompiledPositions)

    def opponent_moved(self, lost: int) -> None:
        self.positions.opponent_moved(self._square(lost))

    def saw(self, sense: int, window: Sequence[int]) -> None:
        self.positions.saw(cells_of(sense, window, self.color))

    def moved(self, results: Sequence[int], pawns: int) -> None:
        requested, taken = (move_of(action, self.color, pawns) for action in results[:2])
        self.positions.player_moved(requested, taken, self._square(results[2]))

    def examine(self, state: NDArray[np.uint64], numbers: NDArray[np.int32], settings: Settings) -> _Examined:
        """Return positions that may be true: all, or some if there are many; none if the player has lost track."""
        drawn = self.positions.draw(LOOKED_AT)
        assert isinstance(drawn, CompiledPositions)
        count = len(drawn)
        states, laid = np.empty((count, STATE), np.uint64), np.empty((count, NUMBERS), np.int32)
        lay_out(drawn.rows, state.copy(), numbers.copy(), states, laid)
        weights, attacked = np.empty(count), np.empty(count, np.bool_)
        weigh(states, settings.danger, settings.plausible, weights, attacked)
        return _Examined(states, laid, weights, attacked)

    def draw(self, weights: NDArray[np.float64], count: int) -> NDArray[np.int64]:
        """Draw so many positions by their weights: those with the largest keys (Efraimidis and Spirakis)."""
        chances = np.random.default_rng(self.rng.getrandbits(64)).random(len(weights))
        drawn: NDArray[np.int64] = np.argsort(np.log1p(-chances) / weights)[::-1][:count]
        return drawn

    def pick(self, visits: NDArray[np.int32], best: int, exploring: int) -> int:
        """Return a move: the best, or one drawn by the visits at the beginning of a game."""
        self.moves += 1
        if 2 * self.moves > exploring:
            return best
        visited = np.flatnonzero(visits)
        return int(self.rng.choices(visited.tolist(), visits[visited].tolist())[0])

    def _square(self, square: int) -> Square | None:
        return None if square == NONE else seen_by(square, self.color)


@dataclass
class _Played:
    """The decisions of one player in one game: their positions, visits and values."""

    planes: list[NDArray[np.float32]] = field(default_factory=list)
    visits: list[dict[int, int]] = field(default_factory=list)
    values: list[float] = field(default_factory=list)


class Games:
    """Games under way.

    :ivar playing: the places in the batch of those that go on.
    """

    def __init__(self, settings: Settings, seeds: Sequence[str], max_plies: int) -> None:
        """Begin games.

        :raises ValueError: a setting is not played in step.
        """
        _check(settings)
        self._settings, self._max_plies = settings, max_plies
        self._batch = BatchedRbc(len(seeds), seed=0, autoreset=False)
        self._seats = [{color: _Seat(color, seed) for color in chess.COLORS} for seed in seeds]
        self._played = [{color: _Played() for color in chess.COLORS} for _ in seeds]
        self.playing = list(range(len(seeds)))

    def sense(self) -> None:
        """Sense in all games, where most is learnt about the position."""
        batch, settings = self._batch, self._settings
        actions, values = np.full(batch.n, SKIP), np.empty(64)
        states, numbers = batch.privileged_rows
        for game in self.playing:
            seat = self._seat(game)
            if batch.plies[game]:
                seat.opponent_moved(int(batch.lost[game]))
            found = seat.examine(states[game], numbers[game], settings)
            if len(found.states):
                actions[game] = value_senses(found.states, found.weights, found.attacked, settings.alarm, values)
        self.playing = [game for game in self.playing if actions[game] != SKIP]
        windows = batch.sense(actions)
        for game in self.playing:
            self._seat(game).saw(int(actions[game]), windows[game].tolist())

    def move(self, forest: Forest) -> None:
        """Move in all games, by one search of all of them."""
        batch = self._batch
        drawn = {game: self._draw(game) for game in self.playing}
        self.playing = [game for game in self.playing if len(drawn[game].states)]
        if not self.playing:
            return
        found = forest.search(
            np.concatenate([drawn[game].states for game in self.playing]),
            np.concatenate([drawn[game].numbers for game in self.playing]),
            np.array([len(drawn[game].states) for game in self.playing]),
            self._settings.simulations,
        )
        actions = self._choose(found)
        movers = {game: self._seat(game) for game in self.playing}
        pawns = {game: self._pawns(game) for game in self.playing}
        _, ended = batch.move(actions)
        self.playing = [game for game in self.playing if not ended[game] and batch.plies[game] < self._max_plies]
        for game in self.playing:
            movers[game].moved(batch.results[game].tolist(), pawns[game])

    def samples(self) -> list[list[Sample]]:
        """Return the decisions of each game, White's first."""
        winners = enumerate(self._batch.winners.tolist())
        return [[sample for color in chess.COLORS for sample in self.samples_of(*each, color)] for each in winners]

    def samples_of(self, game: int, winner: int, color: Color) -> list[Sample]:
        """Return the decisions of a player.

        :param winner: the winner's colour; NONE for a draw.
        """
        outcome, played = 0.0 if winner == NONE else 1.0 if winner == color else -1.0, self._played[game][color]
        decisions = zip(played.planes, played.visits, played.values, strict=True)
        return [Sample(planes, visits, outcome, value) for planes, visits, value in decisions]

    def _seat(self, game: int) -> _Seat:
        return self._seats[game][bool(self._batch.colors[game])]

    def _pawns(self, game: int) -> int:
        """Return the true squares of the pawns of the side to move."""
        squares = int(self._batch.privileged_rows[0][game, PAWN])
        return squares if self._batch.colors[game] else chess.flip_vertical(squares)

    def _draw(self, game: int) -> _Examined:
        states, numbers = self._batch.privileged_rows
        seat = self._seat(game)
        found = seat.examine(states[game], numbers[game], self._settings)
        chosen = seat.draw(found.weights, self._settings.determinisations)
        return _Examined(found.states[chosen], found.numbers[chosen], found.weights[chosen], found.attacked[chosen])

    def _choose(self, found: Found) -> NDArray[np.int64]:
        """Return the move of each game, and note the decisions."""
        batch = self._batch
        actions = np.full(batch.n, SKIP)
        states, numbers = batch.privileged_rows
        states, numbers = states[self.playing], numbers[self.playing]
        planes, best, values = encode_all(states, numbers), found.best(), found.values()
        for index, game in enumerate(self.playing):
            seat, visits = self._seat(game), found.visits[index]
            actions[game] = seat.pick(visits, int(best[index]), self._settings.exploring)
            played = self._played[game][seat.color]
            played.planes.append(planes[index])
            played.visits.append(_by_number(visits, int(states[index, PAWN])))
            played.values.append(float(values[index]))
        return actions


def _by_number(visits: NDArray[np.int32], pawns: int) -> dict[int, int]:
    """Return the visits by the moves' numbers of :mod:`..actions`.

    :param pawns: the player's pawns, as it sees the board.
    """
    moves = np.flatnonzero(visits)
    is_pawn = [action != PASS and pawns >> (action & 63) & 1 for action in moves.tolist()]
    return dict(zip(FROM_TO_BY_PLANES[is_pawn, moves].tolist(), visits[moves].tolist(), strict=True))
