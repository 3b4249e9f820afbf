"""The record of a game: its actions. FENs and sense results are computed from them by replaying the game."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple

from chess import BLACK, WHITE, Color, Move, Piece, Square

from .board import ReconBoard
from .tables import Cell

#: Turns replayed between two yields: some hundred microseconds.
TURNS_A_STEP = 8


class WinReason(Enum):
    """Why a game ended, with the names of ``reconchess.WinReason``."""

    KING_CAPTURE = 1
    TIMEOUT = 2
    RESIGN = 3
    #: A draw: the last full turn allowed was played.
    TURN_LIMIT = 4
    #: A draw: too many half-moves without capture or pawn move.
    MOVE_LIMIT = 5


class Turn(NamedTuple):
    """A completed turn."""

    #: The square sensed; None where the player passed.
    sense: Square | None
    #: The move as requested, the move made, and the square it captured on.
    requested: Move | None
    taken: Move | None
    capture_square: Square | None


class Replayed(NamedTuple):
    """A turn as replayed."""

    color: Color
    turn: Turn
    sense_result: list[Cell]
    fen_before: str
    fen_after: str


@dataclass(slots=True)
class History:
    """A game so far. FENs and sense results are computed on request, by replaying the game."""

    start_fen: str
    turns: list[Turn] = field(default_factory=list)
    #: The sense of a turn without a move yet; empty if there is none.
    unfinished: list[Square | None] = field(default_factory=list)
    winner: Color | None = None
    win_reason: WinReason | None = None

    @property
    def result(self) -> str:
        """``1-0``, ``0-1``, ``1/2-1/2``, or ``*`` for a game that was not played to its end."""
        if self.win_reason is None:
            return "*"
        return "1/2-1/2" if self.winner is None else "1-0" if self.winner else "0-1"

    def copy(self) -> History:
        """Return a copy that does not grow with the game."""
        return History(self.start_fen, self.turns.copy(), self.unfinished.copy(), self.winner, self.win_reason)

    def replay(self) -> Iterator[Replayed]:
        """Yield the completed turns in order, with their sense results and FENs."""
        board = ReconBoard(self.start_fen)
        after = board.fen()
        for turn in self.turns:
            square, _, taken, capture_square = turn
            color, before = board.turn, after
            seen = [] if square is None else board.window(square)
            board.push(taken, capture_square)
            after = board.fen()
            yield tuple.__new__(Replayed, (color, turn, seen, before, after))  # Replayed(...), in half the time

    def board(self) -> ReconBoard:
        """Return the position at the end of the record."""
        board = ReconBoard(self.start_fen)
        for turn in self.turns:
            board.push(turn.taken, turn.capture_square)
        return board

    def fens(self) -> list[str]:
        """Return the FENs of the start position and after every turn, always with the en passant square."""
        return [ReconBoard(self.start_fen).fen(), *(turn.fen_after for turn in self.replay())]

    def to_json(self, white_name: str | None = None, black_name: str | None = None) -> str:
        """Return the game as ``reconchess.GameHistory`` saves it: ``from_file`` loads it, ``rc-replay`` shows it.

        reconchess assumes that White's turn is the first of every pair. For a game that Black began, its ``turns()``
        puts each of White's turns before the turn of Black's that it followed, and ``rc-replay`` cannot show the game
        if Black's turn was the last. The same is true of LocalGame's own histories.
        """
        return json.dumps(self._as_reconchess(white_name, black_name))

    def end(self) -> dict[str, Any]:
        """Return how the game ended, in reconchess's form."""
        reason = self.win_reason and {"type": "WinReason", "value": self.win_reason.name}
        return {"winner_color": self.winner, "win_reason": reason}

    def _as_reconchess(self, white_name: str | None, black_name: str | None) -> dict[str, Any]:
        kept: dict[str, dict[bool, list[Any]]] = {name: {WHITE: [], BLACK: []} for name in COLUMNS}
        for color, turn, seen, before, after in self.replay():
            for name, value in zip(COLUMNS, row(turn, seen, before, after), strict=True):
                kept[name][color].append(value)
        for square in self.unfinished:
            board = self.board()
            kept["senses"][board.turn].append(square)
            kept["sense_results"][board.turn].append(shown(window_of(board, square)))
        return {
            "type": "GameHistory",
            "white_name": white_name,
            "black_name": black_name,
            **{name: {"true": column[WHITE], "false": column[BLACK]} for name, column in kept.items()},
            **self.end(),
        }


#: What ``reconchess.GameHistory`` stores of each side's turns.
COLUMNS = (
    "senses",
    "sense_results",
    "requested_moves",
    "taken_moves",
    "capture_squares",
    "fens_before_move",
    "fens_after_move",
)


def row(turn: Turn, seen: list[Cell], before: str, after: str) -> tuple[Any, ...]:
    """Return a turn's values in reconchess's form, in the order of :data:`COLUMNS`."""
    capture = turn.capture_square
    return turn.sense, shown(seen), _move(turn.requested), _move(turn.taken), capture, before, after


def window_of(board: ReconBoard, square: Square | None) -> list[Cell]:
    """Return what a sense shows; nothing if the player passed."""
    return [] if square is None else board.window(square)


def shown(cells: list[Cell]) -> list[tuple[Square, dict[str, str] | None]]:
    """Return a sense result in reconchess's form."""
    return [(square, _piece(piece)) for square, piece in cells]


def _piece(piece: Piece | None) -> dict[str, str] | None:
    return None if piece is None else {"type": "Piece", "value": piece.symbol()}


def _move(move: Move | None) -> dict[str, str] | None:
    return None if move is None else {"type": "Move", "value": move.uci()}
