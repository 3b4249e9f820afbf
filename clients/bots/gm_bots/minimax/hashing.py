"""Zobrist keys: a number for each position, which each move updates by a few exclusive ors.

The random numbers are those of the Polyglot opening books, which python-chess has. An en passant square counts only
where such a capture is legal, as in the rule of repetition.
"""

from __future__ import annotations

import chess
import chess.polyglot
from chess.polyglot import POLYGLOT_RANDOM_ARRAY

#: The numbers of a piece on a square; the order is Polyglot's.
PIECES = {
    (piece_type, color): tuple(
        POLYGLOT_RANDOM_ARRAY[64 * (2 * (piece_type - 1) + color) + square] for square in chess.SQUARES
    )
    for piece_type in chess.PIECE_TYPES
    for color in chess.COLORS
}

#: The numbers of castling rights: a bit each for White's king's side and queen's side, and Black's.
RIGHTS = tuple(
    (rights & 1 and POLYGLOT_RANDOM_ARRAY[768])
    ^ (rights & 2 and POLYGLOT_RANDOM_ARRAY[769])
    ^ (rights & 4 and POLYGLOT_RANDOM_ARRAY[770])
    ^ (rights & 8 and POLYGLOT_RANDOM_ARRAY[771])
    for rights in range(16)
)

#: The numbers of the file of an en passant square.
EN_PASSANT = POLYGLOT_RANDOM_ARRAY[772:780]

#: The number of White to move, which every move toggles.
TURN = POLYGLOT_RANDOM_ARRAY[780]


def key_of(board: chess.Board) -> int:
    """Return the key of a board, computed from scratch."""
    if board.ep_square is not None and not board.has_legal_en_passant():
        board = board.copy(stack=False)
        board.ep_square = None
    return chess.polyglot.zobrist_hash(board)
