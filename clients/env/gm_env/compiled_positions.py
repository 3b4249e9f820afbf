"""Sets of possible positions as rows of an array, for :mod:`gm_recon.possible`: the same sets, by compiled kernels."""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterator, Sequence
from typing import Self

import chess
import numpy as np
from chess import Bitboard, Color, Square
from numpy.typing import NDArray

from gm_recon.position_sets import Evidence, OpponentMove, Rng
from gm_recon.side_moves import EP_SHIFT

from .kernels import sets
from .kernels.expanding import CAPTURE, MOST_RESULTS, OTHERS, PASSED, PASSING, ROW, TURN
from .kernels.rules import Words
from .kernels.sets import LANES

#: Positions expanded in one step, in less than a millisecond.
_BATCH = 512
#: Rows of a new set for each position that it comes from; it grows if they are too few.
_LIKELY = 24
#: The largest hash.
_ALL = np.uint64(2**64 - 1)


class CompiledPositions:
    """A set of positions of 32 bytes each, and up to some 100 while those after a move are listed.

    :class:`Beliefs` keeps its positions so, and so may a bot's tracker: ``Tracker.of(state,
    backend=gm_env.CompiledPositions)``. A turn from a hundred positions or more then takes a small part of the time.

    It gives the same positions as ``gm_recon.position_sets.PythonPositions``, in the order in which they were found: so
    other ones are drawn, and if there are more than the cap, others are kept. Kernels release the GIL. A step takes
    some milliseconds at most for a hundred thousand positions, in which other threads may run.
    """

    def __init__(self, color: Color, rows: Words) -> None:
        """:param color: whose pieces the positions have.
        :param rows: the positions (:mod:`gm_env.kernels.expanding`).
        """
        self._color, self._rows = color, rows

    @classmethod
    def gathered(cls, color: Color, positions: Collection[int]) -> Self:
        """Do :meth:`gm_recon.position_sets.PositionSet.gathered`."""
        return cls(color, _rows(positions, color))

    @property
    def rows(self) -> Words:
        """The positions, uint64[count, 4]: :mod:`gm_env.kernels.expanding` says what the words are."""
        return self._rows

    def __len__(self) -> int:
        """Return the number of positions."""
        return len(self._rows)

    def __iter__(self) -> Iterator[int]:
        """Yield the positions as integers."""
        first, second, third, rights = self._rows.T
        words = np.empty((len(self), LANES), "<u8")
        pieces = [
            first & ~(second | third),
            second & ~(first | third),
            first & second,
            third & ~(first | second),
            first & third,
            second & third,
        ]
        for lane, squares in enumerate([first | second | third, *pieces]):
            words[:, lane] = squares if self._color else squares.byteswap()
        words[:, LANES - 1] = rights
        return (int.from_bytes(word.tobytes(), "little") for word in words)

    def __contains__(self, position: object) -> bool:
        """Return whether a position is in the set."""
        return isinstance(position, int) and sets.find(self._rows, _rows([position], self._color)[0]) >= 0

    def moved_steps(
        self, move: OpponentMove, evidence: Evidence, cap: int, rng: Rng
    ) -> Generator[None, None, tuple[Self, bool]]:
        """Do :meth:`gm_recon.position_sets.PositionSet.moved_steps`.

        The ``cap`` positions are those with the smallest hashes, by random keys.
        """
        found = _Found(min(_LIKELY * len(self), 2 * cap), rng.getrandbits(61))
        turn, known = self._turn(move), self._lanes(evidence)
        start = 0
        while start < len(self):
            stop = min(start + _BATCH, len(self))
            start = found.expand(self._rows, start, stop, turn, known, any(evidence), 2 * cap)
            if found.count > 2 * cap:
                found.keep(cap)
            yield
        if found.count > cap:
            found.keep(cap)
        return self._of(found.taken()), bool(found.last == _ALL)

    def fitting_steps(self, evidence: Evidence) -> Generator[None, None, Self]:
        """Do :meth:`gm_recon.position_sets.PositionSet.fitting_steps`."""
        if not any(evidence):
            return self
        yield
        found = np.empty_like(self._rows)
        return self._of(found[: sets.select(self._rows, self._lanes(evidence), found)].copy())

    def without_steps(self, bits: int) -> Generator[None, None, Self]:
        """Do :meth:`gm_recon.position_sets.PositionSet.without_steps`."""
        squares, *_, rights = _words([bits], self._color)[0]
        if not sets.has_any(self._rows, squares, rights):
            return self
        yield
        found = _Found(len(self))
        found.count = sets.clear(self._rows, squares, rights, found.rows, found.table, found.keys)
        return self._of(found.taken())

    def drawn(self, count: int, rng: Rng) -> Self:
        """Do :meth:`gm_recon.position_sets.PositionSet.drawn`."""
        return self._of(self._rows[rng.sample(range(len(self)), count)])

    def occupied(self) -> Bitboard:
        """Do :meth:`gm_recon.position_sets.PositionSet.occupied`."""
        squares = np.bitwise_or.reduce(self._rows[:, :3], axis=None)
        return int(squares if self._color else squares.byteswap())

    def counts_at(self, square: Square) -> list[int]:
        """Do :meth:`gm_recon.position_sets.PositionSet.counts_at`."""
        at = np.uint64(square if self._color else square ^ 56)
        first, second, third = (self._rows[:, word] >> at & np.uint64(1) for word in range(3))
        pieces = (first + 2 * second + 4 * third).astype(np.int64)
        counts: list[int] = np.bincount(pieces, minlength=LANES)[1:7].tolist()
        return counts

    def counts_steps(self) -> Generator[None, None, list[int]]:
        """Do :meth:`gm_recon.position_sets.PositionSet.counts_steps`."""
        yield
        counts = np.zeros((6, 64), np.int64)
        sets.count_pieces(self._rows, counts)
        seen = counts if self._color else counts.reshape(6, 8, 8)[:, ::-1]
        found: list[int] = seen.ravel().tolist()
        return found

    def pairs_alike(self, views: Sequence[Bitboard]) -> list[int]:
        """Do :meth:`gm_recon.position_sets.PositionSet.pairs_alike`."""
        found, pairs = _Found(len(self)), np.empty(len(views), np.int64)
        counts = np.empty(len(self), np.int64)
        squares = np.array([_seen_by(view, self._color) for view in views], np.uint64)
        sets.count_alike(self._rows, squares, pairs, counts, found.rows, found.table, found.keys)
        numbers: list[int] = pairs.tolist()
        return numbers

    def _of(self, rows: Words) -> Self:
        return type(self)(self._color, rows)

    def _lanes(self, evidence: Evidence) -> Words:
        return _words([evidence.mask, evidence.expected, evidence.some], self._color)

    def _turn(self, move: OpponentMove) -> NDArray[np.uint64]:
        """Return the words that say what is known of a move."""
        turn = np.zeros(TURN, np.uint64)
        turn[OTHERS] = _seen_by(move.others, move.color)
        pawns = _seen_by(move.other_pawns, move.color) & chess.BB_RANK_4
        turn[PASSING] = (pawns & ~chess.BB_FILE_H) << 1 | (pawns & ~chess.BB_FILE_A) >> 1
        if move.capture is not None:
            capture = move.capture if move.color else move.capture ^ 56
            turn[CAPTURE] = chess.BB_SQUARES[capture]
            if move.ep_square is not None and (move.ep_square if move.color else move.ep_square ^ 56) == capture + 8:
                turn[PASSED] = chess.BB_SQUARES[capture + 8]
        return turn


