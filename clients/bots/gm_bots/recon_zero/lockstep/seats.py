"""What a player of a game in step knows, how it plays, and its random numbers."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
from chess import Color, Square
from numpy.typing import NDArray

from gm_env.actions import cells_of, move_of, seen_by
from gm_env.kernels.layout import NONE

from ..knowledge import LOOKED_AT
from ..player import Settings
from .candidates import Examined, examine
from .forest import Forest
from .judging import Judge
from .weighted import known_positions


class Side:
    """A way to play, which many games share.

    :ivar settings: its settings.
    :ivar forest: its searches.
    """

    def __init__(self, judge: Judge, settings: Settings) -> None:
        self.settings, self.judge = settings, judge
        self.forest = Forest(judge, settings.c_puct, unseen=settings.unseen)


class Seat:
    """What one player of one game knows, and its random numbers."""

    def __init__(self, color: Color, seed: str, side: Side) -> None:
        self.color, self.side, self.moves = color, side, 0
        self.rng = random.Random(f"{seed} {color}")
        self.known = known_positions(color, self.rng, side.settings.weighing_with(side.judge))

    def opponent_moved(self, lost: int) -> None:
        self.known.opponent_moved(self._square(lost))

    def saw(self, sense: int, window: Sequence[int]) -> None:
        self.known.saw(cells_of(sense, window, self.color))

    def moved(self, results: Sequence[int], pawns: int) -> None:
        requested, taken = (move_of(action, self.color, pawns) for action in results[:2])
        self.known.player_moved(requested, taken, self._square(results[2]))

    def examine(self, state: NDArray[np.uint64], numbers: NDArray[np.int32]) -> Examined:
        """Return positions that may be true: all, or some if there are many; none if the player has lost track."""
        return examine(*self.known.likeliest(LOOKED_AT), state.copy(), numbers.copy())

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
