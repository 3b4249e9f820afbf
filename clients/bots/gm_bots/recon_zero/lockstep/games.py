"""Games played in step: to learn from, or to measure by.

All take their turns together, and the network is asked once for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import chess
import numpy as np
from chess import Color
from numpy.typing import NDArray

from gm_env import PASS, SKIP, BatchedRbc
from gm_env.actions import FROM_TO_BY_PLANES
from gm_env.kernels.layout import NONE, PAWN

from ..player import Settings
from ..replay import Sample
from ..sensing import values_of_senses
from .candidates import pieces_on, value_senses
from .encoding import encode_all
from .forest import Found
from .judging import Judge
from .seats import Examined, Seat, Side


def play_together(judge: Judge, settings: Settings, seeds: Sequence[str], max_plies: int) -> list[list[Sample]]:
    """Play games of a player against itself; return the decisions of each game with its result.

    A game that is too long is drawn, as is one in which a player loses track of the possible positions.

    :param settings: must keep positions, and sense for information.
    :param seeds: one for each game. The same seeds, in the same order, make the same games.
    :raises ValueError: a setting is not one of those.
    """
    side = Side(judge, settings)
    games = Games([dict.fromkeys(chess.COLORS, side)] * len(seeds), seeds, max_plies)
    games.play()
    return games.samples()


def match_together(ours: Side, theirs: Side, seeds: Sequence[str], max_plies: int) -> list[float]:
    """Play games of two sides against each other, ours with White in the first and every other one.

    :param seeds: one for each game.
    :returns: the points of our side in each, 0 to 1. A game that is too long is drawn, as is one in which a player
        loses track of the possible positions.
    """
    colors = [chess.COLORS[number % 2] for number in range(len(seeds))]
    games = Games([{color: ours, not color: theirs} for color in colors], seeds, max_plies)
    games.play()
    return [
        0.5 if winner == NONE else float(winner == color) for winner, color in zip(games.winners, colors, strict=True)
    ]


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

    def __init__(self, sides: Sequence[Mapping[Color, Side]], seeds: Sequence[str], max_plies: int) -> None:
        """:param sides: of each game, who plays which colour; a colour that is missing is played by another program."""
        self._max_plies = max_plies
        self._batch = BatchedRbc(len(seeds), seed=0, autoreset=False)
        self._seats = [
            {color: Seat(color, seed, side) for color, side in of.items()}
            for seed, of in zip(seeds, sides, strict=True)
        ]
        self._played = [{color: _Played() for color in chess.COLORS} for _ in seeds]
        self.playing = list(range(len(seeds)))

    @property
    def winners(self) -> list[int]:
        """The colour that won each game; -1 for none."""
        winners: list[int] = self._batch.winners.tolist()
        return winners

    def play(self, ended: Callable[[int], None] = lambda number: None) -> None:
        """Play all games to their ends.

        :param ended: called after each turn with the number of games that it has ended, for those who show progress.
        """
        while self.playing:
            before = len(self.playing)
            self.take_turns()
            ended(before - len(self.playing))

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
        examined = {game: self._examine(game) for game in games}
        worths = self._value_senses(side, examined) if side.settings.worth else {}
        for game, found in examined.items():
            bits = np.empty(64)
            if len(found.states):
                actions[game] = value_senses(found.states, found.weights, found.attacked, side.settings.alarm, bits)
            if game in worths:
                senses = {square: bits[square] + side.settings.worth * worth for square, worth in worths[game].items()}
                actions[game] = max(senses, key=senses.__getitem__)
        return actions

    def _value_senses(self, side: Side, examined: Mapping[int, Examined]) -> dict[int, dict[int, float]]:
        """Return the expected value after each sense, where there are several positions to tell apart."""
        settings = side.settings
        drawn = {
            game: found.chosen(self._seat(game).draw(found.weights, settings.searched))
            for game, found in examined.items()
            if len(found.states) > 1
        }
        if not drawn:
            return {}
        _begin(side, list(drawn.values()))
        side.forest.deepen(settings.looks)
        worths = {}
        for index, (game, found) in enumerate(drawn.items()):
            values, visits = side.forest.values_of(index)
            channels = pieces_on(found.states).astype(np.uint8)
            seen = visits.min(axis=0) > 0
            if seen.any():
                worths[game] = values_of_senses(channels, np.ones(len(channels)), values[:, seen])
        return worths

    def _move(self, side: Side, games: Sequence[int]) -> list[int]:
        """Move in games, by one search of all of them, and return those which go on."""
        batch = self._batch
        drawn = {game: self._draw(game) for game in games}
        games = [game for game in games if len(drawn[game].states)]
        if not games:
            return []
        _begin(side, [drawn[game] for game in games])
        side.forest.deepen(side.settings.simulations)
        actions = self._choose(side.forest.found(), games)
        movers = {game: self._seat(game) for game in games}
        pawns = {game: self._pawns(game) for game in games}
        _, ended = batch.move(actions)
        games = [game for game in games if not ended[game] and batch.plies[game] < self._max_plies]
        for game in games:
            movers[game].moved(batch.results[game].tolist(), pawns[game])
        return games

    def samples(self) -> list[list[Sample]]:
        """Return the decisions of each game, White's first."""
        winners = enumerate(self.winners)
        return [[sample for color in chess.COLORS for sample in self.samples_of(*each, color)] for each in winners]

    def samples_of(self, game: int, winner: int, color: Color) -> list[Sample]:
        """Return the decisions of a player.

        :param winner: the winner's colour; NONE for a draw.
        """
        outcome, played = 0.0 if winner == NONE else 1.0 if winner == color else -1.0, self._played[game][color]
        decisions = zip(played.planes, played.visits, played.values, strict=True)
        return [Sample(planes, visits, outcome, value) for planes, visits, value in decisions]

    def _seat(self, game: int) -> Seat:
        return self._seats[game][bool(self._batch.colors[game])]

    def _pawns(self, game: int) -> int:
        """Return the true squares of the pawns of the side to move."""
        squares = int(self._batch.privileged_rows[0][game, PAWN])
        return squares if self._batch.colors[game] else chess.flip_vertical(squares)

    def _examine(self, game: int) -> Examined:
        states, numbers = self._batch.privileged_rows
        return self._seat(game).examine(states[game], numbers[game])

    def _draw(self, game: int) -> Examined:
        seat, found = self._seat(game), self._examine(game)
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
            played = self._played[game][seat.color]
            played.planes.append(planes[index])
            played.visits.append(_by_number(visits, int(states[index, PAWN])))
            played.values.append(float(values[index]))
        return actions


def _begin(side: Side, positions: Sequence[Examined]) -> None:
    """Begin a side's search of games, each from these positions."""
    side.forest.begin(
        np.concatenate([each.states for each in positions]),
        np.concatenate([each.numbers for each in positions]),
        np.array([len(each.states) for each in positions]),
    )


def _by_number(visits: NDArray[np.int32], pawns: int) -> dict[int, int]:
    """Return the visits by the moves' numbers of :mod:`..actions`.

    :param pawns: the player's pawns, as it sees the board.
    """
    moves = np.flatnonzero(visits)
    is_pawn = [action != PASS and pawns >> (action & 63) & 1 for action in moves.tolist()]
    return dict(zip(FROM_TO_BY_PLANES[is_pawn, moves].tolist(), visits[moves].tolist(), strict=True))
