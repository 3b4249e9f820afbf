"""Material with which neither side can mate."""

from __future__ import annotations

import chess

from .position import Position, family_of, pieces_of, white_of


def insufficient_material(position: Position) -> bool:
    """Return whether ``PROTOCOL``'s "automatic" rule draws a position for insufficient material.

    These are: bare kings; king and knight, or king and bishop, against king; king and bishop each, with the bishops on
    squares of one colour. Never in crazyhouse. (python-chess also counts any number of bishops on one colour.)
    """
    if family_of(position).drops:
        return False
    if pieces_of(position, chess.PAWN) or pieces_of(position, chess.ROOK) or pieces_of(position, chess.QUEEN):
        return False
    knights, bishops = pieces_of(position, chess.KNIGHT), pieces_of(position, chess.BISHOP)
    pieces = (knights | bishops).bit_count()
    if pieces < 2:
        return True
    one_each = pieces == 2 and not knights and (bishops & white_of(position)).bit_count() == 1
    return one_each and (not bishops & chess.BB_LIGHT_SQUARES or not bishops & chess.BB_DARK_SQUARES)
