"""Kernels that show a batch to players: observations, the true state, and masks as bytes.

:data:`OBSERVATION` and :data:`PRIVILEGED` name the planes. All squares are as the player sees them: for Black, mirrored
from rank 1 to rank 8.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .jit import kernel, mirrored, spread
from .layout import (
    CAPTURE_BIT,
    CASTLING,
    COLOR,
    EN_PASSANT,
    FULLMOVES,
    HALFMOVES,
    LOST,
    MOVE_BITS,
    MOVES,
    NONE,
    OFF_BOARD,
    OPPONENT,
    OVER,
    PASS,
    PHASE,
    PLANES,
    PLY,
    REQUESTED_BIT,
    RESTING,
    SENSE_PASS,
    SENSED,
    SQUARE_BITS,
    TAKEN_BIT,
    TO_MOVE,
    TO_SENSE,
    UNSEEN,
)
from .rules import LEAPS, ONE, PROMOTION_STEPS, STEPS, ZERO, Numbers, U, Words

#: The planes of an observation, in their order. What says "everywhere" is the same on all 64 squares.
OBSERVATION = (
    "own pawns",
    "own knights",
    "own bishops",
    "own rooks",
    "own queens",
    "own king",
    "opponent's pawns, as sensed this turn",
    "opponent's knights, as sensed this turn",
    "opponent's bishops, as sensed this turn",
    "opponent's rooks, as sensed this turn",
    "opponent's queens, as sensed this turn",
    "opponent's king, as sensed this turn",
    "the squares sensed this turn",
    "the square on which the opponent's last move captured",
    "the source of the last move requested",
    "the target of the last move requested",
    "the source of the last move made",
    "the target of the last move made",
    "the square on which the last move captured",
    "own rooks that may castle",
    "everywhere: the player is to sense",
    "everywhere: the player is to move",
    "everywhere: the player has White",
    "everywhere: the number of turns that the player has completed, 255 at the most",
)
#: The planes of the true state, in their order.
PRIVILEGED = (
    "own pawns",
    "own knights",
    "own bishops",
    "own rooks",
    "own queens",
    "own king",
    "opponent's pawns",
    "opponent's knights",
    "opponent's bishops",
    "opponent's rooks",
    "opponent's queens",
    "opponent's king",
    "rooks of both sides that may castle",
    "the en passant square",
    "everywhere: half-moves since the last capture or pawn move, 255 at the most",
    "everywhere: the full-move number, 255 at the most",
    "everywhere: the player is to sense",
    "everywhere: the player is to move",
    "everywhere: the player has White",
)

_EVERYWHERE = U(0x0101010101010101)


@kernel()
def _draw_all(words: Words, game: int, bitboards: int, planes: NDArray[np.uint64]) -> None:
    """Write the planes of a game: first bitboards, then numbers that are the same everywhere, 255 at the most."""
    first = game * words.shape[1]
    for plane in range(bitboards):
        spread(words, first + 8 * plane, planes[plane])
    for plane in range(bitboards, words.shape[1] // 8):
        value = min(planes[plane], U(255)) * _EVERYWHERE
        for rank in range(8):
            words[game, 8 * plane + rank] = value


@kernel("void(int32[:, ::1], uint64[:, ::1], uint8[:, ::1])")
def draw_masks(numbers: Numbers, planes: Words, masks: NDArray[np.uint8]) -> None:
    """Write the legal moves as bytes, the pass last; a finished game has none."""
    for game in range(planes.shape[0]):
        for plane in range(PLANES):
            spread(masks, game * masks.shape[1] + 64 * plane, planes[game, plane])
        masks[game, PASS] = numbers[game, PHASE] != OVER


@kernel("void(int32[:, ::1], uint64[:, ::1], boolean[::1], uint8[:, ::1])")
def draw_action_masks(numbers: Numbers, planes: Words, closed: NDArray[np.bool_], masks: NDArray[np.uint8]) -> None:
    """Write which actions are legal, numbered as :mod:`gm_env.turns` says: uint8[n, MOVES + SENSES].

    :param closed: games that are over for another reason than the rules; as in all that are over, a pass is legal.
    """
    for game in range(planes.shape[0]):
        first, phase = game * masks.shape[1], OVER if closed[game] else numbers[game, PHASE]
        for plane in range(PLANES):
            spread(masks, first + 64 * plane, planes[game, plane] if phase == TO_MOVE else ZERO)
        masks[game, PASS] = phase in (TO_MOVE, OVER)
        spread(masks, first + MOVES, ~ZERO if phase == TO_SENSE else ZERO)
        masks[game, MOVES + SENSE_PASS] = phase == TO_SENSE


@kernel()
def _bit(square: int) -> np.uint64:
    """Return the bit of a square, and nothing for a number that is none."""
    return ONE << U(square) if 0 <= square < 64 else ZERO


@kernel()
def window_bits(square: int) -> np.uint64:
    """Return the squares that a sense of a square shows; none for a pass."""
    if square < 0 or square > 63:
        return ZERO
    middle = (U(7) << U(square & 7) >> ONE & U(255)) << U(square & 56)
    return middle | middle << U(8) | middle >> U(8)


@kernel()
def target_of(action: int) -> int:
    """Return the square to which a move goes; 64 for a pass."""
    if action == PASS:
        return 64
    plane, source = action >> 6, action & 63
    if plane >= 64:
        return source + PROMOTION_STEPS[(plane - 64) % 3]
    if plane >= 56:
        return source + LEAPS[plane - 56]
    return source + STEPS[plane // 7] * (plane % 7 + 1)


@kernel()
def _show_sense(planes: Words, square: int, cells: np.uint64) -> None:
    """Show a sense by the second word of its record."""
    planes[12] = window_bits(square)
    for piece in range(6):
        planes[6 + piece] = ZERO
    if square < SENSE_PASS:
        for cell in range(9):
            seen = int(cells >> U(4 * cell) & U(15))
            if OPPONENT < seen < OFF_BOARD:
                planes[seen - 1] |= ONE << U(square + 8 * (cell // 3 - 1) + cell % 3 - 1)


@kernel()
def _show_move(planes: Words, record: np.uint64) -> None:
    """Show a completed move by the first word of its record."""
    requested, taken = int(record >> U(REQUESTED_BIT) & MOVE_BITS), int(record >> U(TAKEN_BIT) & MOVE_BITS)
    planes[14] = ZERO if requested == PASS else _bit(requested & 63)
    planes[15] = _bit(target_of(requested))
    planes[16] = ZERO if taken == PASS else _bit(taken & 63)
    planes[17] = _bit(target_of(taken))
    planes[18] = _bit(int(record >> U(CAPTURE_BIT) & SQUARE_BITS))


_NO_MOVE = U(SENSE_PASS) | U(64) << U(CAPTURE_BIT) | U(PASS) << U(REQUESTED_BIT) | U(PASS) << U(TAKEN_BIT)
_OWN_HOME = U(0xFF)


@kernel()
def _show_phase(planes: Words, first: int, numbers: Numbers, game: int, color: int) -> None:
    is_turn, phase = numbers[game, COLOR] == color, numbers[game, PHASE]
    planes[first] = 1 if is_turn and phase in (TO_SENSE, RESTING) else 0
    planes[first + 1] = 1 if is_turn and phase == TO_MOVE else 0
    planes[first + 2] = color


@kernel("void(uint64[:, ::1], int32[:, ::1], uint64[:, :, ::1], int64[::1], uint64[::1], uint64[:, ::1])")
def observe(
    state: Words,
    numbers: Numbers,
    records: NDArray[np.uint64],
    colors: NDArray[np.int64],
    planes: NDArray[np.uint64],
    words: Words,
) -> None:
    """Write what a player of each game observed this turn; :data:`OBSERVATION` names the planes.

    :param planes: a place to work, (24,).
    """
    for game in range(state.shape[0]):
        color = numbers[game, COLOR] if colors[game] < 0 else colors[game]
        is_turn = numbers[game, COLOR] == color
        ply = numbers[game, PLY]
        for piece in range(6):
            own = state[game, piece] if is_turn else mirrored(state[game, OPPONENT + piece])
            planes[piece] = own
        castling = state[game, CASTLING] if is_turn else mirrored(state[game, CASTLING])
        planes[19] = castling & _OWN_HOME
        moved = ply - 2 if is_turn else ply - 1
        record = records[game, moved, 0] if moved >= 0 else _NO_MOVE
        _show_move(planes, record)
        if is_turn:
            sensed = numbers[game, SENSED]
            cells = UNSEEN if sensed == NONE else records[game, ply, 1]
            _show_sense(planes, 64 if sensed == NONE else sensed, cells)
            planes[13] = _bit(numbers[game, LOST])
        else:
            cells = records[game, moved, 1] if moved >= 0 else UNSEEN
            _show_sense(planes, int(record & SQUARE_BITS), cells)
            before = records[game, ply - 2, 0] if ply >= 2 else _NO_MOVE
            lost = int(before >> U(CAPTURE_BIT) & SQUARE_BITS)
            planes[13] = _bit(64 if lost == 64 else lost ^ 56)
        _show_phase(planes, 20, numbers, game, color)
        planes[23] = (ply + (0 if is_turn else 1)) // 2
        _draw_all(words, game, 20, planes)


@kernel("void(uint64[:, ::1], int32[:, ::1], int64[::1], uint64[::1], uint64[:, ::1])")
def show_truth(
    state: Words, numbers: Numbers, colors: NDArray[np.int64], planes: NDArray[np.uint64], words: Words
) -> None:
    """Write the true state of each game as a player would see it; :data:`PRIVILEGED` names the planes.

    :param planes: a place to work, (19,).
    """
    for game in range(state.shape[0]):
        color = numbers[game, COLOR] if colors[game] < 0 else colors[game]
        is_turn = numbers[game, COLOR] == color
        for column in range(12):
            bits = state[game, column] if is_turn else mirrored(state[game, (column + OPPONENT) % 12])
            planes[column] = bits
        castling, passed = state[game, CASTLING], _bit(numbers[game, EN_PASSANT])
        planes[12] = castling if is_turn else mirrored(castling)
        planes[13] = passed if is_turn else mirrored(passed)
        planes[14] = numbers[game, HALFMOVES]
        planes[15] = numbers[game, FULLMOVES]
        _show_phase(planes, 16, numbers, game, color)
        _draw_all(words, game, 14, planes)
