"""Kernels of the rules: the moves that a player may request, what the true board makes of one, and making it.

They are the rules of ``reconchess`` 1.6.9, as ``gm_recon.ReconBoard`` has them, and tested against both. Everything is
written for a side that moves up the board: :mod:`.layout` says how a position is stored.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .jit import kernel, mirrored
from .layout import (
    BISHOP,
    CASTLING,
    COLOR,
    EN_PASSANT,
    FULLMOVES,
    HALFMOVES,
    KING,
    KNIGHT,
    LOST,
    NONE,
    OFF_BOARD,
    OPPONENT,
    PASS,
    PAWN,
    PLANES,
    PLY,
    QUEEN,
    ROOK,
)

Words = NDArray[np.uint64]
Numbers = NDArray[np.int32]

U = np.uint64
ZERO, ONE = U(0), U(1)
_ALL = U(0xFFFFFFFFFFFFFFFF)
_NOT_A, _NOT_H = U(0xFEFEFEFEFEFEFEFE), U(0x7F7F7F7F7F7F7F7F)
_NOT_AB, _NOT_GH = U(0xFCFCFCFCFCFCFCFC), U(0x3F3F3F3F3F3F3F3F)
#: How far a step along a file, a rank and the two diagonals shifts a bitboard.
_FILE, _RANK, _DIAGONAL, _ANTIDIAGONAL = U(8), U(1), U(9), U(7)
#: By a knight's direction: how far a leap shifts a bitboard to the left or to the right, and the squares where it may
#: arrive without going round the board's edge.
LEAP_LEFT = np.array([17, 10, 0, 0, 0, 0, 6, 15], np.uint64)
LEAP_RIGHT = np.array([0, 0, 6, 15, 17, 10, 0, 0], np.uint64)
LEAP_KEPT = np.array([_NOT_A, _NOT_AB, _NOT_AB, _NOT_A, _NOT_H, _NOT_GH, _NOT_GH, _NOT_H], np.uint64)
_RANK_1, _RANK_2, _RANK_7, _RANK_8 = U(0xFF), U(0xFF00), U(0xFF << 48), U(0xFF << 56)
_A1, _D1, _E1, _F1, _H1 = U(1), U(8), U(16), U(32), U(128)
_BESIDE_KING, _BESIDE_QUEEN = U(0x60), U(0x0E)  # f1 and g1; b1, c1 and d1
#: The squares whose pieces castle before they have moved.
_CASTLERS = U(0x9100000000000091)

#: Numbers of planes: two steps to the north; two to the east and to the west, by which a king castles; one north-west.
_NORTH_2, _EAST_2, _WEST_2, _NORTH_WEST = 1, 15, 43, 49
_KNIGHTS, _PROMOTIONS = 56, 64
#: By direction, or a knight's direction: the difference of the squares' numbers for a step.
STEPS = np.array([8, 9, 1, -7, -8, -9, -1, 7], np.int64)
LEAPS = np.array([17, 10, -6, -15, -17, -10, 6, 15], np.int64)
PROMOTION_STEPS = np.array([7, 8, 9], np.int64)

#: Three bits, each as the lowest of four.
_NIBBLES = np.array([0x000, 0x001, 0x010, 0x011, 0x100, 0x101, 0x110, 0x111], np.uint64)


def _list_outside() -> NDArray[np.uint64]:
    cells = np.arange(9)
    ranks, files = (np.arange(64) >> 3)[:, None] + cells // 3 - 1, (np.arange(64) & 7)[:, None] + cells % 3 - 1
    outside = (ranks < 0) | (ranks > 7) | (files < 0) | (files > 7)
    return np.where(outside, U(OFF_BOARD) << (U(4) * cells.astype(np.uint64)), ZERO).sum(axis=1, dtype=np.uint64)


#: By the square of a sense: OFF_BOARD in the cells that are no squares.
_OUTSIDE = _list_outside()


@kernel()
def pieces_of(state: Words, game: int, first: int) -> np.uint64:
    """Return the squares of a side's pieces: the side to move's from column 0, its opponent's from OPPONENT."""
    found = state[game, first]
    for column in range(first + 1, first + 6):
        found |= state[game, column]
    return found


