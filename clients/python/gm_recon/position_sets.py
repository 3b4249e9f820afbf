"""Sets of possible positions: what :mod:`.possible` asks of one, and the default one, in Python.

A position is the integer of :mod:`.side_moves` with the opponent's pieces, castling rights and en passant; the player's
own are known. Methods whose name ends in ``_steps`` do their work in steps and return their result.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple, Protocol, Self, TypeVar

import chess
from chess import Bitboard, Color, Square

from .side_moves import ALL, LANES, MoveTables, Successors, column, squares

_T = TypeVar("_T")

#: Positions expanded in one step, and positions compared with an observation in one step: below a millisecond each.
BATCH, LARGE_BATCH = 16, 2_048
#: Positions whose pieces are counted in one step.
_COUNTED = 512


class Rng(Protocol):
    """What decides which positions are dropped, and which are drawn: a :class:`random.Random`."""

    def getrandbits(self, k: int, /) -> int:
        """Return a number of so many random bits."""

    def sample(self, population: Sequence[int], k: int) -> list[int]:
        """Return so many different elements."""

    def choice(self, seq: Sequence[int]) -> int:
        """Return an element."""


class OpponentMove(NamedTuple):
    """What a player knows of a move of its opponent's.

    :ivar color: the opponent.
    :ivar others: the player's squares before the move.
    :ivar other_pawns: those of its pawns.
    :ivar ep_square: the square that one of them has just passed, or None.
    :ivar capture: the square of the move's capture, or None.
    """

    color: Color
    others: Bitboard
    other_pawns: Bitboard
    ep_square: Square | None
    capture: Square | None


class Evidence(NamedTuple):
    """What an observation says of the true position.

    :ivar mask: the bits that are known.
    :ivar expected: their values.
    :ivar some: bits of which one is set; 0 if nothing is known of that kind.
    """

    mask: int = 0
    expected: int = 0
    some: int = 0


class PositionSet(Protocol):
    """A set of positions, which never changes. Its order is always the same for the same observations."""

    @classmethod
    def gathered(cls, color: Color, positions: Collection[int]) -> Self:
        """Return a set of different positions.

        :param color: whose pieces they have.
        """

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[int]: ...

    def __contains__(self, position: object) -> bool: ...

    def moved_steps(
        self, move: OpponentMove, evidence: Evidence, cap: int, rng: Rng
    ) -> Generator[None, None, tuple[Self, bool]]:
        """Return all results of the opponent's move that fit, and True.

        If there are more than ``cap``, return that many, each equally likely to be among them, and False.
        """

    def fitting_steps(self, evidence: Evidence) -> Generator[None, None, Self]:
        """Return the positions that fit an observation."""

    def without_steps(self, bits: int) -> Generator[None, None, Self]:
        """Return the positions without these bits: those of whole squares, of castling rights, and of en passant."""

    def drawn(self, count: int, rng: Rng) -> Self:
        """Return this many positions, drawn at random, in random order. There must be as many."""

    def occupied(self) -> Bitboard:
        """Return the squares on which one of the positions has a piece."""

    def counts_at(self, square: Square) -> list[int]:
        """Return how many positions have a pawn, knight, bishop, rook, queen and king on a square."""

    def counts_steps(self) -> Generator[None, None, list[int]]:
        """Return the same for all squares: 64 counts of pawns, 64 of knights and so on."""

    def pairs_alike(self, views: Sequence[Bitboard]) -> list[int]:
        """Return for each view how many ordered pairs of positions have the same pieces on its squares.

        A position counts as a pair with itself.
        """


class PythonPositions:
    """A set of integers. It needs nothing but Python; its steps take less than a millisecond each."""

    def __init__(self, positions: Collection[int], tables: MoveTables) -> None:
        """:param tables: the moves of pieces, which all sets of one player share."""
        self._positions, self._tables = positions, tables

    @classmethod
    def gathered(cls, color: Color, positions: Collection[int]) -> Self:
        """Do :meth:`PositionSet.gathered`."""
        return cls(set(positions), MoveTables())

    def __len__(self) -> int:
        """Return the number of positions."""
        return len(self._positions)

    def __iter__(self) -> Iterator[int]:
        """Yield the positions."""
        return iter(self._positions)

    def __contains__(self, position: object) -> bool:
        """Return whether a position is in the set."""
        return position in self._positions

    def moved_steps(
        self, move: OpponentMove, evidence: Evidence, cap: int, rng: Rng
    ) -> Generator[None, None, tuple[Self, bool]]:
        """Do :meth:`PositionSet.moved_steps`.

        The ``cap`` positions are the first in an order that depends only on chance and on the positions, not on how
        they were reached. (The hash of an integer is its remainder modulo a prime of 61 bits, so a random factor mixes
        them well.)
        """
        successors, fits = Successors(self._tables, *move), _filter(evidence)
        found: set[int] = set()
        factor, last = rng.getrandbits(61) | 1, None
        positions = iter(self._positions)
        while batch := list(islice(positions, BATCH)):
            fresh: set[int] = set()
            for position in batch:
                successors.add(position, fresh)
            fresh = fits(fresh)
            found |= fresh if last is None else {each for each in fresh if hash(each * factor) <= last}
            if len(found) > 2 * cap:
                found, last = yield from _first(found, factor, cap)
            yield
        if len(found) > cap:
            found, last = yield from _first(found, factor, cap)
        return self._of(found), last is None

    def fitting_steps(self, evidence: Evidence) -> Generator[None, None, Self]:
        """Do :meth:`PositionSet.fitting_steps`."""
        return self._of((yield from _mapped(_filter(evidence), self._positions)))

    def without_steps(self, bits: int) -> Generator[None, None, Self]:
        """Do :meth:`PositionSet.without_steps`."""
        left = ALL & ~bits
        return self._of((yield from _mapped(lambda positions: {each & left for each in positions}, self._positions)))

    def drawn(self, count: int, rng: Rng) -> Self:
        """Do :meth:`PositionSet.drawn`."""
        return self._of(rng.sample(list(self._positions), count))

    def occupied(self) -> Bitboard:
        """Do :meth:`PositionSet.occupied`."""
        return squares(self._positions)

    def counts_at(self, square: Square) -> list[int]:
        """Do :meth:`PositionSet.counts_at`."""
        mask = column(square)
        found = Counter(position & mask for position in self._positions)
        return [
            sum(count for key, count in found.items() if key >> 64 * each + square & 1) for each in chess.PIECE_TYPES
        ]

    def counts_steps(self) -> Generator[None, None, list[int]]:
        """Do :meth:`PositionSet.counts_steps`.

        Digits of the counts are kept as columns: the n-th number holds the n-th binary digit of every count, so that
        one addition counts all bits of a position.
        """
        digits: list[int] = []
        left = iter(self._positions)
        while batch := list(islice(left, _COUNTED)):
            _add(digits, batch)
            yield
        return [sum((digit >> bit & 1) << place for place, digit in enumerate(digits)) for bit in range(64, 64 * LANES)]

    def pairs_alike(self, views: Sequence[Bitboard]) -> list[int]:
        """Do :meth:`PositionSet.pairs_alike`."""
        return list(map(self._pairs_alike, views))

    def _pairs_alike(self, view: Bitboard) -> int:
        mask = sum(view << 64 * lane for lane in range(LANES))
        counts = Counter(position & mask for position in self._positions).values()
        return sum(count * count for count in counts)

    def _of(self, positions: Collection[int]) -> Self:
        return type(self)(positions, self._tables)


#: Selects or changes positions.
_Change = Callable[[Collection[int]], set[int]]


def _filter(evidence: Evidence) -> _Change:
    mask, expected, some = evidence
    if some:
        return lambda positions: {each for each in positions if each & mask == expected and each & some}
    if mask:
        return lambda positions: {each for each in positions if each & mask == expected}
    return set


def _first(positions: set[int], factor: int, count: int) -> Generator[None, None, tuple[set[int], int]]:
    """Return the first positions in the order of a factor, and the rank of the last of them."""
    ranks: list[int] = []
    left = iter(positions)
    while batch := list(islice(left, LARGE_BATCH)):
        ranks += [hash(position * factor) for position in batch]
        yield
    last = yield from _nth(ranks, count)
    first = yield from _mapped(lambda some: {each for each in some if hash(each * factor) <= last}, positions)
    return first, last


def _mapped(change: _Change, positions: Collection[int]) -> Generator[None, None, set[int]]:
    """Return what becomes of positions, in steps."""
    if len(positions) <= LARGE_BATCH:
        return change(positions)
    found: set[int] = set()
    left = iter(positions)
    while batch := list(islice(left, LARGE_BATCH)):
        found |= change(batch)
        yield
    return found


def _nth(numbers: list[int], n: int) -> Generator[None, None, int]:
    """Return the n-th smallest of some numbers in any order, in steps. (Sorting cannot be done in steps.)"""
    while True:
        pivot, below, above = numbers[0], list[int](), list[int]()
        for begin in range(0, len(numbers), LARGE_BATCH):
            batch = numbers[begin : begin + LARGE_BATCH]
            below += [each for each in batch if each < pivot]
            above += [each for each in batch if each > pivot]
            yield
        if n <= len(below):
            numbers = below
        elif n <= len(numbers) - len(above):
            return pivot
        else:
            numbers, n = above, n - (len(numbers) - len(above))


def _add(digits: list[int], numbers: Iterable[int]) -> None:
    for carry in numbers:
        for place, digit in enumerate(digits):
            digits[place], carry = digit ^ carry, digit & carry
            if not carry:
                break
        else:
            if carry:
                digits.append(carry)


def finish(steps: Generator[None, None, _T]) -> _T:
    """Do all steps of some work at once, and return what it returns."""
    while True:
        try:
            next(steps)
        except StopIteration as stop:
            result: _T = stop.value
            return result
