"""Games played in step: to learn from, or to measure by.

All take their turns together, and the network is asked once for all of them.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

import chess
import numpy as np
from chess import Color, Square
from numpy.typing import NDArray

from gm_bots.unseen import Unseen
from gm_env import PASS, SKIP, BatchedRbc
from gm_env.actions import FROM_TO_BY_PLANES, cells_of, move_of, seen_by
from gm_env.kernels.layout import NONE, PAWN

from ..knowledge import LOOKED_AT
from ..replay import Sample
from ..thinker import Settings
from .candidates import Examined, examine, value_senses
from .encoding import encode_all
from .forest import Forest, Found
from .judging import Judge
from .weighted import known_positions


class Side:
    """A way to play, which many games share.

    :ivar settings: its settings.
    :ivar forest: its searches.
    """

    def __init__(self, judge: Judge, settings: Settings) -> None:
        self.settings, self.judge = settings, judge
        self.forest = Forest(judge, settings.c_puct)


class Seat:
    """What one player of one game knows, and its random numbers."""

    def __init__(self, color: Color, seed: str, side: Side) -> None:
        self.color, self.side, self.moves = color, side, 0
        self.unseen = Unseen(side.settings.unseen)
        self.rng = random.Random(f"{seed} {color}")
        self.known = known_positions(color, self.rng, side.settings.weighing_with(side.judge))

    def opponent_moved(self, lost: int) -> None:
        self.known.opponent_moved(self._square(lost))

    def saw(self, sense: int, window: Sequence[int]) -> None:
        self.known.saw(cells_of(sense, window, self.color))

    def moved(self, results: Sequence[int], pawns: int) -> None:
        requested, taken = (move_of(action, self.color, pawns) for action in results[:2])
        self.known.player_moved(requested, taken, self._square(results[2]))

    def examine(self) -> Examined:
        """Return positions that may be true: all, or some if there are many; none if the player has lost track."""
        return examine(*self.known.likeliest(LOOKED_AT), *self.known.own_rows())

    def draw(self, weights: NDArray[np.float64], count: int) -> NDArray[np.int64]:
        """Draw so many positions by their weights: those with the largest keys (Efraimidis and Spirakis)."""
        chances = np.random.default_rng(self.rng.getrandbits(64)).random(len(weights))
        drawn: NDArray[np.int64] = np.argsort(np.log1p(-chances) / weights)[::-1][:count]
        return drawn

    def pick(self, visits: NDArray[np.int32], best: int) -> int:
        """Return a move: the best, or one drawn by the visits at the beginning of a game."""
        self.moves += 1
        if 2 * self.moves > self.side.settings.exploring:
            return best
        visited = np.flatnonzero(visits)
        return int(self.rng.choices(visited.tolist(), visits[visited].tolist())[0])

    def _square(self, square: int) -> Square | None:
        return None if square == NONE else seen_by(square, self.color)


def play_together(judge: Judge, settings: Settings, seeds: Sequence[str], max_plies: int) -> list[list[Sample]]:
    """Play games of a player against itself; return the decisions of each game, White's first.

    A game that is too long is drawn, as is one in which a player loses track of the possible positions.

    :param seeds: one for each game. The same seeds, in the same order, make the same games.
    """
    side = Side(judge, settings)
    games = Games([dict.fromkeys(chess.COLORS, side)] * len(seeds), seeds, max_plies)
    games.play()
    return [[each for color in chess.COLORS for each in games.samples_of(game, color)] for game in range(len(seeds))]


class Games:
    """Games under way.

    :ivar playing: the places in the batch of those that go on.
    """

    def __init__(self, sides: Sequence[Mapping[Color, Side]], seeds: Sequence[str], max_plies: int) -> None:
        """:param sides: of each game, who plays which colour; a colour that is missing is played by another program."""
        self._max_plies = max_plies
        self._batch = BatchedRbc(len(seeds), seed=0, autoreset=False)
        self._seats = [
            {color: Seat(color, seed, side) for color, side in of.items()}
            for seed, of in zip(seeds, sides, strict=True)
        ]
        self._samples: list[dict[Color, list[Sample]]] = [{color: [] for color in chess.COLORS} for _ in seeds]
        self.playing = list(range(len(seeds)))

    def play(self) -> None:
        """Play all games to their ends."""
        while self.playing:
            self.take_turns()

    def take_turns(self) -> None:
        """Take a turn in each game."""
        self.playing = self.take_our_turns(self.playing)

    def take_our_turns(self, games: Sequence[int]) -> list[int]:
        """Take a turn in games in which a side of ours is to sense, and return those which go on."""
        by_side: dict[Side, list[int]] = {}
        for game in games:
            by_side.setdefault(self._seat(game).side, []).append(game)
        return sorted(game for side, its in by_side.items() for game in self._move(side, self._sense(side, its)))

    def _sense(self, side: Side, games: Sequence[int]) -> list[int]:
        """Sense in games, and return those in which the player has not lost track."""
        batch = self._batch
        for game in games:
            if batch.plies[game]:
                self._seat(game).opponent_moved(int(batch.lost[game]))
        actions = self._choose_senses(side, games)
        games = [game for game in games if actions[game] != SKIP]
        windows = batch.sense(actions)
        for game in games:
            self._seat(game).saw(int(actions[game]), windows[game].tolist())
        return games

    def _choose_senses(self, side: Side, games: Sequence[int]) -> NDArray[np.int64]:
        """Return the sense of each game: SKIP where the player has lost track, and in the other games."""
        actions = np.full(self._batch.n, SKIP)
        for game in games:
            found, bits = self._seat(game).examine(), np.empty(64)
            if len(found.states):
                actions[game] = value_senses(found.states, found.weights, found.attacked, side.settings.alarm, bits)
        return actions

    def _move(self, side: Side, games: Sequence[int]) -> list[int]:
        """Move in games, by one search of all of them, and return those which go on."""
        batch = self._batch
        drawn = {game: self._draw(game) for game in games}
        games = [game for game in games if len(drawn[game].states)]
        if not games:
            return []
        side.forest.begin(
            np.concatenate([drawn[game].states for game in games]),
            np.concatenate([drawn[game].numbers for game in games]),
            np.array([len(drawn[game].states) for game in games]),
            [self._seat(game).unseen.probability for game in games],
        )
        side.forest.deepen(side.settings.simulations)
        found = side.forest.found()
        actions = self._choose(found, games)
        movers = {game: self._seat(game) for game in games}
        checks = side.forest.checks(actions[games].tolist())
        for mover, value, check in zip(movers.values(), found.values(), checks, strict=True):
            mover.unseen.turn(wins=value >= 1)
            mover.unseen.moves(checks=check)
        pawns = {game: self._pawns(game) for game in games}
        _, ended = batch.move(actions)
        games = [game for game in games if not ended[game] and batch.plies[game] < self._max_plies]
        for game in games:
            movers[game].moved(batch.results[game].tolist(), pawns[game])
        return games

    def samples_of(self, game: int, color: Color) -> list[Sample]:
        """Return the decisions of a player."""
        return self._samples[game][color]

    def _seat(self, game: int) -> Seat:
        return self._seats[game][bool(self._batch.colors[game])]

    def _pawns(self, game: int) -> int:
        """Return the true squares of the pawns of the side to move."""
        squares = int(self._batch.privileged_rows[0][game, PAWN])
        return squares if self._batch.colors[game] else chess.flip_vertical(squares)

    def _draw(self, game: int) -> Examined:
        seat = self._seat(game)
        found = seat.examine()
        return found.chosen(seat.draw(found.weights, seat.side.settings.determinisations))

    def _choose(self, found: Found, games: Sequence[int]) -> NDArray[np.int64]:
        """Return the move of each game, SKIP in the others, and note the decisions."""
        actions = np.full(self._batch.n, SKIP)
        states, numbers = self._batch.privileged_rows
        states, numbers = states[games], numbers[games]
        planes, best, values = encode_all(states, numbers), found.best(), found.values()
        for index, game in enumerate(games):
            seat, visits = self._seat(game), found.visits[index]
            actions[game] = seat.pick(visits, int(best[index]))
            numbered = _by_number(visits, int(states[index, PAWN]))
            self._samples[game][seat.color].append(Sample(planes[index], numbered, float(values[index])))
        return actions


def _by_number(visits: NDArray[np.int32], pawns: int) -> dict[int, int]:
    """Return the visits by the moves' numbers by from, to and promotion.

    :param pawns: the player's pawns, as it sees the board.
    """
    moves = np.flatnonzero(visits)
    is_pawn = [action != PASS and pawns >> (action & 63) & 1 for action in moves.tolist()]
    return dict(zip(FROM_TO_BY_PLANES[is_pawn, moves].tolist(), visits[moves].tolist(), strict=True))
