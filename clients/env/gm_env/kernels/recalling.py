"""Kernels that write information states: all that a player has observed in a game, in one array of numbers.

An information state is int16, (HEADER_ROWS + rows for turns, 14). Its first rows are the **header**: columns 0 to 7 of
row ``r`` are rank ``r`` of the start position, the lowest first, 0 for an empty square, 1 to 6 for the player's own
pieces and 7 to 12 for the opponent's; columns 8 to 13 have the numbers of :data:`INFORMATION_HEADER`, six a row. Then
there is a row for each of the player's turns, whose columns :data:`INFORMATION` names. All squares are as the player
sees them: for Black, mirrored from rank 1 to rank 8.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .jit import kernel, mirrored
from .layout import (
    CAPTURE_BIT,
    CASTLING,
    COLOR,
    EN_PASSANT,
    FULLMOVES,
    HALFMOVES,
    MOVE_BITS,
    NONE,
    OFF_BOARD,
    OPPONENT,
    OVER,
    PHASE,
    PLY,
    REASON,
    REQUESTED_BIT,
    SENSED,
    SQUARE_BITS,
    TAKEN_BIT,
    TO_MOVE,
    WINNER,
)
from .rules import ONE, Numbers, U, Words

#: The columns of a row of the information state: one turn of the player.
INFORMATION = (
    "the square on which the opponent's turn before captured, or -1",
    "the square sensed, 64 for a pass, -1 if not yet",
    *(f"cell {cell} of the sense's window: 0 empty, 1 to 6 own, 7 to 12 the opponent's, -1 none" for cell in range(9)),
    "the move requested, 4672 for a pass, -1 if not yet",
    "the move made, 4672 if none, -1 if not yet",
    "the square of its capture, or -1",
)
_ROW = len(INFORMATION)

#: The rows of the header.
HEADER_ROWS = 8
#: The numbers of the header, in their order: six in columns 8 to 13 of each row; the rest of these columns is -1.
INFORMATION_HEADER = (
    "1 if the player has White, 0 for Black",
    "0 if the player waits, 1 if it is to sense, 2 if it is to move, 3 if the game is over",
    "the number of turns that both players have completed, 32767 at the most",
    "1 if the player has won, -1 if it has lost, else 0",
    "why the game ended: a value of gm_recon.WinReason, 0 while it goes on",
    "1 if the player has the first turn, else 0",
    "start position: 1 if the own rook on the file a may castle, else 0",
    "start position: 1 if the own rook on the file h may castle, else 0",
    "start position: 1 if the opponent's rook on the file a may castle, else 0",
    "start position: 1 if the opponent's rook on the file h may castle, else 0",
    "start position: the en passant square, or -1",
    "start position: half-moves since the last capture or pawn move, 32767 at the most",
    "start position: the full-move number, 32767 at the most",
    "reversible_moves, 32767 at the most and without a limit",
    "max_turns, 32767 at the most and without a limit",
)
_MOST = 32767


@kernel()
def _write_start(state: Words, game: int, is_turn: bool, rows: NDArray[np.int16]) -> None:
    """Write the pieces and castling rights of a start position."""
    for column in range(12):
        bits = state[game, column] if is_turn else mirrored(state[game, (column + OPPONENT) % 12])
        for square in range(64):
            if bits >> U(square) & ONE:
                rows[square >> 3, square & 7] = column + 1
    castling = state[game, CASTLING] if is_turn else mirrored(state[game, CASTLING])
    for corner in range(4):
        rows[1, 8 + corner] = castling >> U(7 * (corner & 1) + 56 * (corner >> 1)) & ONE


@kernel()
def _write_progress(numbers: Numbers, game: int, color: int, rows: NDArray[np.int16]) -> None:
    """Write how far a game is."""
    phase = numbers[game, PHASE]
    rows[0, 8] = color
    if phase == OVER:
        rows[0, 9] = 3
    elif numbers[game, COLOR] != color:
        rows[0, 9] = 0
    else:
        rows[0, 9] = 2 if phase == TO_MOVE else 1
    rows[0, 10] = min(numbers[game, PLY], _MOST)
    winner = numbers[game, WINNER]
    rows[0, 11] = 0 if winner == NONE else 1 if winner == color else -1
    rows[0, 12] = numbers[game, REASON]


@kernel("void(uint64[:, ::1], int32[:, ::1], int32[:, ::1], int64[::1], int64, int64, int16[:, :, ::1])")
def write_headers(
    first_state: Words,
    first_numbers: Numbers,
    numbers: Numbers,
    colors: NDArray[np.int64],
    reversible_moves: int,
    max_turns: int,
    states: NDArray[np.int16],
) -> None:
    """Write the headers of the information states of a player of each game."""
    for game in range(states.shape[0]):
        color = numbers[game, COLOR] if colors[game] < 0 else colors[game]
        is_first = first_numbers[game, COLOR] == color
        rows = states[game]
        for row in range(HEADER_ROWS):
            for column in range(_ROW):
                rows[row, column] = 0 if column < 8 else NONE
        _write_start(first_state, game, is_first, rows)
        _write_progress(numbers, game, color, rows)
        rows[0, 13] = 1 if is_first else 0
        passed = first_numbers[game, EN_PASSANT]
        rows[1, 12] = passed if passed == NONE or is_first else passed ^ 56
        rows[1, 13] = min(first_numbers[game, HALFMOVES], _MOST)
        rows[2, 8] = min(first_numbers[game, FULLMOVES], _MOST)
        rows[2, 9], rows[2, 10] = min(reversible_moves, _MOST), min(max_turns, _MOST)


@kernel()
def _recall_turn(numbers: Numbers, records: NDArray[np.uint64], game: int, turn: int, row: NDArray[np.int16]) -> None:
    if turn > 0:
        lost = int(records[game, turn - 1, 0] >> U(CAPTURE_BIT) & SQUARE_BITS)
        row[0] = NONE if lost == 64 else lost ^ 56
    if turn < numbers[game, PLY]:
        record = records[game, turn, 0]
        row[1] = record & SQUARE_BITS
        row[_ROW - 3] = record >> U(REQUESTED_BIT) & MOVE_BITS
        row[_ROW - 2] = record >> U(TAKEN_BIT) & MOVE_BITS
        capture = int(record >> U(CAPTURE_BIT) & SQUARE_BITS)
        row[_ROW - 1] = NONE if capture == 64 else capture
    elif turn == numbers[game, PLY]:
        row[1] = numbers[game, SENSED]
    if row[1] != NONE:
        for cell in range(9):
            seen = int(records[game, turn, 1] >> U(4 * cell) & U(15))
            row[2 + cell] = NONE if seen == OFF_BOARD else seen


@kernel("void(int32[:, ::1], uint64[:, :, ::1], int64[::1], int64, int16[:, :, ::1])")
def recall(
    numbers: Numbers,
    records: NDArray[np.uint64],
    colors: NDArray[np.int64],
    above: int,
    states: NDArray[np.int16],
) -> None:
    """Write the latest turns of a player of each game, the oldest first.

    :param above: rows above them, which are left as they are.
    """
    for game in range(states.shape[0]):
        color = numbers[game, COLOR] if colors[game] < 0 else colors[game]
        ply = numbers[game, PLY]
        # Turns of this player have the parity of ``first``; the last one is in progress if the player is to act.
        first = (ply & 1) ^ (0 if numbers[game, COLOR] == color else 1)
        last = ply if numbers[game, COLOR] == color else ply - 1
        turns = (last - first) // 2 + 1
        skipped = max(0, turns - (states.shape[1] - above))
        rows = states[game, above:]
        rows[:] = NONE
        for row in range(turns - skipped):
            _recall_turn(numbers, records, game, first + 2 * (row + skipped), rows[row])
