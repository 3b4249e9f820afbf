"""A player's belief in figures: the probability of each piece on each square, if all possible positions weigh the same.

The functions in steps do the same work in steps of less than a millisecond, as those of :mod:`.possible` do.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable
from itertools import islice

import chess
from chess import Board

from .possible import PossiblePositions, Rng, finish

#: The rows of :func:`marginals`: White's pieces, then Black's.
PIECES = tuple(
    chess.Piece(piece_type, color) for color in (chess.WHITE, chess.BLACK) for piece_type in chess.PIECE_TYPES
)
#: Positions added up in one step, and boards made in one step.
_ADDED, _MADE = 512, 8


def marginals(positions: PossiblePositions) -> list[list[float]]:
    """Return the probability that each piece stands on each square, as 12 rows of 64 numbers.

    The rows are those of :data:`PIECES`, their columns the squares from a1, b1 to h8. The opponent's rows are zero if
    the tracker is lost. A position of 20,000 costs some two microseconds.
    """
    return finish(marginal_steps(positions))


def marginal_steps(positions: PossiblePositions) -> Generator[None, None, list[list[float]]]:
    """Do the work of :func:`marginals` in steps."""
    counts = yield from _count(positions._positions)
    number = max(1, len(positions))
    theirs = [[count / number for count in counts[64 * each : 64 * each + 64]] for each in chess.PIECE_TYPES]
    yield
    own = [
        [float(bool(mask >> square & 1)) for square in chess.SQUARES]
        for mask in (int(positions._own.pieces(each, positions.color)) for each in chess.PIECE_TYPES)
    ]
    return own + theirs if positions.color == chess.WHITE else theirs + own


def _count(positions: Collection[int]) -> Generator[None, None, list[int]]:
    """Return how many numbers have each bit, of those up to the last piece's.

    Digits of the counts are kept as columns: the n-th number holds the n-th binary digit of every count, so that one
    addition counts all bits of a position.
    """
    digits: list[int] = []
    left = iter(positions)
    while batch := list(islice(left, _ADDED)):
        _add(digits, batch)
        yield
    return [
        sum((digit >> bit & 1) << place for place, digit in enumerate(digits)) for bit in range(64 * (chess.KING + 1))
    ]


def _add(digits: list[int], numbers: Iterable[int]) -> None:
    for carry in numbers:
        for place, digit in enumerate(digits):
            digits[place], carry = digit ^ carry, digit & carry
            if not carry:
                break
        else:
            if carry:
                digits.append(carry)


def sample(positions: PossiblePositions, count: int, rng: Rng) -> list[Board]:
    """Return this many different positions, each equally likely, or all if there are fewer.

    The same observations and an ``rng`` in the same state give the same boards. Their half-move clock is 0.
    """
    return finish(sample_steps(positions, count, rng))


def sample_steps(positions: PossiblePositions, count: int, rng: Rng) -> Generator[None, None, list[Board]]:
    """Do the work of :func:`sample` in steps."""
    kept = list(positions._positions)
    boards: list[Board] = []
    for number, position in enumerate(rng.sample(kept, min(count, len(kept)))):
        if number % _MADE == 0:
            yield
        board = positions._board(position)
        board.halfmove_clock = 0
        boards.append(board)
    return boards
