"""Kernels that list every result of a side's next move, by what its opponent knows of it.

A position holds one side's pieces, as that side sees the board: it moves up, as in :mod:`.rules`. Its row has four
words. The first three are the binary digits of a number on each square: 0 for none, 1 to 6 for a pawn, knight, bishop,
rook, queen and king. The fourth has a bit each for castling on the queen's side and on the king's side, and one for
each file on which a pawn may be captured en passant. The other side's pieces are the same in all positions.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .jit import kernel, lowest
from .rules import LEAP_KEPT, LEAP_LEFT, LEAP_RIGHT, LEAPS, ONE, STEPS, ZERO, U, Words

#: The words of a row.
ROW = 4
#: The words that say what all positions have in common: the other side's squares; the square of the move's capture, if
#: any; where a pawn that has made two steps may be captured en passant; and the square on which the move may have
#: captured en passant.
OTHERS, CAPTURE, PASSING, PASSED = range(4)
TURN = 4
#: More results than a move can have: one for each pair of an own and a free square, of which there are 32 x 32 at most;
#: three more for each of eight pawns that are promoted; two castlings and a pass.
MOST_RESULTS = 1_100

_PAWN, _KNIGHT, _BISHOP, _ROOK, _QUEEN, _KING = range(1, 7)
_QUEENSIDE, _KINGSIDE, _RIGHTS = U(1), U(2), U(3)
_EP_BIT = 2
_BESIDE_KING, _BESIDE_QUEEN = U(0x60), U(0x0E)
_TO_KINGSIDE, _TO_QUEENSIDE = U(0x50), U(0x14)  # e1 and g1; e1 and c1
_ROOK_TO_KINGSIDE, _ROOK_TO_QUEENSIDE = U(0xA0), U(0x09)  # h1 and f1; a1 and d1
_RANK_3, _RANK_8 = U(0xFF << 16), U(0xFF << 56)
_ALL, _NOT_A, _NOT_H = U(0xFFFFFFFFFFFFFFFF), U(0xFEFEFEFEFEFEFEFE), U(0x7F7F7F7F7F7F7F7F)
#: By direction, clockwise from the north: how far a step shifts a bitboard to the left or to the right, and the squares
#: where it may arrive without going round the board's edge.
_LEFT = np.array([8, 9, 1, 0, 0, 0, 0, 7], np.uint64)
_RIGHT = np.array([0, 0, 0, 7, 8, 9, 1, 0], np.uint64)
_KEPT = np.array([_ALL, _NOT_A, _NOT_A, _NOT_A, _ALL, _NOT_H, _NOT_H, _NOT_H], np.uint64)

Row = tuple[np.uint64, np.uint64, np.uint64, np.uint64]


@kernel()
def changed(row: Row, piece: int, squares: np.uint64) -> Row:
    """Return a row after a piece was put on free squares and taken from its own."""
    first = row[0] ^ (squares if piece & 1 else ZERO)
    second = row[1] ^ (squares if piece & 2 else ZERO)
    third = row[2] ^ (squares if piece & 4 else ZERO)
    return first, second, third, row[3]


@kernel()
def _write(results: Words, count: int, row: Row) -> int:
    results[count, 0], results[count, 1], results[count, 2], results[count, 3] = row
    return count + 1


@kernel()
def _moved(row: Row, piece: int, source: int, target: int) -> Row:
    """Return a row after a piece's move, with the castling rights that are left."""
    first, second, third, rights = changed(row, piece, ONE << U(source) | ONE << U(target))
    if piece == _KING:
        rights &= ~_RIGHTS
    elif piece == _ROOK and source == 0:
        rights &= ~_QUEENSIDE
    elif piece == _ROOK and source == 7:
        rights &= ~_KINGSIDE
    return first, second, third, rights


@kernel()
def _add_lines(
    results: Words, count: int, row: Row, piece: int, movers: np.uint64, free: np.uint64, landing: np.uint64
) -> int:
    """Add the moves of a king, or of all bishops, rooks or queens.

    :param free: the squares that may be passed.
    :param landing: the squares that may be reached.
    """
    first, stride = (1 if piece == _BISHOP else 0), (1 if piece >= _QUEEN else 2)
    for direction in range(first, 8, stride):
        left, right, kept = _LEFT[direction], _RIGHT[direction], _KEPT[direction]
        passing, distance = movers, 0
        while passing:
            reached = (passing << left) >> right & kept
            distance += STEPS[direction]
            landed = reached & landing
            while landed:
                target = int(lowest(landed))
                count = _write(results, count, _moved(row, piece, target - distance, target))
                landed &= landed - ONE
            passing = ZERO if piece == _KING else reached & free
    return count


