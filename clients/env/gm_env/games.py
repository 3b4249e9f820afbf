"""The arrays of a batch, and how its games begin."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from threading import RLock
from typing import Any, Self

import chess
import numpy as np
from numpy.typing import NDArray

from gm_recon import ReconBoard

from .arguments import places, whole
from .buffers import Buffer, frozen
from .kernels import observing, recalling, sampling, stepping
from .kernels.layout import (
    COLOR,
    DRAWS,
    EPISODE,
    FULLMOVES,
    HALFMOVES,
    LOST,
    MOVES,
    PASS,
    PHASE,
    PLANES,
    PLY,
    REASON,
    SEED,
    WINNER,
)
from .positions import written

#: Turns that the records have room for at first; they grow. An odd number of cache lines apart, games do not evict each
#: other from a cache that finds its lines by the low bits of addresses.
FIRST_CAPACITY = 100
#: The limits of games without limits.
_UNLIMITED = 2**31 - 1
#: Rows of the information state where the games have no turn limit.
_RECALL = 256


class Games:
    """The arrays of ``n`` games. :class:`gm_env.BatchedRbc` documents its attributes."""

    colors: NDArray[np.int32]
    phases: NDArray[np.int32]
    plies: NDArray[np.int32]
    episodes: NDArray[np.int32]
    lost: NDArray[np.int32]
    reasons: NDArray[np.int32]
    winners: NDArray[np.int32]
    results: NDArray[np.int32]
    windows: NDArray[np.uint8]
    legal: NDArray[np.uint64]
    rewards: NDArray[np.float32]
    ended: NDArray[np.bool_]

    def __init__(
        self,
        n: int,
        seed: int = 0,
        *,
        fens: str | Sequence[str] = chess.STARTING_FEN,
        reversible_moves: int | None = 100,
        max_turns: int | None = None,
        autoreset: bool = True,
        recall: int | None = None,
    ) -> None:
        """:param n: the number of games.
        :param seed: of :meth:`sample_senses` and :meth:`sample_moves`, 0 to 2**64 - 1: see :meth:`reset`.
        :param fens: where all games begin, or a list with one for each; no game may be over before its first turn.
        :param reversible_moves: a draw after this many half-moves without capture or pawn move, as in
            :class:`gm_recon.ReconGame`; None for no limit.
        :param max_turns: a draw after this many full turns by the full-move number, likewise.
        :param autoreset: whether finished games begin anew.
        :param recall: the rows of :meth:`information_states`; by default one more than ``max_turns``, else 256.
        :raises TypeError: an argument has a wrong type.
        :raises ValueError: an argument is out of its range. The message names it.
        """
        n = whole("n", n)
        check(n >= 1, f"n: {n} is less than 1")
        self.n, self.autoreset = n, bool(autoreset)
        self._lock = RLock()  # so that not even a batch in two threads reads what is not there
        self.reversible_moves, self.max_turns = reversible_moves, max_turns
        self._limits = (_limit("reversible_moves", reversible_moves), _limit("max_turns", max_turns))
        default = _RECALL if max_turns is None else self._limits[1] + 1  # White also has a row for Black's last turn
        self.recall = default if recall is None else whole("recall", recall)
        check(self.recall >= 1, f"recall: {self.recall} is less than 1")
        self._set_up(fens)
        self._state, self._numbers = self._first_state.copy(), self._first_numbers.copy()
        self._records: NDArray[np.uint64] = np.zeros((n, FIRST_CAPACITY, 2), np.uint64)
        self._planes = np.empty((n, PLANES), np.uint64)
        self._windows, self._results = np.empty((n, 9), np.uint8), np.empty((n, 3), np.int32)
        self._actions, self._drawn_senses, self._drawn_moves = (np.empty(n, np.int64) for _ in range(3))
        self._totals = np.empty(sampling.GROUPS, np.uint64)
        self._rewards, self._ended = np.empty((n, 2), np.float32), np.empty(n, np.bool_)
        self._viewers = np.empty(n, np.int64)
        self._masks = Buffer((n, MOVES), np.uint8, np.uint8)
        self._observations = Buffer((n, len(observing.OBSERVATION), 8, 8), np.uint64, np.uint8)
        self._truths = Buffer((n, len(observing.PRIVILEGED), 8, 8), np.uint64, np.uint8)
        self._drawn = np.empty(len(observing.OBSERVATION), np.uint64)
        rows = recalling.HEADER_ROWS + self.recall
        self._recalled = Buffer((n, rows, len(recalling.INFORMATION)), np.int16, np.int16)
        self._show()
        self.reset(whole("seed", seed))

    def _set_up(self, fens: str | Sequence[str]) -> None:
        """Make the rows that each game begins with."""
        starts = [fens] * self.n if isinstance(fens, str) else list(fens)
        for fen in starts:
            if not isinstance(fen, str):
                raise TypeError(f"fens: {fen!r} is no text")
        check(len(starts) == self.n, f"fens: there are {len(starts)} for {self.n} games")
        rows = {fen: written(ReconBoard(fen)) for fen in set(starts)}
        for fen, (_, numbers) in rows.items():
            over = numbers[HALFMOVES] >= self._limits[0] or numbers[FULLMOVES] > self._limits[1]
            check(not over, f"fens: {fen!r} has reached reversible_moves or max_turns; use a higher limit")
        self._first_state = np.array([rows[fen][0] for fen in starts], np.uint64)
        self._first_numbers = np.array([rows[fen][1] for fen in starts], np.int32)

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy needs: neither the lock, nor the views of arrays, which would be arrays of their own."""
        return {name: value for name, value in self.__dict__.items() if name not in (*Games.__annotations__, "_lock")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Show the arrays of a copy."""
        self.__dict__.update(state)
        self._lock = RLock()
        self._show()

    def copy(self) -> Self:
        """Return an independent copy that goes on with the same games and random numbers.

        ``copy.deepcopy`` and ``pickle`` make the same.
        """
        with self._lock:
            return deepcopy(self)

    __copy__ = copy

    def _show(self) -> None:
        """Make the views of the arrays, for reading: the attributes that the class declares."""
        numbers = self._numbers
        self.colors, self.phases, self.plies = (frozen(numbers[:, at]) for at in (COLOR, PHASE, PLY))
        self.episodes, self.lost = frozen(numbers[:, EPISODE]), frozen(numbers[:, LOST])
        self.reasons, self.winners = frozen(numbers[:, REASON]), frozen(numbers[:, WINNER])
        self.windows, self.results, self.legal = frozen(self._windows), frozen(self._results), frozen(self._planes)
        self.rewards, self.ended = frozen(self._rewards), frozen(self._ended)

    def reset(self, seed: int | None = None, games: Any = None) -> None:
        """Begin games anew, also those in progress; their count of episodes is 0 again. The others do not change.

        A game's random numbers depend on its seed, its place in the batch and how many it has drawn: whatever other
        games do, they are the same bits. ``reset(7, [3])`` gives game 3 those that it has in a new batch with seed 7.
        Without a seed the random numbers go on, as in Gymnasium.

        :param seed: 0 to 2**64 - 1.
        :param games: which ones: their numbers, or a mask, bool[n]; None for all.
        :raises TypeError: the seed is no integer, or the games are neither integers nor bool.
        :raises ValueError: the seed is out of its range, or the games have a wrong shape.
        :raises IndexError: there is no such game. After an error no game has changed.
        """
        chosen = places(games, self.n)
        if seed is not None:
            seed = whole("seed", seed)
            check(0 <= seed < 2**64, f"seed: {seed} is not from 0 to 2**64 - 1")
        with self._lock:
            draws, seeds = self._state[chosen, DRAWS], self._state[chosen, SEED]
            self._state[chosen], self._numbers[chosen] = self._first_state[chosen], self._first_numbers[chosen]
            self._state[chosen, DRAWS] = draws if seed is None else 0
            self._state[chosen, SEED] = seeds if seed is None else seed
            self._windows[chosen], self._results[chosen] = 15, (PASS, PASS, -1)
            self._rewards[chosen], self._ended[chosen] = 0, False
            stepping.list_all(self._state, self._numbers, self._planes)


def check(holds: bool, message: str) -> None:
    """Raise a ValueError with this message unless the condition holds."""
    if not holds:
        raise ValueError(message)


def _limit(name: str, value: int | None) -> int:
    if value is None:
        return _UNLIMITED
    value = whole(name, value)
    check(1 <= value < _UNLIMITED, f"{name}: {value} is not from 1 to {_UNLIMITED - 1}; None is no limit")
    return value
