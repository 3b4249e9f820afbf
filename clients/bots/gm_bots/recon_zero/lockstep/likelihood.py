"""Kernels of the opponent's move: its results from each position that may be true, by how likely each request is.

The sets of positions are those of ``gm_env``: a row has the opponent's pieces as it sees the board
(:mod:`gm_env.kernels.expanding`). The requests from a position are the edges of its node (:mod:`.trees`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gm_env.kernels.jit import lowest, mirrored
from gm_env.kernels.layout import CASTLING, EN_PASSANT, NONE, NUMBERS, OPPONENT, PASS, PAWN, PLANES, STATE
from gm_env.kernels.rules import ONE, ZERO, Numbers, U, Words, list_moves, push, resolve
from gm_env.kernels.sampling import mixed

from .compiled import kernel
from .trees import UNKNOWN, Trees, Weights

Column = NDArray[np.uint64]

_H1, _A8, _H8 = ONE << U(7), ONE << U(56), ONE << U(63)
_QUEENSIDE, _KINGSIDE, _EP_BIT = ONE, U(2), U(2)
_RANK_1, _RANK_5, _NOT_A, _NOT_H = U(0xFF), U(0xFF << 32), U(0xFEFEFEFEFEFEFEFE), U(0x7F7F7F7F7F7F7F7F)


@kernel
def plant_requests(trees: Trees, rows: Words, own_state: Words, own_numbers: Numbers, planes: Words) -> None:
    """Make a node of each position with the opponent to move, and its edges: all moves that it may request, and a pass.

    :param own_state: (15,), the player's pieces and castling rights, as the player sees the board.
    :param own_numbers: (11,), with the square that the player's last move passed over, as the opponent sees it.
    :param planes: (1, 73), overwritten.
    """
    trees.used[0] = trees.used[1] = 0
    for each in range(rows.shape[0]):
        first, second, third, rights = rows[each, 0], rows[each, 1], rows[each, 2], rows[each, 3]
        state = trees.states[each]
        for column in range(STATE):
            state[column] = ZERO
        state[0], state[1], state[2] = first & ~(second | third), second & ~(first | third), first & second
        state[3], state[4], state[5] = third & ~(first | second), first & third, second & third
        for column in range(6):
            state[OPPONENT + column] = mirrored(own_state[column])
        state[CASTLING] = mirrored(own_state[CASTLING] & _RANK_1)
        state[CASTLING] |= (ONE if rights & _QUEENSIDE else ZERO) | (_H1 if rights & _KINGSIDE else ZERO)
        for column in range(NUMBERS):
            trees.numbers[each, column] = own_numbers[column]
        plant_edges(trees, each, planes)
    trees.used[0] = rows.shape[0]


@kernel
def plant_edges(trees: Trees, node: int, planes: Words) -> None:
    """Make the edges of a node: all moves that may be requested, and a pass.

    :param planes: (1, 73), overwritten.
    """
    trees.first[node], trees.won[node] = trees.used[1], UNKNOWN
    list_moves(trees.states[node : node + 1], 0, planes)
    edge = trees.used[1]
    for plane in range(PLANES):
        sources = planes[0, plane]
        while sources:
            trees.action[edge] = plane << 6 | int(lowest(sources))
            edge += 1
            sources &= sources - ONE
    trees.action[edge] = PASS
    trees.edges[node] = edge + 1 - trees.used[1]
    trees.used[1] = edge + 1


@kernel
def share_evenly(trees: Trees, begin: int, end: int) -> None:
    """Give all edges of some nodes the same probability."""
    for node in range(begin, end):
        for edge in range(trees.first[node], trees.first[node] + trees.edges[node]):
            trees.prior[edge] = 1 / trees.edges[node]


@kernel
def carry(
    trees: Trees,
    shares: Weights,
    weights: Weights,
    capture: int,
    found: Words,
    table: Column,
    keys: Column,
    carried: Weights,
) -> None:
    """Add to each result of the opponent's move the weights of the positions times the probabilities of the requests.

    :param shares: the probabilities, (edges, kinds of opponents).
    :param weights: of the nodes, (nodes, kinds).
    :param capture: the square on which the opponent captured, as it sees the board; NONE for no capture.
    :param found: the results that are possible, in the table with these keys (:mod:`gm_env.kernels.sets`).
    :param carried: of ``found``, (results, kinds).
    """
    state, numbers = np.empty((1, STATE), np.uint64), np.empty((1, NUMBERS), np.int32)
    for node in range(trees.used[0]):
        passed = trees.numbers[node, EN_PASSANT]
        for edge in range(trees.first[node], trees.first[node] + trees.edges[node]):
            action = int(trees.action[edge])
            taken, target, captured = PASS, 0, NONE
            if action != PASS:
                taken, target, captured = resolve(trees.states, node, passed, action)
            if captured != capture:
                continue
            for column in range(STATE):
                state[0, column] = trees.states[node, column]
            for column in range(NUMBERS):
                numbers[0, column] = trees.numbers[node, column]
            if push(state, numbers, 0, taken, target, captured):
                continue
            index = _find(found, table, keys, _row_of(state, numbers))
            if index != NONE:
                for kind in range(weights.shape[1]):
                    carried[index, kind] += weights[node, kind] * shares[edge, kind]


@kernel
def _row_of(state: Words, numbers: Numbers) -> tuple[np.uint64, np.uint64, np.uint64, np.uint64]:
    """Return the row of the opponent's pieces, from a position in which the player is to move."""
    pawns, knights, bishops = state[0, OPPONENT], state[0, OPPONENT + 1], state[0, OPPONENT + 2]
    rooks, queens, kings = state[0, OPPONENT + 3], state[0, OPPONENT + 4], state[0, OPPONENT + 5]
    rights = _QUEENSIDE if state[0, CASTLING] & _A8 else ZERO
    rights |= _KINGSIDE if state[0, CASTLING] & _H8 else ZERO
    passed = numbers[0, EN_PASSANT]
    if passed != NONE:
        pawn = ONE << U(passed - 8)
        if ((pawn << ONE) & _NOT_A | (pawn >> ONE) & _NOT_H) & state[0, PAWN] & _RANK_5:
            rights |= ONE << _EP_BIT + U(passed & 7)
    digits = pawns | bishops | queens, knights | bishops | kings, rooks | queens | kings
    return mirrored(digits[0]), mirrored(digits[1]), mirrored(digits[2]), rights


