"""The static evaluation of a position: Tomasz Michniewski's Simplified Evaluation Function.

https://www.chessprogramming.org/Simplified_Evaluation_Function has its numbers and its definition of an end game.
The unit is a hundredth of a pawn. Kings have no value of their own, since they cannot be captured.
"""

from __future__ import annotations

import chess
from chess import BISHOP, KING, KNIGHT, PAWN, QUEEN, ROOK

MATERIAL = {PAWN: 100, KNIGHT: 320, BISHOP: 330, ROOK: 500, QUEEN: 900, KING: 0}

# The tables are printed as White sees the board: a8 comes first, h1 last.
# fmt: off
_PAWN = (
      0,   0,   0,   0,   0,   0,   0,   0,
     50,  50,  50,  50,  50,  50,  50,  50,
     10,  10,  20,  30,  30,  20,  10,  10,
      5,   5,  10,  25,  25,  10,   5,   5,
      0,   0,   0,  20,  20,   0,   0,   0,
      5,  -5, -10,   0,   0, -10,  -5,   5,
      5,  10,  10, -20, -20,  10,  10,   5,
      0,   0,   0,   0,   0,   0,   0,   0,
)
_KNIGHT = (
    -50, -40, -30, -30, -30, -30, -40, -50,
    -40, -20,   0,   0,   0,   0, -20, -40,
    -30,   0,  10,  15,  15,  10,   0, -30,
    -30,   5,  15,  20,  20,  15,   5, -30,
    -30,   0,  15,  20,  20,  15,   0, -30,
    -30,   5,  10,  15,  15,  10,   5, -30,
    -40, -20,   0,   5,   5,   0, -20, -40,
    -50, -40, -30, -30, -30, -30, -40, -50,
)
_BISHOP = (
    -20, -10, -10, -10, -10, -10, -10, -20,
    -10,   0,   0,   0,   0,   0,   0, -10,
    -10,   0,   5,  10,  10,   5,   0, -10,
    -10,   5,   5,  10,  10,   5,   5, -10,
    -10,   0,  10,  10,  10,  10,   0, -10,
    -10,  10,  10,  10,  10,  10,  10, -10,
    -10,   5,   0,   0,   0,   0,   5, -10,
    -20, -10, -10, -10, -10, -10, -10, -20,
)
_ROOK = (
      0,   0,   0,   0,   0,   0,   0,   0,
      5,  10,  10,  10,  10,  10,  10,   5,
     -5,   0,   0,   0,   0,   0,   0,  -5,
     -5,   0,   0,   0,   0,   0,   0,  -5,
     -5,   0,   0,   0,   0,   0,   0,  -5,
     -5,   0,   0,   0,   0,   0,   0,  -5,
     -5,   0,   0,   0,   0,   0,   0,  -5,
      0,   0,   0,   5,   5,   0,   0,   0,
)
_QUEEN = (
    -20, -10, -10,  -5,  -5, -10, -10, -20,
    -10,   0,   0,   0,   0,   0,   0, -10,
    -10,   0,   5,   5,   5,   5,   0, -10,
     -5,   0,   5,   5,   5,   5,   0,  -5,
      0,   0,   5,   5,   5,   5,   0,  -5,
    -10,   5,   5,   5,   5,   5,   0, -10,
    -10,   0,   5,   0,   0,   0,   0, -10,
    -20, -10, -10,  -5,  -5, -10, -10, -20,
)
_KING_MIDDLE_GAME = (
    -30, -40, -40, -50, -50, -40, -40, -30,
    -30, -40, -40, -50, -50, -40, -40, -30,
    -30, -40, -40, -50, -50, -40, -40, -30,
    -30, -40, -40, -50, -50, -40, -40, -30,
    -20, -30, -30, -40, -40, -30, -30, -20,
    -10, -20, -20, -20, -20, -20, -20, -10,
     20,  20,   0,   0,   0,   0,  20,  20,
     20,  30,  10,   0,   0,  10,  30,  20,
)
_KING_END_GAME = (
    -50, -40, -30, -20, -20, -30, -40, -50,
    -30, -20, -10,   0,   0, -10, -20, -30,
    -30, -10,  20,  30,  30,  20, -10, -30,
    -30, -10,  30,  40,  40,  30, -10, -30,
    -30, -10,  30,  40,  40,  30, -10, -30,
    -30, -10,  20,  30,  30,  20, -10, -30,
    -30, -30,   0,   0,   0,   0, -30, -30,
    -50, -30, -30, -30, -30, -30, -30, -50,
)
# fmt: on

_TABLES = {PAWN: _PAWN, KNIGHT: _KNIGHT, BISHOP: _BISHOP, ROOK: _ROOK, QUEEN: _QUEEN}


def _signed(table: tuple[int, ...], value: int, color: chess.Color) -> tuple[int, ...]:
    """Return a piece's value to White on each square, a1 first."""
    if color == chess.WHITE:
        return tuple(value + table[square ^ 56] for square in chess.SQUARES)
    return tuple(-(value + table[square]) for square in chess.SQUARES)


#: The value to White of each piece of each colour on each square, with its material; kings are missing, since their
#: values depend on the other pieces.
WORTH = {
    (piece_type, color): _signed(table, MATERIAL[piece_type], color)
    for piece_type, table in _TABLES.items()
    for color in chess.COLORS
}

#: The value of a king to White: [whether it is an end game][its colour][its square].
KING_WORTH = tuple(
    tuple(_signed(table, 0, color) for color in (chess.BLACK, chess.WHITE))
    for table in (_KING_MIDDLE_GAME, _KING_END_GAME)
)


def is_end_game(board: chess.Board) -> bool:
    """Return whether every side with a queen has no rook, no second queen and at most one minor piece."""
    return all(_has_end_game(board, color) for color in chess.COLORS)


def _has_end_game(board: chess.Board, color: chess.Color) -> bool:
    own = board.occupied_co[color]
    queens, minors = board.queens & own, (board.knights | board.bishops) & own
    if not queens:
        return True
    return not board.rooks & own and chess.popcount(queens) == 1 and chess.popcount(minors) <= 1


def evaluate(board: chess.Board) -> int:
    """Return a board's value to White, computed from scratch. The search maintains the same number incrementally."""
    kings = KING_WORTH[is_end_game(board)]
    total = 0
    for color in chess.COLORS:
        for piece_type in chess.PIECE_TYPES:
            worth = kings[color] if piece_type == KING else WORTH[piece_type, color]
            for square in chess.scan_forward(board.pieces_mask(piece_type, color)):
                total += worth[square]
    return total