@kernel()
def list_moves(state: Words, game: int, planes: Words) -> None:
    """Write the moves that the side to move may request, knowing only its own pieces: bit ``source`` of each plane."""
    own = pieces_of(state, game, 0)
    king, pawns = state[game, KING], state[game, PAWN]
    rooks, bishops = state[game, QUEEN] | state[game, ROOK], state[game, QUEEN] | state[game, BISHOP]
    _list_up(game, planes, 0, rooks, king | pawns, _FILE, ~own)
    _list_up(game, planes, 1, bishops, king | pawns, _DIAGONAL, ~own & _NOT_A)
    _list_up(game, planes, 2, rooks, king, _RANK, ~own & _NOT_A)
    _list_down(game, planes, 3, bishops, king, _ANTIDIAGONAL, ~own & _NOT_A)
    _list_down(game, planes, 4, rooks, king, _FILE, ~own)
    _list_down(game, planes, 5, bishops, king, _DIAGONAL, ~own & _NOT_H)
    _list_down(game, planes, 6, rooks, king, _RANK, ~own & _NOT_H)
    _list_up(game, planes, 7, bishops, king | pawns, _ANTIDIAGONAL, ~own & _NOT_H)
    knights = state[game, KNIGHT]
    for leap in range(8):
        left, right = LEAP_LEFT[leap], LEAP_RIGHT[leap]
        reached = (knights << left) >> right & LEAP_KEPT[leap] & ~own
        planes[game, _KNIGHTS + leap] = (reached << right) >> left
    twice = ((pawns & _RANK_2) << U(8) & ~own) << U(8) & ~own
    planes[game, _NORTH_2] |= twice >> U(16)
    if state[game, CASTLING] & _H1 and not own & _BESIDE_KING:
        planes[game, _EAST_2] |= _E1
    if state[game, CASTLING] & _A1 and not own & _BESIDE_QUEEN:
        planes[game, _WEST_2] |= _E1
    for piece in range(3):
        for direction in range(3):
            steps = planes[game, _NORTH_WEST if direction == 0 else 7 * (direction - 1)]
            planes[game, _PROMOTIONS + 3 * piece + direction] = steps & pawns & _RANK_7


@kernel()
def _list_up(
    game: int, planes: Words, direction: int, sliders: np.uint64, steppers: np.uint64, shift: np.uint64, kept: np.uint64
) -> None:
    """List the moves in a direction to higher squares: up to seven steps of sliders, and one of kings and pawns.

    :param kept: the squares where a piece may arrive, without those that are reached round the board's edge.
    """
    planes[game, 7 * direction] = ((sliders | steppers) << shift & kept) >> shift
    reached = sliders << shift & kept
    for step in range(1, 7):
        reached = reached << shift & kept
        planes[game, 7 * direction + step] = reached >> shift * U(step + 1)


@kernel()
def _list_down(
    game: int, planes: Words, direction: int, sliders: np.uint64, steppers: np.uint64, shift: np.uint64, kept: np.uint64
) -> None:
    """List the moves in a direction to lower squares: see :func:`_list_up`."""
    planes[game, 7 * direction] = ((sliders | steppers) >> shift & kept) << shift
    reached = sliders >> shift & kept
    for step in range(1, 7):
        reached = reached >> shift & kept
        planes[game, 7 * direction + step] = reached << shift * U(step + 1)


@kernel()
def clear_moves(game: int, planes: Words) -> None:
    """Leave no move to request."""
    for plane in range(PLANES):
        planes[game, plane] = ZERO


@kernel()
def resolve(state: Words, game: int, passed: int, action: int) -> tuple[int, int, int]:
    """Return what the true board makes of a move that may be requested, and is no pass.

    :param passed: the en passant square.
    :returns: the move made (PASS if it is refused), its target, and the square it captures on (NONE if nothing).
    """
    plane, source = action >> 6, action & 63
    others = pieces_of(state, game, OPPONENT)
    if state[game, PAWN] >> U(source) & ONE:
        return _resolve_pawn(others, passed, action, plane, source)
    if plane >= _KNIGHTS:
        target = source + LEAPS[plane - _KNIGHTS]
        return action, target, target if others >> U(target) & ONE else NONE
    direction, steps = plane // 7, plane % 7 + 1
    if steps == 2 and state[game, KING] >> U(source) & ONE:
        between = _BESIDE_KING if plane == _EAST_2 else _BESIDE_QUEEN
        return PASS if others & between else action, source + 2 * STEPS[direction], NONE
    target = source
    for step in range(steps):
        target += STEPS[direction]
        if others >> U(target) & ONE:
            return ((direction * 7 + step) << 6) | source, target, target
    return action, target, NONE


