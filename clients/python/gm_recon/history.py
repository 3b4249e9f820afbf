"""What happened in a game, kept as what was done; what was there to see is found by doing it again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple

from chess import BLACK, WHITE, Color, Move, Piece, Square

from .board import ReconBoard
from .tables import Cell

#: Turns done again between two yields: some hundred microseconds.
TURNS_A_STEP = 8


class WinReason(Enum):
    """Why a game ended, in ``reconchess.WinReason``'s words."""

    KING_CAPTURE = 1
    TIMEOUT = 2
    RESIGN = 3
    #: Drawn: the last full turn allowed was played.
    TURN_LIMIT = 4
    #: Drawn: too many half-moves went by without capture or pawn move.
    MOVE_LIMIT = 5


class Turn(NamedTuple):
    """A turn that was completed."""

    #: The square sensed; None where the player passed.
    sense: Square | None
    #: The move as asked for, the move made, and the square it captured on.
    requested: Move | None
    taken: Move | None
    capture_square: Square | None


class Replayed(NamedTuple):
    """A turn done again."""

    color: Color
    turn: Turn
    sense_result: list[Cell]
    fen_before: str
    fen_after: str


@dataclass(slots=True)
class History:
    """A game so far. FENs and sense results are made when asked for, by playing the game again."""

    start_fen: str
    turns: list[Turn] = field(default_factory=list)
    #: The sense of a turn whose move has not been made; empty where there is none.
    unfinished: list[Square | None] = field(default_factory=list)
    winner: Color | None = None
    win_reason: WinReason | None = None

    def copy(self) -> History:
        """A copy that does not grow with the game."""
        return History(self.start_fen, self.turns.copy(), self.unfinished.copy(), self.winner, self.win_reason)

    def replay(self) -> Iterator[Replayed]:
        """The completed turns in order, with what was there to see."""
        board = ReconBoard(self.start_fen)
        after = board.fen()
        for turn in self.turns:
            square, _, taken, capture_square = turn
            color, before = board.turn, after
            seen = [] if square is None else board.window(square)
            board.push(taken, capture_square)
            after = board.fen()
            yield tuple.__new__(Replayed, (color, turn, seen, before, after))  # Replayed(...), at half the price

    def board(self) -> ReconBoard:
        """The position the game has come to."""
        board = ReconBoard(self.start_fen)
        for turn in self.turns:
            board.push(turn.taken, turn.capture_square)
        return board

    def fens(self) -> list[str]:
        """The start position and the position behind every turn, the en passant square always told."""
        return [ReconBoard(self.start_fen).fen(), *(turn.fen_after for turn in self.replay())]

    def to_json(self, white_name: str | None = None, black_name: str | None = None) -> str:
        """The game as ``reconchess.GameHistory`` saves it; its ``from_file`` loads it, its ``rc-replay`` shows it.

        reconchess takes White's turn for the first of every pair. In a game that Black began its ``turns()`` puts each
        of White's turns before the turn of Black's that it followed, and ``rc-replay`` cannot show one in which Black's
        turn was the last: so it is with LocalGame's own histories.
        """
        return json.dumps(self._as_reconchess(white_name, black_name))

    def end(self) -> dict[str, Any]:
        """How it ended, as reconchess has it."""
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


#: What ``reconchess.GameHistory`` keeps of each side's turns.
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
    """A turn's values, as reconchess saves them, in the order of :data:`COLUMNS`."""
    capture = turn.capture_square
    return turn.sense, shown(seen), _move(turn.requested), _move(turn.taken), capture, before, after


def window_of(board: ReconBoard, square: Square | None) -> list[Cell]:
    """What a sense shows; nothing where nothing is sensed."""
    return [] if square is None else board.window(square)


def shown(cells: list[Cell]) -> list[tuple[Square, dict[str, str] | None]]:
    """What a sense showed, as reconchess saves it."""
    return [(square, _piece(piece)) for square, piece in cells]


def _piece(piece: Piece | None) -> dict[str, str] | None:
    return None if piece is None else {"type": "Piece", "value": piece.symbol()}


def _move(move: Move | None) -> dict[str, str] | None:
    return None if move is None else {"type": "Move", "value": move.uci()}