@kernel()
def _add_leaps(results: Words, count: int, row: Row, knights: np.uint64, landing: np.uint64) -> int:
    for leap in range(8):
        landed = (knights << LEAP_LEFT[leap]) >> LEAP_RIGHT[leap] & LEAP_KEPT[leap] & landing
        while landed:
            target = int(lowest(landed))
            count = _write(results, count, _moved(row, _KNIGHT, target - LEAPS[leap], target))
            landed &= landed - ONE
    return count


@kernel()
def _add_pawn(results: Words, count: int, row: Row, source: np.uint64, target: np.uint64) -> int:
    """Add a pawn's move, or its promotions to each piece."""
    if not target & _RANK_8:
        return _write(results, count, changed(row, _PAWN, source | target))
    left = changed(row, _PAWN, source)
    for piece in range(_KNIGHT, _KING):
        count = _write(results, count, changed(left, piece, target))
    return count


@kernel()
def _add_pushes(results: Words, count: int, row: Row, pawns: np.uint64, free: np.uint64, passing: np.uint64) -> int:
    once = pawns << U(8) & free
    twice = (once & _RANK_3) << U(8) & free
    while once:
        target = once & (ZERO - once)
        count = _add_pawn(results, count, row, target >> U(8), target)
        once ^= target
    while twice:
        target = twice & (ZERO - twice)
        first, second, third, rights = changed(row, _PAWN, target >> U(16) | target)
        if target & passing:
            rights |= ONE << U(_EP_BIT) + (lowest(target) & U(7))
        count = _write(results, count, (first, second, third, rights))
        twice ^= target
    return count


@kernel()
def _add_castling(results: Words, count: int, row: Row, held: np.uint64) -> int:
    castled = (row[0], row[1], row[2], row[3] & ~_RIGHTS)
    if row[3] & _KINGSIDE and not held & _BESIDE_KING:
        count = _write(results, count, changed(changed(castled, _KING, _TO_KINGSIDE), _ROOK, _ROOK_TO_KINGSIDE))
    if row[3] & _QUEENSIDE and not held & _BESIDE_QUEEN:
        count = _write(results, count, changed(changed(castled, _KING, _TO_QUEENSIDE), _ROOK, _ROOK_TO_QUEENSIDE))
    return count


@kernel()
def _add_pawn_captures(results: Words, count: int, row: Row, pawns: np.uint64, target: np.uint64) -> int:
    sources = (target >> U(9) & _NOT_H | target >> U(7) & _NOT_A) & pawns
    while sources:
        source = sources & (ZERO - sources)
        count = _add_pawn(results, count, row, source, target)
        sources ^= source
    return count


@kernel()
def pieces_in(row: Row) -> tuple[np.uint64, np.uint64, np.uint64, np.uint64, np.uint64, np.uint64, np.uint64]:
    """Return a row's occupied squares, and those of its pawns, knights, bishops, rooks, queens and king."""
    first, second, third, _ = row
    return (
        first | second | third,
        first & ~(second | third),
        second & ~(first | third),
        first & second,
        third & ~(first | second),
        first & third,
        second & third,
    )


@kernel()
def list_results(positions: Words, index: int, turn: NDArray[np.uint64], results: Words) -> int:
    """Write all results of a position's next move, some perhaps twice; return how many.

    A pass, or a request that the board refuses, leaves the position as it is. Nothing may be captured en passant in a
    position, as its opponent has just moved.
    """
    row = positions[index, 0], positions[index, 1], positions[index, 2], positions[index, 3]
    pieces = pieces_in(row)
    held, pawns = pieces[0] | turn[OTHERS], pieces[_PAWN]
    capture, count = turn[CAPTURE], 0
    landing = capture if capture else ~held
    if not capture:
        count = _write(results, count, row)
        count = _add_pushes(results, count, row, pawns, ~held, turn[PASSING])
        count = _add_castling(results, count, row, held)
    else:
        for target in (capture, turn[PASSED]):
            count = _add_pawn_captures(results, count, row, pawns, target)
    count = _add_leaps(results, count, row, pieces[_KNIGHT], landing)
    for piece in range(_BISHOP, _KING + 1):
        count = _add_lines(results, count, row, piece, pieces[piece], ~held, landing)
    return count
