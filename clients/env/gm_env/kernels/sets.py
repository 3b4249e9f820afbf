"""Kernels on sets of positions, which are the rows of :mod:`.expanding`: a set in a table, selection, and counts.

A table finds positions by their hashes, and compares them whole: none is lost to a collision, or merged with another.
Each entry is a word, 0 if it is free: the upper half of the hash, and the number of the row, from 1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .expanding import ROW, Row, list_results, pieces_in
from .jit import kernel, lowest
from .rules import ONE, ZERO, U, Words
from .sampling import mixed

Column = NDArray[np.uint64]

#: The rows of what an observation says (``gm_recon.position_sets.Evidence``), and their words: the occupied squares,
#: those of each piece, and the fourth word of a row.
MASK, EXPECTED, SOME = range(3)
EVIDENCE, LANES = 3, 8

_TAG, _NUMBER = U(0xFFFFFFFF00000000), U(0xFFFFFFFF)


@kernel()
def _row(positions: Words, index: int) -> Row:
    return positions[index, 0], positions[index, 1], positions[index, 2], positions[index, 3]


@kernel()
def _hashed(row: Row, keys: Column) -> np.uint64:
    """Return the hash of a row by four odd numbers."""
    return mixed(row[0] * keys[0] + row[1] * keys[1] + row[2] * keys[2] + row[3] * keys[3])


@kernel("void(uint64, uint64[::1])")
def make_keys(seed: np.uint64, keys: Column) -> None:
    """Write odd numbers that depend on a seed: hashes by other ones have nothing to do with each other."""
    for number in range(keys.size):
        keys[number] = mixed(mixed(seed) + U(number)) | ONE


@kernel()
def _put(positions: Words, count: int, table: Column, row: Row, word: np.uint64) -> int:
    """Return the index of a row with this hash. If it is new, write it behind the others, at index ``count``."""
    mask = U(table.size - 1)
    slot, tag = word & mask, word & _TAG
    while table[slot]:
        if table[slot] & _TAG == tag:
            index = int(table[slot] & _NUMBER) - 1
            if row == _row(positions, index):
                return index
        slot = slot + ONE & mask
    table[slot] = tag | U(count + 1)
    positions[count, 0], positions[count, 1], positions[count, 2], positions[count, 3] = row
    return count


@kernel()
def _fits(row: Row, evidence: Words) -> bool:
    lanes = pieces_in(row)
    wrong, some, is_some_asked = ZERO, ZERO, ZERO
    for lane in range(7):
        wrong |= lanes[lane] & evidence[MASK, lane] ^ evidence[EXPECTED, lane]
        some |= lanes[lane] & evidence[SOME, lane]
        is_some_asked |= evidence[SOME, lane]
    wrong |= row[3] & evidence[MASK, 7] ^ evidence[EXPECTED, 7]
    some |= row[3] & evidence[SOME, 7]
    is_some_asked |= evidence[SOME, 7]
    return wrong == ZERO and (some != ZERO or is_some_asked == ZERO)


@kernel(
    "UniTuple(int64, 2)(uint64[:, ::1], int64, int64, uint64[::1], uint64[:, ::1], boolean, uint64[:, ::1], int64,"
    " uint64[::1], uint64[::1], uint64, int64, uint64[:, ::1], uint64[:, ::1])"
)
def expand(
    positions: Words,
    start: int,
    stop: int,
    turn: Column,
    evidence: Words,
    is_checked: bool,
    found: Words,
    count: int,
    table: Column,
    keys: Column,
    last: np.uint64,
    most: int,
    results: Words,
    words: Words,
) -> tuple[int, int]:
    """Add the results of the next move of some positions to a set.

    :param is_checked: whether to add only those that fit the evidence.
    :param count: the rows in use of ``found``.
    :param last: the largest hash to add.
    :param most: end early once there are more.
    :param results: ``uint64[MOST_RESULTS, ROW]`` to work in; ``words`` is ``uint64[MOST_RESULTS, 2]``.
    :returns: the first position that was not expanded, as the set is full, and the new count.
    """
    mask = U(table.size - 1)
    for index in range(start, stop):
        made = list_results(positions, index, turn, results)
        if count > most or count + made > found.shape[0]:
            return index, count
        for result in range(made):
            word = _hashed(_row(results, result), keys)
            words[result, 0] = word
            words[result, 1] = table[word & mask]  # all are fetched from memory at the same time
        for result in range(made):
            row, word = _row(results, result), words[result, 0]
            if word <= last and (not is_checked or _fits(row, evidence)):
                count = max(count, _put(found, count, table, row, word) + 1)
    return stop, count


@kernel("void(uint64[:, ::1], int64, uint64[::1], uint64[::1])")
def fill(positions: Words, count: int, table: Column, keys: Column) -> None:
    """Enter different rows into an empty table."""
    mask = U(table.size - 1)
    for index in range(count):
        word = _hashed(_row(positions, index), keys)
        slot = word & mask
        while table[slot]:
            slot = slot + ONE & mask
        table[slot] = word & _TAG | U(index + 1)


@kernel("void(uint64[:, ::1], uint64[::1], uint64[::1])")
def hash_all(positions: Words, keys: Column, words: Column) -> None:
    """Write the hash of each row."""
    for index in range(positions.shape[0]):
        words[index] = _hashed(_row(positions, index), keys)


@kernel("int64(uint64[:, ::1], uint64[:, ::1], uint64[:, ::1])")
def select(positions: Words, evidence: Words, found: Words) -> int:
    """Copy the rows that fit the evidence; return how many."""
    count = 0
    for index in range(positions.shape[0]):
        if _fits(_row(positions, index), evidence):
            for word in range(ROW):
                found[count, word] = positions[index, word]
            count += 1
    return count


@kernel("int64(uint64[:, ::1], uint64, uint64, uint64[:, ::1], uint64[::1], uint64[::1])")
def clear(positions: Words, squares: np.uint64, rights: np.uint64, found: Words, table: Column, keys: Column) -> int:
    """Write the positions without the pieces on some squares, and without some bits of the fourth word.

    :returns: how many are left, as some may have become equal.
    """
    count = 0
    for index in range(positions.shape[0]):
        first, second, third, bits = _row(positions, index)
        row = first & ~squares, second & ~squares, third & ~squares, bits & ~rights
        count = max(count, _put(found, count, table, row, _hashed(row, keys)) + 1)
    return count


@kernel("boolean(uint64[:, ::1], uint64, uint64)")
def has_any(positions: Words, squares: np.uint64, rights: np.uint64) -> bool:
    """Return whether a position has a piece on one of some squares, or one of some bits of the fourth word."""
    for index in range(positions.shape[0]):
        first, second, third, bits = _row(positions, index)
        if (first | second | third) & squares or bits & rights:
            return True
    return False


@kernel("int64(uint64[:, ::1], uint64[::1])")
def find(positions: Words, wanted: Column) -> int:
    """Return the index of a row; -1 if it is not there."""
    for index in range(positions.shape[0]):
        if _row(positions, index) == (wanted[0], wanted[1], wanted[2], wanted[3]):
            return index
    return -1


@kernel("void(uint64[:, ::1], int64[:, ::1])")
def count_pieces(positions: Words, counts: NDArray[np.int64]) -> None:
    """Add the numbers of pawns, knights, bishops, rooks, queens and kings on each square to ``int64[6, 64]``."""
    for index in range(positions.shape[0]):
        first, second, third, _ = _row(positions, index)
        held = first | second | third
        while held:
            square = lowest(held)
            piece = (first >> square & ONE) + ((second >> square & ONE) << ONE) + ((third >> square & ONE) << U(2))
            counts[int(piece) - 1, int(square)] += 1
            held &= held - ONE


@kernel("void(uint64[:, ::1], uint64[::1], int64[::1], int64[::1], uint64[:, ::1], uint64[::1], uint64[::1])")
def count_alike(
    positions: Words,
    views: Column,
    pairs: NDArray[np.int64],
    counts: NDArray[np.int64],
    seen: Words,
    table: Column,
    keys: Column,
) -> None:
    """Write for each view how many ordered pairs of rows have the same pieces on its squares.

    A row counts as a pair with itself.

    :param counts: room for as many numbers as there are rows; ``seen`` is room for as many rows.
    """
    for view in range(views.size):
        squares, count = views[view], 0
        pairs[view] = 0
        for slot in range(table.size):
            table[slot] = ZERO
        for index in range(positions.shape[0]):
            first, second, third, _ = _row(positions, index)
            row = first & squares, second & squares, third & squares, ZERO
            at = _put(seen, count, table, row, _hashed(row, keys))
            if at == count:
                counts[at] = 0
                count += 1
            pairs[view] += 2 * counts[at] + 1
            counts[at] += 1
