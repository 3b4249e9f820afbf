"""The knowledge of a player of blind chess, and what opponent's pieces it may suspect where.

A piece is remembered where it was last seen until an observation shows that it is no longer there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import chess
from chess import Board, Color, Move, Piece, PieceType, Square, SquareSet

from gm_recon import Cell

#: A type of piece, and for bishops whether they are on light squares, which they never leave.
Kind = tuple[PieceType, bool]


@dataclass(frozen=True)
class Trace:
    """An opponent's piece that may be on a square.

    :ivar piece: the piece; None where its kind is unknown.
    :ivar turn: the player's turn in which it was last known to be there.
    """

    piece: Piece | None
    turn: int


class Memory:
    """The memory of one player in one game. All events must be reported in the order in which they happen.

    :ivar turn: the number of the player's turn, from 1 on.
    :ivar own: the player's pieces and castling rights.
    :ivar traces: by square, the pieces that may stand there.
    :ivar seen: the squares of this turn's sense.
    :ivar lost_on: the square on which the opponent has just captured.
    :ivar moved_by: the player's last move.
    :ivar theirs: how many pieces the opponent has left.
    """

    def __init__(self, start: Board, color: Color) -> None:
        self.color, self.turn = color, 0
        known_in = 1 if start.turn == color else 0  # otherwise the opponent has moved before the first turn
        theirs = start.occupied_co[not color]
        self.own = _pieces_of(start, color)
        self.traces = {square: Trace(start.piece_at(square), known_in) for square in chess.scan_forward(theirs)}
        self.theirs = chess.popcount(theirs)
        self._numbers = Counter(
            _kind(square, trace.piece) for square, trace in self.traces.items() if trace.piece is not None
        )
        self.seen = SquareSet()
        self.lost_on: Square | None = None
        self.moved_by: Move | None = None

    def turn_begins(self, own: Board, lost_on: Square | None) -> None:
        """Record the opponent's turn, if it had one, as the player's begins.

        :param own: the player's present pieces and castling rights.
        :param lost_on: the square on which the opponent captured, if it did.
        """
        self.turn += 1
        self.seen, self.lost_on = SquareSet(), lost_on
        if lost_on is not None:
            self._suspect(lost_on)
            passed = self._passed_by(lost_on)
            if passed is not None:  # the capture may have been en passant
                self._suspect(passed)
        self.own = own

    def _passed_by(self, square: Square) -> Square | None:
        """Return the square that the player's pawn has just passed over on its way to a square, if it has."""
        move = self.moved_by
        if move is None or move.to_square != square or self.own.piece_type_at(square) != chess.PAWN:
            return None
        twice = chess.square_distance(move.from_square, move.to_square) == 2
        return (move.from_square + move.to_square) // 2 if twice else None

    def _suspect(self, square: Square) -> None:
        """Record that an opponent's piece stands on a square, or may."""
        before = self.traces.get(square)
        self.traces[square] = Trace(before.piece if before else None, self.turn)

    def saw(self, cells: Iterable[Cell]) -> None:
        """Record the squares that a sense has shown."""
        shown = dict(cells)
        self.seen = SquareSet(shown)
        found = {square: piece for square, piece in shown.items() if piece is not None and piece.color != self.color}
        self.traces = {square: trace for square, trace in self.traces.items() if square not in self.seen}
        self.traces |= {square: Trace(piece, self.turn) for square, piece in found.items()}
        for square, piece in found.items():
            self._has_left(_kind(square, piece))

    def _has_left(self, kind: Kind) -> None:
        """Forget an unseen piece of a kind where more are remembered than there were at first: it must have moved.

        Where it could be one of several, all of them stay. Promotions do not count.
        """
        remembered = [
            square for square, trace in self.traces.items() if trace.piece and _kind(square, trace.piece) == kind
        ]
        unseen = [square for square in remembered if square not in self.seen]
        if len(remembered) > self._numbers[kind] and len(unseen) == 1:
            del self.traces[unseen[0]]

    def moved(self, requested: Move | None, taken: Move | None, capture: Square | None) -> None:
        """Record the result of the move that the player requested."""
        self.moved_by = taken
        if capture is not None:
            self.traces.pop(capture, None)
            self.theirs -= 1
        if taken is not None:  # the squares it passed and reached hold no opponent
            for square in [*chess.SquareSet.between(taken.from_square, taken.to_square), taken.to_square]:
                self.traces.pop(square, None)
        if requested is not None and self.own.piece_type_at(requested.from_square) == chess.PAWN:
            self._pawn_asked(requested, taken)
        if taken is not None:
            self.own.turn = self.color
            self.own.push(taken)
            self.own.clear_stack()

    def _pawn_asked(self, requested: Move, taken: Move | None) -> None:
        """Record what follows from a pawn's move that was not made as requested."""
        if taken is None and chess.square_file(requested.from_square) != chess.square_file(requested.to_square):
            self.traces.pop(requested.to_square, None)  # it had nothing to capture
        elif (blocked := blocked_at(requested, taken, pawn=True)) is not None:
            self._suspect(blocked)


def blocked_at(requested: Move, taken: Move | None, *, pawn: bool) -> Square | None:
    """Return the square on which a piece stood in a pawn's way; None if none is known."""
    ahead = chess.square_file(requested.from_square) == chess.square_file(requested.to_square)
    if not pawn or not ahead or taken == requested:
        return None
    step = 8 if requested.to_square > requested.from_square else -8
    return requested.from_square + step if taken is None else taken.to_square + step


def _kind(square: Square, piece: Piece) -> Kind:
    light = bool(chess.BB_SQUARES[square] & chess.BB_LIGHT_SQUARES)
    return piece.piece_type, piece.piece_type == chess.BISHOP and light


def _pieces_of(board: Board, color: Color) -> Board:
    own = board.copy(stack=False)
    for square in chess.scan_forward(board.occupied_co[not color]):
        own.remove_piece_at(square)
    return own
