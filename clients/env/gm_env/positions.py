"""Positions in and out of the arrays of a batch (:mod:`.layout`)."""

from __future__ import annotations

import chess
import numpy as np
from chess import Color
from numpy.typing import NDArray

from gm_recon import ReconBoard

from .actions import seen_by
from .kernels.layout import (
    CASTLING,
    COLOR,
    EN_PASSANT,
    FULLMOVES,
    HALFMOVES,
    LOST,
    NONE,
    NUMBERS,
    OPPONENT,
    SENSED,
    STATE,
    WINNER,
)

#: The largest numbers of a FEN: games count on from them in int32.
_MOST_MOVES = 2**30


def written(board: ReconBoard) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
    """Return a position as the rows of a game that begins with it.

    :raises ValueError: its clock of half-moves or its full-move number is too large.
    """
    if max(board.halfmoves, board.fullmoves) > _MOST_MOVES:
        raise ValueError(f"fens: {board.fen()!r} counts more than {_MOST_MOVES} moves; use smaller numbers")
    state, numbers = np.zeros(STATE, np.uint64), np.zeros(NUMBERS, np.int32)
    position, turn = board.as_chess(), board.turn
    for piece_type in chess.PIECE_TYPES:
        for color, first in ((turn, 0), (not turn, OPPONENT)):
            state[first + piece_type - 1] = _seen_by(int(position.pieces(piece_type, color)), turn)
    state[CASTLING] = _seen_by(board.castling, turn)
    numbers[COLOR] = turn
    numbers[EN_PASSANT] = NONE if board.ep_square is None else seen_by(board.ep_square, turn)
    numbers[HALFMOVES], numbers[FULLMOVES] = board.halfmoves, board.fullmoves
    numbers[LOST] = numbers[SENSED] = numbers[WINNER] = NONE
    return state, numbers


def read(state: NDArray[np.uint64], numbers: NDArray[np.int32]) -> chess.Board:
    """Return the position of a game's rows."""
    board = chess.Board(None)
    turn = bool(numbers[COLOR])
    for piece_type in chess.PIECE_TYPES:
        for color, first in ((turn, 0), (not turn, OPPONENT)):
            for square in chess.scan_forward(_seen_by(int(state[first + piece_type - 1]), turn)):
                board.set_piece_at(square, chess.Piece(piece_type, color))
    board.turn, board.castling_rights = turn, _seen_by(int(state[CASTLING]), turn)
    passed = int(numbers[EN_PASSANT])
    board.ep_square = None if passed == NONE else seen_by(passed, turn)
    board.halfmove_clock, board.fullmove_number = int(numbers[HALFMOVES]), int(numbers[FULLMOVES])
    return board


def _seen_by(squares: int, color: Color) -> int:
    return squares if color else chess.flip_vertical(squares)