@kernel
def move_weights(
    rows: Words,
    weights: Weights,
    squares: np.uint64,
    rights: np.uint64,
    found: Words,
    table: Column,
    keys: Column,
    moved: Weights,
) -> None:
    """Add the weights of positions to those that they became.

    :param squares: where a piece of the opponent's was captured.
    :param rights: the bits of the fourth word that are gone.
    :param found: the positions that are left, in the table with these keys.
    :param moved: of ``found``, as ``weights``.
    """
    for each in range(rows.shape[0]):
        row = rows[each, 0] & ~squares, rows[each, 1] & ~squares, rows[each, 2] & ~squares, rows[each, 3] & ~rights
        index = _find(found, table, keys, row)
        if index != NONE:
            for kind in range(weights.shape[1]):
                moved[index, kind] += weights[each, kind]


@kernel
def _find(rows: Words, table: Column, keys: Column, row: tuple[np.uint64, np.uint64, np.uint64, np.uint64]) -> int:
    """Return the index of a row; NONE if it is not there."""
    mask = U(table.size - 1)
    word = mixed(row[0] * keys[0] + row[1] * keys[1] + row[2] * keys[2] + row[3] * keys[3])
    slot = word & mask
    while table[slot]:
        index = int(table[slot] & U(0xFFFFFFFF)) - 1
        if row == (rows[index, 0], rows[index, 1], rows[index, 2], rows[index, 3]):
            return index
        slot = slot + ONE & mask
    return NONE