@kernel()
def _resolve_pawn(others: np.uint64, passed: int, action: int, plane: int, source: int) -> tuple[int, int, int]:
    if plane == _NORTH_2:
        if others >> U(source + 8) & ONE:
            return PASS, source, NONE
        if others >> U(source + 16) & ONE:
            return source, source + 8, NONE  # cut short: plane 0
        return action, source + 16, NONE
    step = PROMOTION_STEPS[(plane - _PROMOTIONS) % 3] if plane >= _PROMOTIONS else STEPS[plane // 7]
    target = source + step
    is_taken = others >> U(target) & ONE
    if step == 8:
        return PASS if is_taken else action, target, NONE
    if is_taken:
        return action, target, target
    if target == passed:
        return action, target, target - 8
    return PASS, source, NONE


@kernel()
def push(state: Words, numbers: Numbers, game: int, taken: int, target: int, capture: int) -> bool:
    """Make the result of a move and give the turn to the other side; return whether a king was captured."""
    numbers[game, EN_PASSANT] = NONE
    numbers[game, HALFMOVES] += 1
    is_king_taken = False
    if capture != NONE:
        numbers[game, HALFMOVES] = 0
        is_king_taken = _take(state, game, U(1) << U(capture))
    if taken != PASS:
        _step(state, numbers, game, taken, target)
    _turn_round(state, numbers, game, capture)
    return is_king_taken


@kernel()
def _take(state: Words, game: int, square: np.uint64) -> bool:
    is_king = (state[game, OPPONENT + KING] & square) != ZERO
    for column in range(OPPONENT, OPPONENT + 6):
        state[game, column] &= ~square
    if is_king:
        state[game, CASTLING] &= ~_RANK_8
    return is_king


@kernel()
def _step(state: Words, numbers: Numbers, game: int, taken: int, target: int) -> None:
    plane, source = taken >> 6, taken & 63
    start, end = ONE << U(source), ONE << U(target)
    both = start | end
    piece = 0
    for column in range(1, 6):
        piece += column * int(state[game, column] >> U(source) & ONE)
    if both & _CASTLERS:
        if piece == KING:
            if plane == _EAST_2:
                state[game, ROOK] ^= _H1 | _F1
            elif plane == _WEST_2:
                state[game, ROOK] ^= _A1 | _D1
            state[game, CASTLING] &= ~_RANK_1
        state[game, CASTLING] &= ~both
    state[game, piece] ^= both
    if piece == PAWN:
        numbers[game, HALFMOVES] = 0
        if target >= 56:
            state[game, PAWN] ^= end
            state[game, KNIGHT + (plane - _PROMOTIONS) // 3 if plane >= _PROMOTIONS else QUEEN] ^= end
        elif plane == _NORTH_2:
            numbers[game, EN_PASSANT] = (source + 8) ^ 56


@kernel()
def _turn_round(state: Words, numbers: Numbers, game: int, capture: int) -> None:
    """Show the position from the other side, which is to move now."""
    for column in range(6):
        own = state[game, column]
        state[game, column] = mirrored(state[game, OPPONENT + column])
        state[game, OPPONENT + column] = mirrored(own)
    state[game, CASTLING] = mirrored(state[game, CASTLING])
    numbers[game, COLOR] ^= 1
    numbers[game, FULLMOVES] += numbers[game, COLOR]  # after a turn of Black's
    numbers[game, PLY] += 1
    numbers[game, LOST] = NONE if capture == NONE else capture ^ 56


@kernel()
def see(state: Words, game: int, square: int) -> np.uint64:
    """Return the second word of a record (:mod:`.layout`): the nine cells of a sense's window.

    A cell's four bits are the number of a piece, counted from 1. Each of them is one bitboard.
    """
    ones = state[game, 0] | state[game, 2] | state[game, 4] | state[game, 6] | state[game, 8] | state[game, 10]
    twos = state[game, 1] | state[game, 2] | state[game, 5] | state[game, 6] | state[game, 9] | state[game, 10]
    fours = state[game, 3] | state[game, 4] | state[game, 5] | state[game, 6] | state[game, 11]
    eights = state[game, 7] | state[game, 8] | state[game, 9] | state[game, 10] | state[game, 11]
    cells = _cells(ones, square) | _cells(twos, square) << U(1) | _cells(fours, square) << U(2)
    return cells | _cells(eights, square) << U(3) | _OUTSIDE[square]


@kernel()
def _cells(squares: np.uint64, square: int) -> np.uint64:
    """Return a bitboard's bits in the window of a square, each as the lowest of a cell's four bits."""
    rank, file = U(square) >> U(3), U(square) & U(7)
    rows = squares << U(8) if rank == ZERO else squares >> (rank - ONE) * U(8)
    low = ((rows & U(255)) << ONE) >> file & U(7)
    middle = (rows >> U(8) & U(255)) << ONE >> file & U(7)
    high = (rows >> U(16) & U(255)) << ONE >> file & U(7)
    return _NIBBLES[low] | _NIBBLES[middle] << U(12) | _NIBBLES[high] << U(24)
