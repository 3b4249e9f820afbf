"""A game of reconnaissance blind chess inside a process: its phases, its end, and a record of it."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Self

import chess
from chess import Color, Move, Square

from .board import ReconBoard
from .history import History, Turn, WinReason
from .tables import Cell

_SQUARES = list(chess.SQUARES)
_NAMES = ("Black", "White")


class WrongPhase(ValueError):
    """Raised for a move before the turn's sense, or a second sense in a turn."""


class GameOver(ValueError):
    """Raised for an action in a game that has ended."""


class ReconGame:
    """A game of reconnaissance blind chess for a caller that may see both sides: an arbiter, or a simulation.

    Each turn is :meth:`sense`, then :meth:`move`, which ends it; None passes in either. The rules are those of
    ``LocalGame`` of ``reconchess`` 1.6.9, except that LocalGame leaves the phases to its caller and has a clock. Here a
    caller that keeps time reports a loss on time (:meth:`lose_on_time`). Nothing is random and no clock is read: the
    same actions make the same game. ::

        game = ReconGame()
        while not game.is_over():
            game.sense(rng.choice(game.sense_actions()))
            game.move(rng.choice(game.move_actions()))
        print(game.winner, game.win_reason)

    Moves, pieces and squares are python-chess's. The moves and pieces returned are shared between games: do not change
    them. Lists belong to the caller. Two games are equal if they have had the same actions, from the same start and
    under the same limits.
    """

    __slots__ = ("_history", "_max_turns", "_reversible_moves", "_sense", "_sensed", "board")

    def __init__(
        self,
        fen: str = chess.STARTING_FEN,
        *,
        reversible_moves: int | None = 100,
        max_turns: int | None = None,
    ) -> None:
        """Begin a game. It is over at once if the FEN's counters have reached a limit.

        :param fen: one king per side, no pawn on a last rank; check does not matter. Its counters continue.
        :param reversible_moves: a draw after this many half-moves without capture or pawn move; None for no limit.
        :param max_turns: a draw after this many full turns, by the full-move number; None for no limit.
        :raises ValueError: the FEN cannot be read, or is not a possible start position.
        """
        #: The true position, for reading: only this game makes its moves. The players know no more of it than
        #: ``board.own_board(color)`` and what the game returns to them.
        self.board = ReconBoard(fen)
        self._reversible_moves = inf if reversible_moves is None else reversible_moves
        self._max_turns = inf if max_turns is None else max_turns
        #: Whether the side to move has sensed, and where.
        self._sensed = False
        self._sense: Square | None = None
        self._history = History(self.board.fen())
        self._end_at_limits()

    def copy(self) -> Self:
        """Return an independent copy of the game."""
        other = object.__new__(type(self))
        other.board = self.board.copy()
        other._reversible_moves, other._max_turns = self._reversible_moves, self._max_turns
        other._sensed, other._sense = self._sensed, self._sense
        other._history = self._history.copy()
        return other

    __copy__ = copy

    def __eq__(self, other: object) -> bool:
        return self._account() == other._account() if isinstance(other, ReconGame) else NotImplemented

    def _account(self) -> tuple[object, ...]:
        """Return everything that distinguishes this game; the position follows from it."""
        return self._history, self._sensed, self._sense, self._reversible_moves, self._max_turns

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.board.fen()!r}, ply {self.ply}: {self._status()}>"

    def _status(self) -> str:
        if self.win_reason is not None:
            winner = "drawn" if self.winner is None else f"{_NAMES[self.winner]} won"
            return f"{winner}, {self.win_reason.name}"
        if not self._sensed:
            return f"{_NAMES[self.turn]} to sense"
        sensed = "nothing" if self._sense is None else chess.SQUARE_NAMES[self._sense]
        return f"{_NAMES[self.turn]} to move, having sensed {sensed}"

    # --- State --------------------------------------------------------------------------------------------------

    @property
    def turn(self) -> Color:
        """The side to move."""
        return self.board.turn

    @property
    def sensed(self) -> bool:
        """Whether that side has sensed and is to move now."""
        return self._sensed

    @property
    def opponent_capture(self) -> Square | None:
        """The square of the opponent's capture in its latest turn; None if it captured nothing."""
        return self._history.turns[-1].capture_square if self._history.turns else None

    def is_over(self) -> bool:
        """Return whether the game has ended."""
        return self._history.win_reason is not None

    @property
    def winner(self) -> Color | None:
        """The winner; None while the game goes on, and for a draw."""
        return self._history.winner

    @property
    def win_reason(self) -> WinReason | None:
        """Why the game ended, also for a draw; None while it goes on."""
        return self._history.win_reason

    @property
    def ply(self) -> int:
        """The number of completed turns."""
        return len(self._history.turns)

    @property
    def turns(self) -> Sequence[Turn]:
        """The completed turns; the sequence grows with the game."""
        return self._history.turns

    def history(self) -> History:
        """Return a record of the game so far."""
        history = self._history.copy()
        if self._sensed:
            history.unfinished.append(self._sense)
        return history

    # --- Actions ------------------------------------------------------------------------------------------------

    def sense_actions(self) -> list[Square]:
        """Return the squares that may be sensed: all of them."""
        return _SQUARES.copy()

    def move_actions(self) -> list[Move]:
        """Return the moves that may be requested, from the player's own pieces: see :meth:`ReconBoard.move_actions`."""
        return self.board.move_actions()

    def sense(self, square: Square | None) -> list[Cell]:
        """Sense the window of three by three squares around a square; None to sense nothing.

        :returns: its squares and the pieces there, from the top left: rank + 1 first, file - 1 first.
        :raises ValueError: it is not a square.
        :raises WrongPhase: this turn's sense has been made.
        :raises GameOver: the game has ended.
        """
        if self._history.win_reason is not None:
            raise GameOver(f"the game is over: {self._history.win_reason.name}")
        if self._sensed:
            raise WrongPhase("this turn's sense has been made; move next (move(None) passes)")
        seen = [] if square is None else self.board.window(square)
        self._sensed, self._sense = True, square
        return seen

    def move(self, requested: Move | None) -> tuple[Move | None, Move | None, Square | None]:
        """Request a move, which ends the turn; None to pass.

        :returns: the move as requested; the move made, None if the true board refused it; the square it captured on.
        :raises ValueError: the move may not be requested.
        :raises WrongPhase: this turn's sense has not been made.
        :raises GameOver: the game has ended.
        """
        history, board = self._history, self.board
        if history.win_reason is not None:
            raise GameOver(f"the game is over: {history.win_reason.name}")
        if not self._sensed:
            raise WrongPhase("sense before you move; sense(None) passes")
        taken, capture = (None, None) if requested is None else board.revise(requested)
        if capture is not None and board.has_king(capture):
            history.winner, history.win_reason = board.turn, WinReason.KING_CAPTURE
        board.push(taken, capture)
        # Equivalent to Turn(...), in half the time.
        history.turns.append(tuple.__new__(Turn, (self._sense, requested, taken, capture)))
        self._sensed = False
        if board.halfmoves >= self._reversible_moves or board.fullmoves > self._max_turns:
            self._end_at_limits()
        return requested, taken, capture

    def resign(self, color: Color | None = None) -> None:
        """Resign for a side; by default the side to move.

        :raises GameOver: the game has ended.
        """
        self.end(not (self.turn if color is None else color), WinReason.RESIGN)

    def lose_on_time(self, color: Color | None = None) -> None:
        """End the game because a side's time has run out; by default the side to move's.

        :raises GameOver: the game has ended.
        """
        self.end(not (self.turn if color is None else color), WinReason.TIMEOUT)

    def end(self, winner: Color | None, reason: WinReason) -> None:
        """End the game for a reason that only the caller knows; without a winner it is a draw.

        :raises GameOver: the game has ended.
        """
        if self._history.win_reason is not None:
            raise GameOver(f"the game is over: {self._history.win_reason.name}")
        self._history.winner, self._history.win_reason = winner, reason

    def _end_at_limits(self) -> None:
        """Draw the game if it has reached a limit, unless a king was captured."""
        if self._history.win_reason is not None:
            return
        if self.board.fullmoves > self._max_turns:
            self._history.win_reason = WinReason.TURN_LIMIT
        elif self.board.halfmoves >= self._reversible_moves:
            self._history.win_reason = WinReason.MOVE_LIMIT
