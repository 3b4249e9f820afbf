"""Actions as numbers, in several encodings, and the maps between them and :class:`chess.Move`.

Every number is meant as the player sees the board: for Black, squares are mirrored from rank 1 to rank 8
(``square ^ 56``), so that a number means the same to both players: a1 is 0 for White, and a8 for Black. The encodings
of moves:

- **planes** (``MOVES`` numbers), which a batch takes: AlphaZero's 73 planes of 64 source squares,
  ``64 * plane + source``, and 4672 for a pass. Planes 0 to 55 are a queen's moves: ``7 * direction + steps - 1``, the
  directions clockwise from the north. A king's two steps to the side castle, and a pawn's step to the last rank makes
  a queen. Planes 56 to 63 are a knight's moves, clockwise from the north-north-east. Planes 64 to 72 are promotions:
  ``64 + 3 * piece + direction``, to a knight, bishop or rook, moving north-west, north or north-east.
- **from, to, promotion** (:data:`FROM_TO_PROMOTIONS` numbers), in which reconchess lists moves:
  ``5 * (64 * source + target) + promotion`` with 0 for none and 1 to 4 for knight, bishop, rook and queen; 0 is a pass.
  A pawn's move to the last rank without a promotion also makes a queen: it and the one with a queen are one number of
  the planes.

Senses are numbered by the 64 squares, with 64 for a pass, or by the 36 squares that are not on the edge
(:data:`INNER_SQUARES`): the window of each other square is part of one of those.
"""

from __future__ import annotations

from collections.abc import Sequence

import chess
import numpy as np
from chess import Bitboard, Color, Move, Piece, Square
from numpy.typing import NDArray

from gm_recon import Cell

from .kernels.layout import MOVES, PASS, SENSE_PASS

#: How many numbers by from, to and promotion there are: 20480.
FROM_TO_PROMOTIONS = 64 * 64 * 5

_PROMOTIONS = (None, chess.KNIGHT, chess.BISHOP, chess.ROOK, chess.QUEEN)
_DIRECTIONS = ((0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1))
_LEAPS = ((1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2))
#: The files and ranks that each plane's move goes, and its promotion, as an index of _PROMOTIONS.
_PLANES = [
    *((file * steps, rank * steps, 0) for file, rank in _DIRECTIONS for steps in range(1, 8)),
    *((file, rank, 0) for file, rank in _LEAPS),
    *((file, 1, promotion) for promotion in (1, 2, 3) for file in (-1, 0, 1)),
]
_QUEEN = 4


def _list_from_to() -> NDArray[np.int32]:
    table = np.full((2, MOVES), -1, np.int32)
    table[:, PASS] = 0
    for plane, (files, ranks, promotion) in enumerate(_PLANES):
        for source in chess.SQUARES:
            file, rank = chess.square_file(source) + files, chess.square_rank(source) + ranks
            if not (0 <= file <= 7 and 0 <= rank <= 7) or (promotion and rank != 7):
                continue
            number = 5 * (64 * source + chess.square(file, rank))
            table[0, 64 * plane + source] = number + promotion
            is_last_step = rank == 7 and ranks == 1 and abs(files) <= 1
            table[1, 64 * plane + source] = number + (promotion or _QUEEN if is_last_step else 0)
    return table


def _list_planes() -> NDArray[np.int32]:
    table = np.full(FROM_TO_PROMOTIONS, -1, np.int32)
    for row in FROM_TO_BY_PLANES:
        known = np.flatnonzero(row >= 0)
        table[row[known]] = known
    return table


#: ``[is_pawn, move by planes]``: the number by from, to and promotion; -1 where there is no such move. A pawn's move to
#: the last rank has its queen named.
FROM_TO_BY_PLANES = _list_from_to()
#: ``[number by from, to and promotion]``: the move by planes; -1 where there is no such move.
PLANES_BY_FROM_TO = _list_planes()
#: The squares of the 36 senses, in their order.
INNER_SQUARES = np.array([8 * rank + file for rank in range(1, 7) for file in range(1, 7)], np.int64)
#: ``[square]``: the number from 0 to 35 of the sense whose window contains the square's window.
INNER_BY_SQUARE = np.array(
    [6 * (min(max(square >> 3, 1), 6) - 1) + min(max(square & 7, 1), 6) - 1 for square in range(64)], np.int64
)


def seen_by(square: Square, color: Color) -> Square:
    """Convert a square to a player's view, its own first rank below, or back."""
    return square if color else square ^ 56


def action_of(move: Move | None, color: Color) -> int:
    """Return the number by planes of a player's move; None is a pass.

    :raises ValueError: no piece makes such a move, or it promotes elsewhere than on the player's last rank.
    """
    if move is None:
        return PASS
    source, target = seen_by(move.from_square, color), seen_by(move.to_square, color)
    found = -1
    if source != target and not move.drop and move.promotion in _PROMOTIONS:
        found = int(PLANES_BY_FROM_TO[5 * (64 * source + target) + _PROMOTIONS.index(move.promotion)])
    if found < 0:
        raise ValueError(f"move: {move.uci()} is no move of reconnaissance blind chess for {chess.COLOR_NAMES[color]}")
    return found


def move_of(action: int, color: Color, pawns: Bitboard) -> Move | None:
    """Return a player's move by its number by planes; None is a pass.

    :param pawns: the true squares of the player's pawns, whose moves to the last rank make a queen: the move names it.
    :raises ValueError: the number stands for no move.
    """
    if action == PASS:
        return None
    is_pawn = 0 <= action < PASS and pawns >> seen_by(action & 63, color) & 1
    number = int(FROM_TO_BY_PLANES[is_pawn, action]) if 0 <= action < PASS else -1
    if number < 0:
        raise ValueError(f"action: {action} stands for no move; moves are 0 to {PASS}, within the board")
    squares, promotion = divmod(number, 5)
    source, target = divmod(squares, 64)
    return Move(seen_by(source, color), seen_by(target, color), _PROMOTIONS[promotion])


def sense_of(square: Square | None, color: Color) -> int:
    """Return the number of a player's sense of a square; None is a pass."""
    return SENSE_PASS if square is None else seen_by(square, color)


def square_of(sense: int, color: Color) -> Square | None:
    """Return the true square of a player's sense; None is a pass.

    :raises ValueError: the number stands for no sense.
    """
    if not 0 <= sense <= SENSE_PASS:
        raise ValueError(f"sense: {sense} stands for no sense; they are 0 to {SENSE_PASS}")
    return None if sense == SENSE_PASS else seen_by(sense, color)


def cells_of(sense: int, window: Sequence[int], color: Color) -> list[Cell]:
    """Return what a player's sense showed, with true squares, the player's own lowest rank first.

    :param window: the nine cells, as :meth:`gm_env.BatchedRbc.sense` writes them; of those beyond the board any number.
    """
    found: list[Cell] = []
    for rank in (-1, 0, 1):
        for file in (-1, 0, 1):
            if 0 <= (sense >> 3) + rank <= 7 and 0 <= (sense & 7) + file <= 7:
                cell = window[3 * (rank + 1) + file + 1]
                is_own = (cell <= chess.KING) == color
                piece = Piece((cell - 1) % 6 + 1, is_own) if cell else None
                found.append((seen_by(sense + 8 * rank + file, color), piece))
    return found
