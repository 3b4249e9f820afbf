"""A player (:class:`gm_recon.Player`) in one game of a batch."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import chess
from chess import Board, Color, Move, Square

from gm_recon import History, Player, ReconBoard
from gm_recon.player import checked_move, checked_sense, name_of, tell_end

from .actions import action_of, sense_of
from .kernels.layout import PASS
from .observed_turn import ObservedTurn


class OutOfTime(Exception):
    """Raised where a player has used its time up."""


@dataclass(frozen=True)
class Clock:
    """The time of a player: seconds at first, and more for each turn.

    :ivar now: returns the time in seconds.
    """

    seconds: float
    increment: float
    now: Callable[[], float]

    @classmethod
    def of(cls, seconds: float | None, increment: float, now: Callable[[], float]) -> Self:
        """Return a clock; None is no limit."""
        return cls(math.inf if seconds is None else seconds, increment, now)


class PlayerSeat:
    """A player in one game. A clock runs while it chooses."""

    def __init__(self, player: Player, color: Color, fen: str, opponent_name: str, clock: Clock) -> None:
        self.player, self.color = player, color
        self._fen, self._opponent_name, self._clock = fen, opponent_name, clock
        self._left = clock.seconds
        self._is_settled = True
        self._requested: Move | None = None
        self._meant: Move | None = None
        self._actions: tuple[list[Square], list[Move]] = [], []

    def begin(self) -> None:
        """Begin the game."""
        self.player.handle_game_start(self.color, Board(self._fen), self._opponent_name)

    def sense(self, observed: ObservedTurn) -> int:
        """Begin a turn; return the number of the player's sense.

        :raises OutOfTime: the player has no time left.
        :raises ValueError: it senses where there is no square.
        """
        self._since, player = self._clock.now(), self.player
        lost = observed.lost()
        player.handle_opponent_move_result(lost is not None, lost)
        self._board = ReconBoard.of(observed.own_board())
        self._actions = list(chess.SQUARES), self._board.move_actions().copy()
        square = checked_sense(player.choose_sense(*self._actions, self._seconds_left()))
        self._charge()
        return sense_of(square, self.color)

    def move(self, observed: ObservedTurn) -> int:
        """Return the number of the player's move; errors as for :meth:`sense`."""
        self._since, player = self._clock.now(), self.player
        player.handle_sense_result(observed.cells())
        requested = checked_move(player.choose_move(self._actions[1], self._seconds_left()), self._board.move_actions())
        meant = None if requested is None else self._board.promoting(requested)
        self._charge()
        self._left += self._clock.increment
        self._is_settled, self._requested, self._meant = False, requested, meant
        return PASS if meant is None else action_of(meant, self.color)

    def settle(self, source: Square | None, target: Square | None, capture: Square | None) -> None:
        """Tell the player what its last move came to: the squares of the move made, and that of the capture."""
        self._is_settled = True
        made = None
        if source is not None and target is not None and self._meant is not None:
            made = Move(source, target, self._meant.promotion)
        self.player.handle_move_result(self._requested, made, capture is not None, capture)

    def settle_by(self, observed: ObservedTurn) -> None:
        """Do the same by what the player observes in its next turn, unless it was told."""
        if not self._is_settled:
            made = observed.made(self._meant)
            source, target = (None, None) if made is None else (made.from_square, made.to_square)
            self.settle(source, target, observed.captured())

    def end(self, history: History, observed: ObservedTurn | None = None) -> None:
        """Tell the player how the game ended.

        :param observed: what the player observed last, if its last move is not settled.
        """
        if observed is not None:
            self.settle_by(observed)
        names = (name_of(self.player), self._opponent_name)
        tell_end(self.player, history, *(names if self.color else names[::-1]))

    def give_up(self) -> None:
        """Tell the player that the game is not played to its end."""
        tell_end(self.player, History(self._fen))

    def _seconds_left(self) -> float:
        return self._left - (self._clock.now() - self._since)

    def _charge(self) -> None:
        self._left = self._seconds_left()
        if self._left <= 0:
            raise OutOfTime
