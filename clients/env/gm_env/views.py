"""What a batch shows of its games on request."""

from __future__ import annotations

from typing import Any

import chess
import numpy as np
from chess import Color
from numpy.typing import NDArray

from .arguments import array, whole
from .buffers import frozen
from .games import Games, check
from .information import information_string
from .kernels import observing, recalling
from .kernels.layout import PLY
from .positions import read

#: For whom something is shown: one colour, one for each game (bool or integer, (n,)), or None for the side to move.
Viewers = Color | NDArray[Any] | None


class Views(Games):
    """The methods that show games: see :class:`gm_env.BatchedRbc`."""

    def masks(self, *, copy: bool = True) -> NDArray[np.uint8]:
        """Return :attr:`legal` as bytes: uint8[n, 4673] of 0 and 1, the pass last; zeros for a finished game.

        :param copy: False for an array that is read-only, and overwritten by the next call.
        """
        with self._lock:
            masks = self._masks.writable(copy)
            observing.draw_masks(self._numbers, self._planes, masks)
            return self._masks.shown(masks)

    def observations(self, viewers: Viewers = None, *, copy: bool = True) -> NDArray[np.uint8]:
        """Return what a player of each game observed this turn, and its own pieces: uint8[n, 24, 8, 8].

        ``gm_env.OBSERVATION`` names the planes; ``[game, plane, rank, file]`` is as the player sees the board. For the
        side to move it is this turn; for the other side it is its last turn.

        :param viewers: the players that it is shown to; see :data:`Viewers`.
        :param copy: as for :meth:`masks`.
        :raises ValueError: the viewers have a wrong shape.
        """
        with self._lock:
            self._view_by(viewers)
            words = self._observations.writable(copy)
            observing.observe(self._state, self._numbers, self._records, self._viewers, self._drawn, words)
            return self._observations.shown(words)

    def information_states(self, viewers: Viewers = None, *, copy: bool = True) -> NDArray[np.int16]:
        """Return all that a player of each game has observed in it: int16[n, 8 + recall, 14].

        The first 8 rows (``gm_env.HEADER_ROWS``) are the header: in columns 0 to 7 the start position, rank by rank,
        with the codes of :attr:`windows`; in columns 8 to 13 the numbers of ``gm_env.INFORMATION_HEADER``, six a row.
        Below it, each of the player's turns has a row, whose columns ``gm_env.INFORMATION`` names. Rows of turns to
        come are -1. Of a game of more turns than ``recall`` only the latest are there. A player forgets nothing if
        ``recall`` is more than ``max_turns``: after Black's last turn White has a row more than turns. Numbers above
        32767 are 32767.

        Two arrays are equal exactly where :meth:`information_string` is, as long as all turns are there and no number
        of the header has reached 32767.

        :param viewers: as for :meth:`observations`.
        :param copy: as for :meth:`masks`.
        :raises ValueError: as for :meth:`observations`.
        """
        with self._lock:
            self._view_by(viewers)
            states = self._recalled.writable(copy)
            recalling.write_headers(
                self._first_state, self._first_numbers, self._numbers, self._viewers, *self._limits, states
            )
            recalling.recall(self._numbers, self._records, self._viewers, recalling.HEADER_ROWS, states)
            return self._recalled.shown(states)

    def privileged_state(self, viewers: Viewers = None, *, copy: bool = True) -> NDArray[np.uint8]:
        """Return the true state, which no player knows, for training critics: uint8[n, 19, 8, 8].

        ``gm_env.PRIVILEGED`` names the planes. A policy that reads it cheats.

        :param viewers: whose view of the board it is; as for :meth:`observations`.
        :param copy: as for :meth:`masks`.
        :raises ValueError: as for :meth:`observations`.
        """
        with self._lock:
            self._view_by(viewers)
            words = self._truths.writable(copy)
            observing.show_truth(self._state, self._numbers, self._viewers, self._drawn, words)
            return self._truths.shown(words)

    @property
    def privileged_rows(self) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
        """The true positions as the kernels store them, uint64[n, 14] and int32[n, 11]: see ``gm_env.kernels.layout``.

        They are read-only and change with the batch. A policy that reads the opponent's columns cheats.
        """
        return frozen(self._state), frozen(self._numbers)

    def information_string(self, game: int, viewer: Color) -> str:
        """Return all that a player has observed as text: equal exactly where the player cannot tell two games apart.

        It has all turns, whatever ``recall`` is.

        :param game: the game's place in the batch.
        :raises IndexError: there is no such game.
        """
        game, limits = self._find(game), (self.reversible_moves, self.max_turns)
        check(viewer in chess.COLORS, f"viewer: {viewer!r} is no colour; use chess.WHITE or chess.BLACK")
        with self._lock:
            rows = np.empty((1, int(self._numbers[game, PLY]) // 2 + 1, len(recalling.INFORMATION)), np.int16)
            numbers = self._numbers[game : game + 1].copy()
            recalling.recall(numbers, self._records[game : game + 1], np.array([viewer], np.int64), 0, rows)
        return information_string(self._start_fen(game), limits, viewer, numbers[0], rows[0])

    def board(self, game: int) -> chess.Board:
        """Return the true position of a game, which no player knows.

        :raises IndexError: there is no such game.
        """
        game = self._find(game)
        with self._lock:
            return read(self._state[game], self._numbers[game])

    def _start_fen(self, game: int) -> str:
        return read(self._first_state[game], self._first_numbers[game]).fen(en_passant="fen")

    def _find(self, game: int) -> int:
        game = whole("game", game)
        if not 0 <= game < self.n:
            raise IndexError(f"game: there is no game {game}; they are 0 to {self.n - 1}")
        return game

    def _view_by(self, viewers: Viewers) -> None:
        if viewers is None or isinstance(viewers, bool):
            self._viewers.fill(-1 if viewers is None else viewers)
            return
        colors = array("viewers", viewers)
        if colors.dtype == np.bool_ and colors.shape == self._viewers.shape:
            self._viewers[:] = colors
            return
        if colors.dtype.kind not in "biu":
            raise TypeError(f"viewers: their type is {colors.dtype}; use bool, chess.WHITE is True")
        check(colors.shape in ((), (self.n,)), f"viewers: their shape is {colors.shape}; it must be ({self.n},)")
        check(((colors == 0) | (colors == 1)).all(), "viewers: a colour is 1 (chess.WHITE) or 0 (chess.BLACK)")
        self._viewers[:] = colors
