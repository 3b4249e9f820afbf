"""A player's belief in figures: the probability of each piece on each square, if all possible positions weigh the same.

The functions in steps do the same work in steps of less than a millisecond, as those of :mod:`.possible` do by default.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable

import chess
from chess import Board, Square

from .position_sets import LARGE_BATCH, Rng, finish
from .possible import SAMPLE, WINDOWS, PossiblePositions

#: The rows of :func:`marginals`: White's pieces, then Black's.
PIECES = tuple(
    chess.Piece(piece_type, color) for color in (chess.WHITE, chess.BLACK) for piece_type in chess.PIECE_TYPES
)
#: Boards made in one step.
_MADE = 8


def marginals(positions: PossiblePositions) -> list[list[float]]:
    """Return the probability that each piece stands on each square, as 12 rows of 64 numbers.

    The rows are those of :data:`PIECES`, their columns the squares from a1, b1 to h8. The opponent's rows are zero if
    the tracker is lost. A position of 20,000 costs some two microseconds.
    """
    return finish(marginal_steps(positions))


def marginal_steps(positions: PossiblePositions) -> Generator[None, None, list[list[float]]]:
    """Do the work of :func:`marginals` in steps."""
    counts = yield from positions._positions.counts_steps()
    number = max(1, len(positions))
    theirs = [[count / number for count in counts[lane : lane + 64]] for lane in range(0, len(counts), 64)]
    yield
    own = [
        [float(bool(mask >> square & 1)) for square in chess.SQUARES]
        for mask in (int(positions._own.pieces(each, positions.color)) for each in chess.PIECE_TYPES)
    ]
    return own + theirs if positions.color == chess.WHITE else theirs + own


def sample(positions: PossiblePositions, count: int, rng: Rng) -> list[Board]:
    """Return this many different positions, each equally likely, or all if there are fewer.

    The same observations and an ``rng`` in the same state give the same boards. Their half-move clock is 0.
    """
    return finish(sample_steps(positions, count, rng))


def sample_steps(positions: PossiblePositions, count: int, rng: Rng) -> Generator[None, None, list[Board]]:
    """Do the work of :func:`sample` in steps."""
    drawn = positions._positions.drawn(min(count, len(positions)), rng)
    boards: list[Board] = []
    for number, position in enumerate(drawn):
        if number % _MADE == 0:
            yield
        board = positions._board(position)
        board.halfmove_clock = 0
        boards.append(board)
    return boards


def left_after_steps(
    positions: PossiblePositions, squares: Iterable[Square], rng: Rng, most: int = SAMPLE
) -> Generator[None, None, list[float]]:
    """Return for each square the share of the positions that a sense of it leaves on average, in steps.

    It is 0.0 if the tracker is lost.

    :param most: the most positions that are compared. If there are more, so many are drawn: the shares are estimates.
    """
    number, count = min(most, len(positions)), max(1, len(positions))
    drawn = positions._positions.drawn(number, rng)
    shares: list[float] = []
    for index, square in enumerate(squares):
        if index % max(1, LARGE_BATCH // max(1, number)) == 0:
            yield
        alike = drawn.pairs_alike([WINDOWS[square]])[0] - number  # pairs of different positions
        same = alike / max(1, number * (number - 1))
        shares.append((1 + same * (count - 1)) / count if number else 0.0)
    return shares
