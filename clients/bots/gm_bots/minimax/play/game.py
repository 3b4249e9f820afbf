"""A game against the engine, without a terminal: its moves, its other actions, and its result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import chess

from ..engine import Limit, Options, Result, search
from .levels import Level

#: The engine agrees to a draw where it does not see itself ahead, but not before so many moves of each side.
DRAW_MOVES = 10

#: The depth of a hint's search: quick, and better than most players.
HINT_DEPTH = 4

#: The words for an outcome.
_REASONS = {
    chess.Termination.CHECKMATE: "checkmate",
    chess.Termination.STALEMATE: "stalemate",
    chess.Termination.INSUFFICIENT_MATERIAL: "too little material to mate",
    chess.Termination.FIVEFOLD_REPETITION: "the position was there five times",
    chess.Termination.SEVENTYFIVE_MOVES: "75 moves without a capture or a pawn's move",
    chess.Termination.THREEFOLD_REPETITION: "the position was there three times",
    chess.Termination.FIFTY_MOVES: "50 moves without a capture or a pawn's move",
}

_COLORS = {chess.WHITE: "White", chess.BLACK: "Black"}


@dataclass
class Game:
    """One game.

    :ivar color: the player's colour.
    :ivar result: ``1-0``, ``0-1`` or ``1/2-1/2``, and why; None while the game is in progress.
    :ivar last: the engine's report on its last move.
    """

    color: chess.Color
    level: Level
    board: chess.Board = field(default_factory=chess.Board)
    seed: int | None = None
    result: tuple[str, str] | None = None
    last: Result | None = None

    def __post_init__(self) -> None:
        self._judge()

    @property
    def players_turn(self) -> bool:
        return self.board.turn == self.color

    def move(self, move: chess.Move) -> None:
        """Make a legal move for the side to move."""
        self.board.push(move)
        self._judge()

    def engine_moves(self, stopped: Callable[[], bool] = lambda: False) -> chess.Move:
        """Let the engine make its move."""
        self.last = search(self.board, self.level.limit, self._options(), stopped=stopped)
        assert self.last.move is not None
        self.move(self.last.move)
        return self.last.move

    def _options(self) -> Options:
        return Options(seed=self.seed, margin=self.level.margin)

    def hint(self) -> chess.Move:
        """Return the engine's move in the player's place."""
        move = search(self.board, Limit(depth=HINT_DEPTH)).move
        assert move is not None
        return move

    def undo(self) -> bool:
        """Take back the player's last move, with the answer if there is one; return whether there was a move."""
        moves = 2 if self.players_turn else 1
        if len(self.board.move_stack) < moves:
            return False
        for _ in range(moves):
            self.board.pop()
        self.result = None
        return True

    def resign(self) -> None:
        self.result = ("0-1" if self.color else "1-0", f"{_COLORS[self.color]} resigned")

    def offer_draw(self) -> bool:
        """Offer a draw; return whether the engine agrees."""
        if self.board.fullmove_number <= DRAW_MOVES:
            return False
        score = search(self.board, self.level.limit).score
        if (score if self.players_turn else -score) < 0:
            return False
        self.result = ("1/2-1/2", "agreed")
        return True

    def _judge(self) -> None:
        """Set the result if the game is over; a draw that can be claimed is claimed."""
        outcome = self.board.outcome(claim_draw=True)
        if outcome is not None:
            self.result = (outcome.result(), _REASONS[outcome.termination])

    def sans(self) -> list[str]:
        """Return the moves so far, in SAN."""
        board, sans = self.board.root(), list[str]()
        for move in self.board.move_stack:
            sans.append(board.san_and_push(move))
        return sans

    def taken(self, color: chess.Color) -> list[chess.Piece]:
        """Return the pieces that a colour has lost, the most valuable first; promoted pawns by their promotion."""
        board, lost = self.board.root(), Counter[chess.PieceType]()
        for move in self.board.move_stack:
            if board.turn != color and board.is_capture(move):
                lost[board.piece_type_at(move.to_square) or chess.PAWN] += 1
            board.push(move)
        return [
            chess.Piece(piece_type, color)
            for piece_type in reversed(chess.PIECE_TYPES)
            for _ in range(lost[piece_type])
        ]
