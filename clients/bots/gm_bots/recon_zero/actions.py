"""Moves as numbers: 20,480 = 64 squares to go from, 64 to go to, and 5 ways to promote or not.

A number is seen from the player's side. For Black the board is mirrored, a1 to a8, so that one and the same number is
the same move of either colour: what a network learns as White holds for Black as well. The encoder mirrors alike.

A turn without a move has the number 0, which would else be a move from the player's own a1 to itself; python-chess
writes its null move so, too. No other number with both squares the same is ever a move.
"""

from __future__ import annotations

import chess
from chess import Color, Move, PieceType, Square

#: What a pawn becomes. Servers list no promotion that does not say to what.
PROMOTIONS: tuple[PieceType | None, ...] = (None, chess.KNIGHT, chess.BISHOP, chess.ROOK, chess.QUEEN)
ACTIONS = 64 * 64 * len(PROMOTIONS)
PASS = 0

#: What mirrors a square top to bottom.
_MIRROR = 56


def index_of(move: Move | None, color: Color) -> int:
    """The number of a move of a player; None is to pass.

    :raises ValueError: it goes nowhere, promotes to a pawn or a king, or drops a piece.
    """
    if move is None:
        return PASS
    if move.from_square == move.to_square or move.drop or move.promotion not in PROMOTIONS:
        raise ValueError(f"{move.uci()} is no move of reconnaissance blind chess")
    source, target = seen_by(move.from_square, color), seen_by(move.to_square, color)
    return (source * 64 + target) * len(PROMOTIONS) + PROMOTIONS.index(move.promotion)


def move_of(index: int, color: Color) -> Move | None:
    """The move that a number stands for; None is to pass.

    :raises ValueError: it stands for none.
    """
    if index == PASS:
        return None
    squares, promotion = divmod(index, len(PROMOTIONS))
    source, target = divmod(squares, 64)
    if not 0 <= index < ACTIONS or source == target:
        raise ValueError(f"{index} stands for no move: there are 1 to {ACTIONS - 1}, without those that go nowhere")
    return Move(seen_by(source, color), seen_by(target, color), PROMOTIONS[promotion])


def seen_by(square: Square, color: Color) -> Square:
    """A square as a player sees it with its own first rank below; and back again."""
    return square if color else square ^ _MIRROR
