"""A game of reconnaissance blind chess in a process: phases, the end, and a record of it all."""

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
    """A move while a sense is due, or a sense while a move is."""


class GameOver(ValueError):
    """Something done in a game that has ended."""


class ReconGame:
    """A game of reconnaissance blind chess, for whoever may see both sides of it: an arbiter, a simulation.

    Each turn is :meth:`sense`, then :meth:`move`, which ends it; None passes in either. The rules are those of
    ``reconchess`` 1.6.9's ``LocalGame``, except that it leaves the phases to its caller, and that it has a clock: here
    a caller who keeps time says when a side has lost by it (:meth:`lose_on_time`). Nothing is random and nothing looks
    at a clock: the same actions make the same game. ::

        game = ReconGame()
        while not game.is_over():
            game.sense(rng.choice(game.sense_actions()))
            game.move(rng.choice(game.move_actions()))
        print(game.winner, game.win_reason)

    Moves, pieces and squares are python-chess's. The moves and pieces handed out are shared with everybody: do not
    change them. Lists are the caller's own. Two games are equal if the same has been done in them, from the same start
    and under the same limits.
    """

    __slots__ = ("_history", "_max_turns", "_reversible_moves", "_sense", "_sensed", "board")

    def __init__(
        self,
        fen: str = chess.STARTING_FEN,
        *,
        reversible_moves: int | None = 100,
        max_turns: int | None = None,
    ) -> None:
        """A game at its start; which may be its end, where the FEN's counters have reached a limit.

        :param fen: one king a side, no pawn on a last rank; check does not matter. Its counters count on.
        :param reversible_moves: half-moves without capture or pawn move that draw it; None for no limit.
        :param max_turns: full turns that draw it, by the full-move number; None for no limit.
        :raises ValueError: the FEN cannot be read, or is no position to start from.
        """
        #: The true position, to look at: its moves are made by this game alone. Its players know no more of it than
        #: ``board.own_board(color)``, and what the game tells them.
        self.board = ReconBoard(fen)
        self._reversible_moves = inf if reversible_moves is None else reversible_moves
        self._max_turns = inf if max_turns is None else max_turns
        #: Whether the side to move has sensed, and where.
        self._sensed = False
        self._sense: Square | None = None
        self._history = History(self.board.fen())
        self._end_at_limits()

    def copy(self) -> Self:
        """A copy to play on apart from this game."""
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
        """All that makes it this game; the position follows."""
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

    # --- What there is to know ----------------------------------------------------------------------------------

    @property
    def turn(self) -> Color:
        """The side to act."""
        return self.board.turn

    @property
    def sensed(self) -> bool:
        """Whether that side has sensed: its move is due."""
        return self._sensed

    @property
    def opponent_capture(self) -> Square | None:
        """Where the side to act lost a piece in its opponent's latest turn; None if it did not."""
        return self._history.turns[-1].capture_square if self._history.turns else None

    def is_over(self) -> bool:
        """Whether the game has ended."""
        return self._history.win_reason is not None

    @property
    def winner(self) -> Color | None:
        """The side that has won: None while the game is on, and when it is drawn."""
        return self._history.winner

    @property
    def win_reason(self) -> WinReason | None:
        """Why the game has ended, drawn or won; None while it is on."""
        return self._history.win_reason

    @property
    def ply(self) -> int:
        """How many turns have been completed."""
        return len(self._history.turns)

    @property
    def turns(self) -> Sequence[Turn]:
        """The completed turns; they grow with the game."""
        return self._history.turns

    def history(self) -> History:
        """All that has happened so far."""
        history = self._history.copy()
        if self._sensed:
            history.unfinished.append(self._sense)
        return history

    # --- What may be done, and doing it -------------------------------------------------------------------------

    def sense_actions(self) -> list[Square]:
        """The squares that may be sensed: all of them."""
        return _SQUARES.copy()

    def move_actions(self) -> list[Move]:
        """The moves that may be asked for, knowing the own pieces only: see :meth:`ReconBoard.move_actions`."""
        return self.board.move_actions()

    def sense(self, square: Square | None) -> list[Cell]:
        """Sense the window of three by three squares around a square; None to sense nothing.

        :returns: its squares and what stands there, from the top left: rank + 1 first, file - 1 first.
        :raises ValueError: it is no square.
        :raises WrongPhase: a move is due.
        :raises GameOver: the game has ended.
        """
        if self._history.win_reason is not None:
            raise GameOver(f"the game is over: {self._history.win_reason.name}")
        if self._sensed:
            raise WrongPhase("a move is due: this turn's sense has been made")
        if square is None:
            seen = []
        elif 0 <= square < 64:
            seen = self.board.window(square)
        else:
            raise ValueError(f"{square!r} is no square: they are 0 (a1) to 63 (h8)")
        self._sensed, self._sense = True, square
        return seen

    def move(self, requested: Move | None) -> tuple[Move | None, Move | None, Square | None]:
        """Ask for a move, which ends the turn; None to pass.

        :returns: the move as asked for; the move made, None where the true board refused it; where it captured.
        :raises ValueError: the move may not be asked for.
        :raises WrongPhase: a sense is due.
        :raises GameOver: the game has ended.
        """
        history, board = self._history, self.board
        if history.win_reason is not None:
            raise GameOver(f"the game is over: {history.win_reason.name}")
        if not self._sensed:
            raise WrongPhase("a sense is due before the move; sense(None) passes")
        taken, capture = (None, None) if requested is None else board.revise(requested)
        if capture is not None and board.has_king(capture):
            history.winner, history.win_reason = board.turn, WinReason.KING_CAPTURE
        board.push(taken, capture)
        # What Turn(...) does, at half the price.
        history.turns.append(tuple.__new__(Turn, (self._sense, requested, taken, capture)))
        self._sensed = False
        if board.halfmoves >= self._reversible_moves or board.fullmoves > self._max_turns:
            self._end_at_limits()
        return requested, taken, capture

    def resign(self, color: Color | None = None) -> None:
        """A side gives up; the side to act, if none is named.

        :raises GameOver: the game has ended.
        """
        self.end(not (self.turn if color is None else color), WinReason.RESIGN)

    def lose_on_time(self, color: Color | None = None) -> None:
        """A side's time has run out; the side to act's, if none is named.

        :raises GameOver: the game has ended.
        """
        self.end(not (self.turn if color is None else color), WinReason.TIMEOUT)

    def end(self, winner: Color | None, reason: WinReason) -> None:
        """End the game for a reason that only the caller knows of; without a winner it is drawn.

        :raises GameOver: the game has ended.
        """
        if self._history.win_reason is not None:
            raise GameOver(f"the game is over: {self._history.win_reason.name}")
        self._history.winner, self._history.win_reason = winner, reason

    def _end_at_limits(self) -> None:
        """Draw a game that has reached a limit, if no king was captured in reaching it."""
        if self._history.win_reason is not None:
            return
        if self.board.fullmoves > self._max_turns:
            self._history.win_reason = WinReason.TURN_LIMIT
        elif self.board.halfmoves >= self._reversible_moves:
            self._history.win_reason = WinReason.MOVE_LIMIT
