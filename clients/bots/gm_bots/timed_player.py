"""Players whose turns are thought out within the clock."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import partial
from typing import Protocol

from chess import Board, Color, Move, Piece, Square

from gm_recon import Player

from .turn_time import TurnTime


class Thinker(Protocol):
    """What thinks for one game. All events are reported in the order in which they happen."""

    def opponent_moved(self, capture: Square | None) -> None:
        """Record the opponent's turn, with the square on which it captured."""

    def saw(self, cells: Sequence[tuple[Square, Piece | None]]) -> None:
        """Record the result of the sense."""

    def choose_move(self, actions: Sequence[Move], seconds: float | None) -> Move | None:
        """Return the move to request, within so many seconds."""

    def moved(self, requested: Move | None, taken: Move | None, capture: Square | None) -> None:
        """Record the result of the move, after which the game goes on."""


class TimedPlayer(Player):
    """A player for one game after the other. A subclass chooses the sense, within ``self._time.plan(seconds_left)``."""

    def __init__(self, seconds: float | None, without_clock: float | None = None) -> None:
        """:param seconds: the most seconds of a turn, if given.
        :param without_clock: the same where there is neither a clock nor ``seconds``; None for no limit.
        """
        self._seconds, self._without_clock = seconds, without_clock
        self._thinker: Thinker

    @abstractmethod
    def begin(self, color: Color, fen: str) -> Thinker:
        """Return what thinks for a game, as it begins."""

    def handle_game_start(self, color: Color, board: Board, opponent_name: str) -> None:
        """Begin a game."""
        self._thinker = self.begin(color, board.fen(en_passant="fen"))
        self._opponent_has_moved = board.turn != color
        self._unsettled: partial[None] | None = None
        self._time = TurnTime(self._seconds, self._without_clock)

    def handle_opponent_move_result(self, captured_my_piece: bool, capture_square: Square | None) -> None:
        """Begin a turn."""
        self._time.begin()
        self._settle()
        if self._opponent_has_moved:
            self._thinker.opponent_moved(capture_square)
        self._opponent_has_moved = True

    def handle_sense_result(self, sense_result: list[tuple[Square, Piece | None]]) -> None:
        """Record the result of the sense."""
        self._thinker.saw(sense_result)

    def choose_move(self, move_actions: list[Move], seconds_left: float) -> Move | None:
        """Return the move to request, within what is left of the turn's time."""
        move = self._thinker.choose_move(move_actions, self._time.remaining(seconds_left))
        self._time.end()
        return move

    def handle_move_result(
        self,
        requested_move: Move | None,
        taken_move: Move | None,
        captured_opponent_piece: bool,
        capture_square: Square | None,
    ) -> None:
        """Record the result of the move, in the opponent's time.

        A result by which the game may be over waits for the next turn, if there is one: a capture may have been the
        king's, and a refused move may have come too late.
        """
        self._unsettled = partial(self._thinker.moved, requested_move, taken_move, capture_square)
        if capture_square is None and (taken_move is not None or requested_move is None):
            self._settle()

    @property
    def is_settled(self) -> bool:
        """Whether the result of the last move is recorded."""
        return self._unsettled is None

    def _settle(self) -> None:
        unsettled, self._unsettled = self._unsettled, None
        if unsettled is not None:
            unsettled()
