"""The update of a belief in the opponent's turn: every piece may have made any of its moves.

A move is as likely as its piece is to be on the source and its path to be free. All moves and a pass are weighted by
that alone: how good they are does not matter.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import chess
import numpy as np
from chess import Board, Color, PieceType, Square

from .belief import CHANNELS, EMPTY, Belief, at, normalise, set_square

#: The weight of a pass, or of a failed move, relative to a move of a piece that is certainly free to make it.
PASSES = 1.0
#: At most this share of a square's probability may leave it, or be covered, in a turn: the old contents stay possible.
MOST = 0.95

_RAYS: dict[PieceType, tuple[tuple[int, int], ...]] = {
    chess.BISHOP: ((1, 1), (1, -1), (-1, 1), (-1, -1)),
    chess.ROOK: ((1, 0), (-1, 0), (0, 1), (0, -1)),
}
_RAYS[chess.QUEEN] = _RAYS[chess.BISHOP] + _RAYS[chess.ROOK]


@dataclass(frozen=True)
class Step:
    """A move of a piece between two squares, perhaps with promotion. ``weight`` is not yet a probability."""

    source: Square
    target: Square
    piece_type: PieceType
    becomes: PieceType
    weight: float


def opponent_moved(belief: Belief, own: Board, color: Color, capture: Square | None) -> None:
    """Update the belief for the opponent's turn.

    :param own: the player's pieces before it, and the square where its pawn could be captured en passant.
    :param capture: the square on which the opponent captured, or None.
    """
    moves = _Moves(belief, own, color)
    steps = list(moves.quiet() if capture is None else moves.captures(capture))
    total = sum(step.weight for step in steps) + (PASSES if capture is None else 0)
    possible = belief > 0
    leaving, arriving = np.zeros((CHANNELS, 8, 8)), np.zeros((CHANNELS, 8, 8))
    for step in steps:
        at(leaving, step.source)[step.piece_type - 1] += step.weight / total
        at(arriving, step.target)[step.becomes - 1] += step.weight / total
    possible |= arriving > 0
    possible[EMPTY] |= leaving.any(axis=0)
    # No more probability leaves a square, or covers an empty one, than there is.
    leaving = np.minimum(leaving, MOST * belief)
    covered = np.minimum(arriving.sum(axis=0), MOST * belief[EMPTY])
    belief -= leaving
    belief += arriving
    belief[EMPTY] += leaving.sum(axis=0) - covered
    normalise(belief, possible)
    if capture is not None and not moves.en_passant(capture):
        _taken(belief, arriving, capture)


def _taken(belief: Belief, arriving: Belief, capture: Square) -> None:
    """Put the capturing piece on the square of the capture."""
    column = at(arriving, capture).copy()
    if not column.any():  # only if the earlier reports do not belong to one game
        set_square(belief, capture, EMPTY)
        return
    at(belief, capture)[:] = column / column.sum()


class _Moves:
    """The moves that a belief allows, including king moves into danger: there is no check."""

    def __init__(self, belief: Belief, own: Board, color: Color) -> None:
        self._own, self._color = own, color
        # Plain numbers are faster than arrays for single values.
        self._belief: list[list[float]] = belief.reshape(CHANNELS, 64).tolist()
        self._free = [0.0 if own.occupied >> square & 1 else self._belief[EMPTY][square] for square in chess.SQUARES]
        self._forward = -8 if color else 8
        self._first, self._last = (6, 0) if color else (1, 7)

    def en_passant(self, capture: Square) -> bool:
        """Return whether a capture there may have been en passant."""
        square = self._own.ep_square
        return square is not None and square - self._forward == capture

    def quiet(self) -> Iterator[Step]:
        """Yield the moves that capture nothing."""
        for piece_type, square, chance in self._pieces():
            if piece_type == chess.PAWN:
                yield from self._pushes(square, chance)
                continue
            for target, weight in self._reached(piece_type, square, chance):
                if self._free[target]:
                    yield Step(square, target, piece_type, piece_type, weight * self._free[target])
        yield from self._castlings()

    def captures(self, target: Square) -> Iterator[Step]:
        """Yield the moves that capture on a square of the player's."""
        for piece_type, square, chance in self._pieces():
            if piece_type == chess.PAWN:
                yield from self._pawn_captures(square, chance, target)
                continue
            for reached, weight in self._reached(piece_type, square, chance):
                if reached == target:
                    yield Step(square, target, piece_type, piece_type, weight)

    def _pieces(self) -> Iterator[tuple[PieceType, Square, float]]:
        for piece_type in chess.PIECE_TYPES:
            for square, chance in enumerate(self._belief[piece_type - 1]):
                if chance:
                    yield piece_type, square, chance

    def _reached(self, piece_type: PieceType, square: Square, chance: float) -> Iterator[tuple[Square, float]]:
        """Yield the squares that a piece reaches, and the likelihood that the path is free."""
        if piece_type in _RAYS:
            for file_step, rank_step in _RAYS[piece_type]:
                yield from self._along(square, file_step, rank_step, chance)
            return
        attacks = chess.BB_KNIGHT_ATTACKS if piece_type == chess.KNIGHT else chess.BB_KING_ATTACKS
        for target in chess.scan_forward(attacks[square]):
            yield target, chance

    def _along(self, square: Square, file_step: int, rank_step: int, chance: float) -> Iterator[tuple[Square, float]]:
        file, rank = (square & 7) + file_step, (square >> 3) + rank_step
        while chance and 0 <= file < 8 and 0 <= rank < 8:
            target = rank * 8 + file
            yield target, chance
            chance *= self._free[target]
            file, rank = file + file_step, rank + rank_step

    def _pushes(self, square: Square, chance: float) -> Iterator[Step]:
        target = square + self._forward
        if not 0 <= target < 64:
            return
        weight = chance * self._free[target]
        yield from self._pawn_to(square, target, weight)
        if square >> 3 == self._first:
            beyond = target + self._forward
            yield from self._pawn_to(square, beyond, weight * self._free[beyond])

    def _pawn_captures(self, square: Square, chance: float, capture: Square) -> Iterator[Step]:
        attacked = chess.BB_PAWN_ATTACKS[not self._color][square]
        if attacked >> capture & 1:
            yield from self._pawn_to(square, capture, chance)
        passed = self._own.ep_square
        if passed is not None and self.en_passant(capture) and attacked >> passed & 1:
            yield from self._pawn_to(square, passed, chance * self._free[passed])

    def _pawn_to(self, square: Square, target: Square, weight: float) -> Iterator[Step]:
        if not weight:
            return
        if target >> 3 != self._last:
            yield Step(square, target, chess.PAWN, chess.PAWN, weight)
            return
        for becomes in (chess.KNIGHT, chess.BISHOP, chess.ROOK, chess.QUEEN):
            yield Step(square, target, chess.PAWN, becomes, weight / 4)

    def _castlings(self) -> Iterator[Step]:
        """Yield castlings from the first squares of king and rook, even if they may have moved: that allows more."""
        rank = 56 if self._color else 0
        for rook, king_to, rook_to in ((7, 6, 5), (0, 2, 3)):
            weight = self._belief[chess.KING - 1][rank + 4] * self._belief[chess.ROOK - 1][rank + rook]
            for square in chess.scan_forward(chess.between(rank + 4, rank + rook)):
                weight *= self._free[square]
            if weight:
                yield Step(rank + 4, rank + king_to, chess.KING, chess.KING, weight)
                yield Step(rank + rook, rank + rook_to, chess.ROOK, chess.ROOK, weight)
