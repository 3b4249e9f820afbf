"""The search of many games in step, with one evaluation of all their positions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gm_env.kernels.layout import MOVES, PLANES

from ..search import C_PUCT
from .judging import Judge
from .trees import Indexes, Trees, add_up, back_up, descend, make, plant

#: Edges that a position has at most: python-chess knows none with more moves, and a pass.
MOST_MOVES = 256
#: Moves that capture a king at most: fewer pieces than a side has can, some of them with four promotions.
MOST_KING_CAPTURES = 64
#: Edges that are made room for, for each node: more than the average of games.
EDGES = 48


@dataclass(frozen=True)
class Found:
    """The results of the searches of many games.

    :ivar visits: (games, 4673): how often each first move was visited, in all trees of a game.
    :ivar totals: (games, 4673): the sum of the values that were found.
    """

    visits: NDArray[np.int32]
    totals: NDArray[np.float64]

    def best(self) -> Indexes:
        """Return the move of each game with the most visits; of several the one with the highest value."""
        most = self.visits == self.visits.max(axis=1, keepdims=True)
        values = np.where(most, self.totals / np.maximum(self.visits, 1), -np.inf)
        best: Indexes = values.argmax(axis=1)
        return best

    def values(self) -> NDArray[np.float64]:
        """Return the value of each game's position, over all visits."""
        values: NDArray[np.float64] = self.totals.sum(axis=1) / np.maximum(1, self.visits.sum(axis=1))
        return values


class Forest:
    """A search for each of many games, deepened together.

    Its arrays are kept and used again by :meth:`search`.
    """

    def __init__(self, judge: Judge, c_puct: float = C_PUCT, *, together: bool = True, unseen: float = 0.0) -> None:
        """:param judge: evaluates the positions.

        The other parameters are those of :class:`..search.Search`.
        """
        self._judge, self._c_puct, self._together, self._unseen = judge, c_puct, together, unseen
        self._trees = make(0, 0, 0, 0, 0)

    def search(
        self, states: NDArray[np.uint64], numbers: NDArray[np.int32], positions: Indexes, simulations: int
    ) -> Found:
        """Search all games, each from the positions that may be true in it.

        :param states: the positions as in :mod:`gm_env`, one game's after the other's; the player is to move in each.
        :param numbers: likewise.
        :param positions: how many each game has; a game without is left out.
        :param simulations: visits in each tree.
        """
        most = int(positions.max(initial=1))
        trees = self._grown(len(positions), most, len(states) * (1 + MOST_KING_CAPTURES + simulations), simulations + 1)
        waiting = np.empty(len(states), np.int64)
        planes, scratch = np.empty((1, PLANES), np.uint64), np.empty(PLANES, np.uint64)
        trees = self._with_room(trees, 4 * len(states))
        asked = plant(trees, states, numbers, positions, planes, self._together, waiting)
        self._judge(trees, waiting[:asked])
        for _ in range(simulations):
            trees = self._with_room(trees, len(states))
            asked = descend(trees, self._c_puct, self._together, planes, scratch, waiting)
            back_up(trees, self._judge(trees, waiting[:asked]), self._unseen)
        found = Found(np.zeros((len(positions), MOVES), np.int32), np.zeros((len(positions), MOVES)))
        add_up(trees, found.visits, found.totals)
        return found

    def _grown(self, games: int, most: int, nodes: int, depth: int) -> Trees:
        """Return arrays of this size."""
        trees, count = self._trees, games * most
        if len(trees.won) < nodes or trees.paths.shape[0] < count or trees.paths.shape[1] < depth:
            trees = make(games, most, nodes, EDGES * nodes, depth)
        self._trees = trees._replace(roots=np.full((games, most), -1, np.int32))
        return self._trees

    def _with_room(self, trees: Trees, leaves: int) -> Trees:
        """Return the arrays with room for the edges of so many more nodes."""
        wanted = int(trees.used[1]) + MOST_MOVES * leaves
        if len(trees.action) >= wanted:
            return trees
        more = max(wanted, 2 * len(trees.action))
        names = ("action", "prior", "visits", "total", "child")
        edges = {name: np.resize(getattr(trees, name), more) for name in names}
        self._trees = trees._replace(**edges)
        return self._trees
