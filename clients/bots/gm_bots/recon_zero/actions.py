"""Moves as numbers: 20,480 = 64 source squares, 64 target squares, and 5 ways to promote or not.

A number is seen from the player's side. For Black the board is mirrored, a1 to a8, so that a number means the same move
for both colours: what a network learns as White holds for Black, too. The encoder mirrors in the same way.

A pass has the number 0, which would otherwise be a move from the player's own a1 to itself; python-chess writes its
null move in the same way. No other number with two equal squares is ever a move.
"""

from __future__ import annotations

import chess
from chess import Color, Move, PieceType, Square

#: The pieces that a pawn becomes. Servers list no promotion without its piece.
PROMOTIONS: tuple[PieceType | None, ...] = (None, chess.KNIGHT, chess.BISHOP, chess.ROOK, chess.QUEEN)
ACTIONS = 64 * 64 * len(PROMOTIONS)
PASS = 0

#: The mask that mirrors a square top to bottom.
_MIRROR = 56


def index_of(move: Move | None, color: Color) -> int:
    """Return the number of a player's move; None is a pass.

    :raises ValueError: the move goes nowhere, promotes to a pawn or a king, or drops a piece.
    """
    if move is None:
        return PASS
    if move.from_square == move.to_square or move.drop or move.promotion not in PROMOTIONS:
        raise ValueError(f"{move.uci()} is not a move of reconnaissance blind chess")
    source, target = seen_by(move.from_square, color), seen_by(move.to_square, color)
    return (source * 64 + target) * len(PROMOTIONS) + PROMOTIONS.index(move.promotion)


def move_of(index: int, color: Color) -> Move | None:
    """Return the move of a number; None is a pass.

    :raises ValueError: the number stands for no move.
    """
    if index == PASS:
        return None
    squares, promotion = divmod(index, len(PROMOTIONS))
    source, target = divmod(squares, 64)
    if not 0 <= index < ACTIONS or source == target:
        raise ValueError(f"{index} stands for no move: there are 1 to {ACTIONS - 1}, without those that go nowhere")
    return Move(seen_by(source, color), seen_by(target, color), PROMOTIONS[promotion])


def seen_by(square: Square, color: Color) -> Square:
    """Convert a square to a player's view, with its own first rank below, or back."""
    return square if color else square ^ _MIRROR