class _Found:
    """A set of rows that grows.

    :ivar last: the largest hash of rows that may be in it.
    """

    def __init__(self, capacity: int, seed: int = 0) -> None:
        """:param seed: decides the hashes."""
        self.rows = np.empty((max(1, capacity), ROW), np.uint64)
        self.keys = np.empty(ROW, np.uint64)
        sets.make_keys(np.uint64(seed), self.keys)
        self.table = self._empty_table()
        self.count, self.last = 0, _ALL
        self._room = np.empty((MOST_RESULTS, ROW), np.uint64), np.empty((MOST_RESULTS, 2), np.uint64)

    def expand(
        self,
        positions: Words,
        start: int,
        stop: int,
        turn: NDArray[np.uint64],
        evidence: Words,
        is_checked: bool,
        most: int,
    ) -> int:
        """Add the results of the next move of some positions, until there are more than ``most``.

        :returns: the first position that was not expanded. If it is before ``stop``, there is more room now.
        """
        known = (turn, evidence, is_checked)
        start, self.count = sets.expand(
            positions, start, stop, *known, self.rows, self.count, self.table, self.keys, self.last, most, *self._room
        )
        if start < stop and self.count <= most:
            self._grow()
        return int(start)

    def keep(self, count: int) -> None:
        """Keep the rows with the smallest hashes, and take no others from now on."""
        words = np.empty(self.count, np.uint64)
        sets.hash_all(self.rows[: self.count], self.keys, words)
        self.last = np.partition(words, count - 1)[count - 1]
        left = self.rows[: self.count][words <= self.last]
        self.count = len(left)
        self.rows[: self.count] = left
        self._enter()

    def taken(self) -> Words:
        """Return the rows, in no more memory than they need."""
        self.rows.resize((self.count, ROW), refcheck=False)
        return self.rows

    def _grow(self) -> None:
        rows = np.empty((2 * len(self.rows) + MOST_RESULTS, ROW), np.uint64)
        rows[: self.count] = self.rows[: self.count]
        self.rows = rows
        self._enter()

    def _enter(self) -> None:
        self.table = self._empty_table()
        sets.fill(self.rows, self.count, self.table, self.keys)

    def _empty_table(self) -> NDArray[np.uint64]:
        """Return a table that at most half its entries will be used of."""
        return np.zeros(2 << len(self.rows).bit_length(), np.uint64)


def _rows(positions: Collection[int], color: Color) -> Words:
    """Return the rows of integers."""
    _, pawns, knights, bishops, rooks, queens, kings, rights = _words(positions, color).T
    digits = (pawns | bishops | queens, knights | bishops | kings, rooks | queens | kings)
    return np.ascontiguousarray(np.array([*digits, rights], np.uint64).T)


def _words(integers: Collection[int], color: Color) -> Words:
    """Return the lanes of integers, as their side sees the board, and the bits of rights and en passant."""
    written = b"".join([each.to_bytes(8 * LANES, "little") for each in integers])
    words = np.frombuffer(written, "<u8").astype(np.uint64).reshape(-1, LANES)
    if not color:
        words[:, : LANES - 1] = words[:, : LANES - 1].byteswap()
    return words


def _seen_by(squares: Bitboard, color: Color) -> Bitboard:
    return squares if color else chess.flip_vertical(squares)


assert EP_SHIFT == 64 * (LANES - 1) + 2, "the last word is the same in rows and integers"
