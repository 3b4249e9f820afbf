"""A policy that takes whatever it has seen."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..actions import FROM_TO_BY_PLANES
from ..kernels.layout import PASS
from ..opponents import Decisions
from ..turns import FIRST_SENSE

#: What may stand on a square: nothing that is known, the opponent's pieces from pawn to king, or one of them that has
#: captured there unseen. What each is worth in pawns.
UNSEEN_CAPTOR = 7
WORTH = np.array([0, 1, 3, 3, 5, 9, 100, 2], np.float32)
#: Turns after which a square that was not seen again is of no more interest than one never seen.
FORGOTTEN = 30
#: Planes of an observation.
_OWN, _THEIRS, _SENSED, _LOST = slice(0, 6), slice(6, 12), 12, 13

_FROM_TO = FROM_TO_BY_PLANES[0, :PASS] // 5
_SOURCES, _TARGETS = np.where(_FROM_TO < 0, 0, np.divmod(_FROM_TO, 64))
#: The moves by which a pawn captures nothing.
_STRAIGHT = _SOURCES % 8 == _TARGETS % 8


class Greedy:
    """A policy that takes the most valuable piece that it can: an :class:`gm_env.opponents.Opponent`.

    It remembers for each square what it last saw there. It takes the most valuable piece that it remembers, with the
    least valuable of its own pieces, whether that piece can be taken back or not; it moves at random if there is
    nothing to take. It senses where it has just lost a piece, and else the window that it has not seen for the longest.
    A place where it was captured holds an unknown piece until it looks there. At first it remembers nothing.
    """

    def __init__(self) -> None:
        """Prepare for any number of games."""
        self._pieces = np.zeros((0, 64), np.uint8)
        self._ages = np.zeros((0, 64), np.int64)

    def begin(self, games: NDArray[np.int64], colors: NDArray[np.int32]) -> None:
        """Forget the games that were played in these places."""
        missing = int(games.max()) + 1 - len(self._pieces)
        if missing > 0:
            self._pieces = np.concatenate([self._pieces, np.zeros((missing, 64), np.uint8)])
            self._ages = np.concatenate([self._ages, np.zeros((missing, 64), np.int64)])
        self._pieces[games], self._ages[games] = 0, FORGOTTEN

    def __call__(self, decisions: Decisions) -> NDArray[np.int64]:
        """Return an action for each decision."""
        observed = decisions.observations().reshape(len(decisions.games), -1, 64)
        pieces, ages = self._pieces[decisions.games], self._ages[decisions.games]
        if decisions.is_sense:
            ages = np.minimum(ages + 1, FORGOTTEN)
            pieces = np.where(observed[:, _LOST] == 1, UNSEEN_CAPTOR, pieces)
            known = observed[:, _OWN].any(1)
        else:
            known = observed[:, _SENSED] == 1
        theirs = (observed[:, _THEIRS] * np.arange(1, 7, dtype=np.uint8)[:, None]).sum(1, dtype=np.uint8)
        pieces, ages = np.where(known, theirs, pieces), np.where(known, 0, ages)
        self._pieces[decisions.games], self._ages[decisions.games] = pieces, ages
        if decisions.is_sense:
            return FIRST_SENSE + _window(ages, observed[:, _LOST], decisions.rng)
        return _capture(pieces, observed[:, _OWN], decisions)


def _window(ages: NDArray[np.int64], lost: NDArray[np.uint8], rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the square to sense for each game: int64[k]."""
    board = np.pad((ages + 1000 * (lost == 1)).reshape(-1, 8, 8), ((0, 0), (1, 1), (1, 1)))
    rows = board[:, :-2] + board[:, 1:-1] + board[:, 2:]
    sums = (rows[:, :, :-2] + rows[:, :, 1:-1] + rows[:, :, 2:]).reshape(-1, 64)
    chosen: NDArray[np.int64] = (sums + rng.random(sums.shape)).argmax(1)
    return chosen


def _capture(pieces: NDArray[np.uint8], own: NDArray[np.uint8], decisions: Decisions) -> NDArray[np.int64]:
    """Return the best capture for each game, or a random move: int64[k]."""
    risked = (own * WORTH[1:7, None]).sum(1)
    gains = WORTH[pieces][:, _TARGETS] - risked[:, _SOURCES] / 1000
    pushes = (own[:, 0, _SOURCES] == 1) & _STRAIGHT
    gains[(decisions.action_masks()[:, :PASS] == 0) | (pieces[:, _TARGETS] == 0) | pushes] = 0
    return np.where(gains.any(1), gains.argmax(1), decisions.draw())
