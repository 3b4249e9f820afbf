"""The search of many games in step, with one evaluation of all their positions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gm_env.kernels.layout import MOVES, PLANES

from .judging import Judge
from .trees import Indexes, Trees, add_up, back_up, descend, make, plant

#: Edges that a position has at most: python-chess knows none with more moves, and a pass.
MOST_MOVES = 256
#: Moves that capture a king at most: fewer pieces than a side has can, some of them with four promotions.
MOST_KING_CAPTURES = 64
#: The weight of a move's probability relative to its results. Other bots and the notebook have 1.5; but in blind
#: chess most positions have values near 0 (see :data:`.judging.SCALE`), and with so large a weight the results
#: would not count.
C_PUCT = 0.5


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

    Its arrays are kept and used again by the next search.
    """

    def __init__(self, judge: Judge, c_puct: float = C_PUCT) -> None:
        """:param judge: evaluates the positions.
        :param c_puct: the weight of a move's probability relative to its results.
        """
        self._judge, self._c_puct = judge, c_puct
        self._trees = make(0, 0, 0, 0, 0)
        self._planes, self._scratch = np.empty((1, PLANES), np.uint64), np.empty(PLANES, np.uint64)
        self._waiting, self._deepest = np.empty(0, np.int64), 0

    def begin(
        self,
        states: NDArray[np.uint64],
        numbers: NDArray[np.int32],
        positions: Indexes,
        unseen: Sequence[float] | None = None,
    ) -> None:
        """Begin to search games, each from the positions that may be true in it.

        :param states: the positions as in :mod:`gm_env`, one game's after the other's; the player is to move in each.
        :param numbers: likewise.
        :param positions: how many each game has; a game without is left out.
        :param unseen: of each game, the probability that an attack on a king is not seen by its side; None for 0.
        """
        self._unseen = np.zeros(len(positions)) if unseen is None else np.array(unseen, np.float64)
        games, most = len(positions), int(positions.max(initial=1))
        trees = self._trees
        if trees.paths.shape[0] < games * most:
            trees = make(games, most, len(trees.won), len(trees.action), trees.paths.shape[1])
        self._trees = trees._replace(roots=np.full((games, most), -1, np.int32))
        self._trees.used[:], self._trees.depth[:], self._deepest = 0, 0, 0
        self._waiting = np.empty(len(states), np.int64)
        trees = self._with_room((1 + MOST_KING_CAPTURES) * len(states), len(states))
        asked = plant(trees, states, numbers, positions, self._planes, self._waiting)
        self._judge(trees, self._waiting[:asked])

    def deepen(self, simulations: int) -> None:
        """Visit so many more positions in each tree."""
        leaves = len(self._waiting)
        for _ in range(simulations):
            trees = self._with_room(leaves, leaves)
            asked = descend(trees, self._c_puct, self._planes, self._scratch, self._waiting)
            self._deepest = max(self._deepest, int(trees.depth.max(initial=0)))
            back_up(trees, self._judge(trees, self._waiting[:asked]), self._unseen)

    def found(self) -> Found:
        """Return the results so far."""
        games = len(self._trees.roots)
        found = Found(np.zeros((games, MOVES), np.int32), np.zeros((games, MOVES)))
        add_up(self._trees, found.visits, found.totals)
        return found

    def checks(self, actions: Sequence[int]) -> list[bool]:
        """Return of each game whether an action attacks a king unseen, in most of the positions where it was tried."""
        trees, found = self._trees, []
        for roots, action in zip(trees.roots, actions, strict=True):
            edges = [slice(trees.first[root], trees.first[root] + trees.edges[root]) for root in roots[roots >= 0]]
            children = np.concatenate([trees.child[each][trees.action[each] == action] for each in edges])
            tried = trees.attacked[children[children >= 0]]
            found.append(bool(tried.sum() * 2 > len(tried)))
        return found

    def _with_room(self, nodes: int, leaves: int) -> Trees:
        """Return the arrays with room for so many more nodes, and for the edges of so many leaves."""
        trees = self._trees
        nodes, edges = int(trees.used[0]) + nodes, int(trees.used[1]) + MOST_MOVES * leaves
        if len(trees.won) < nodes:
            trees = trees._replace(**_longer(trees, _OF_NODES, 2 * nodes))
        if len(trees.action) < edges:
            trees = trees._replace(**_longer(trees, _OF_EDGES, 2 * edges))
        if trees.paths.shape[1] <= self._deepest:  # the next path may be longer by one
            trees = trees._replace(paths=np.empty((len(trees.paths), 2 * self._deepest + 64), np.int32))
        self._trees = trees
        return trees


_OF_NODES = ("states", "numbers", "first", "edges", "won", "attacked")
_OF_EDGES = ("action", "prior", "visits", "total", "child")


def _longer(trees: Trees, names: tuple[str, ...], count: int) -> dict[str, NDArray[Any]]:
    """Return some arrays with room for so many nodes or edges."""
    found = {}
    for name in names:
        before = getattr(trees, name)
        found[name] = np.empty((count, *before.shape[1:]), before.dtype)
        found[name][: len(before)] = before
    return found
