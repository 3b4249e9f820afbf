"""Kernels of attacks in a true position, as the side to move sees it."""

from __future__ import annotations

import numpy as np

from gm_env.kernels.layout import BISHOP, KING, KNIGHT, OPPONENT, PAWN, QUEEN, ROOK
from gm_env.kernels.rules import LEAPS, ONE, STEPS, ZERO, U, Words, pieces_of

from .compiled import kernel


def _reached(steps: np.ndarray[tuple[int], np.dtype[np.int64]]) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    """Return for each square those that are one of the steps away, on the board."""
    table = np.zeros(64, np.uint64)
    for square in range(64):
        for step in steps:
            target = square + int(step)
            if 0 <= target < 64 and abs((target & 7) - (square & 7)) <= 2:
                table[square] |= np.uint64(1) << np.uint64(target)
    return table


def _lines() -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    """Return how many squares there are from each square in each direction."""
    table = np.zeros((64, 8), np.int64)
    for square in range(64):
        rank, file = divmod(square, 8)
        up, right, down, left = 7 - rank, 7 - file, rank, file
        table[square] = [up, min(up, right), right, min(right, down), down, min(down, left), left, min(left, up)]
    return table


_KNIGHT_REACH = _reached(LEAPS)
_KING_REACH = _reached(STEPS)
#: What a pawn attacks, by whether it is the opponent's.
_PAWN_REACH = np.array([_reached(np.array([7, 9])), _reached(np.array([-7, -9]))])
_LENGTH = _lines()


@kernel
def _attackers(state: Words, node: int, square: int, side: int, pawns: np.uint64) -> np.uint64:
    """Return the pieces of a side that attack a square.

    :param side: the column of its first piece.
    :param pawns: the squares from which its pawns would attack.
    """
    found: np.uint64 = pawns & state[node, side + PAWN]
    found |= _KNIGHT_REACH[square] & state[node, side + KNIGHT]
    found |= _KING_REACH[square] & state[node, side + KING]
    occupied = pieces_of(state, node, 0) | pieces_of(state, node, OPPONENT)
    for direction in range(8):
        sliders = state[node, side + QUEEN] | state[node, side + (BISHOP if direction & 1 else ROOK)]
        target = square
        for _ in range(_LENGTH[square, direction]):
            target += STEPS[direction]
            bit = ONE << U(target)
            if occupied & bit:
                found |= sliders & bit
                break
    return found


@kernel
def attackers_of(state: Words, node: int, square: int) -> np.uint64:
    """Return the pieces of the side to move that attack a square."""
    pawns = ZERO
    if square >= 8:
        pawns |= ONE << U(square - 7) if square & 7 != 7 else ZERO
        pawns |= ONE << U(square - 9) if square & 7 != 0 else ZERO
    return _attackers(state, node, square, 0, pawns)


@kernel
def attackers_of_own(state: Words, node: int, square: int) -> np.uint64:
    """Return the pieces of the opponent that attack a square."""
    pawns = ZERO
    if square < 56:
        pawns |= ONE << U(square + 9) if square & 7 != 7 else ZERO
        pawns |= ONE << U(square + 7) if square & 7 != 0 else ZERO
    return _attackers(state, node, square, OPPONENT, pawns)


@kernel
def attacked_by(kind: int, side: int, square: int, occupied: np.uint64) -> np.uint64:
    """Return the squares that a piece attacks, whoever stands on them.

    :param side: the column of the first piece of its side.
    :param occupied: the squares of all pieces.
    """
    found: np.uint64 = ZERO
    if kind == PAWN:
        found |= _PAWN_REACH[side // OPPONENT, square]
    elif kind == KNIGHT:
        found |= _KNIGHT_REACH[square]
    elif kind == KING:
        found |= _KING_REACH[square]
    for direction in range(8):
        if kind == QUEEN or kind == (BISHOP if direction & 1 else ROOK):
            target = square
            for _ in range(_LENGTH[square, direction]):
                target += STEPS[direction]
                found |= ONE << U(target)
                if occupied & ONE << U(target):
                    break
    return found
