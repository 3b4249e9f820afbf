"""A position of which one side's pieces alone are known: what such a viewer is shown of it.

It is computed from these pieces and nothing else, so that nothing else can show in it. What is kept of it belongs to
the seat in its game (:class:`SeatViews`). In a cache that games share, a request would be answered sooner where some
other game has shown the same pieces, and whoever asks for the right ones would find out which.
"""

from __future__ import annotations

from typing import cast

import chess
from chess import BB_SQUARES, Bitboard, Board, Square
from msgspec import Raw

from gm_protocol.state import AccessMap, BoardRows

from .fragments import PAIRS, access_json_of, castling, fen_of, placement
from .position import Position, contents, only, unpack

#: By colour: how far a pawn steps, and where it may step twice from.
_STEPS = (-8, 8)
_HOMES = (chess.BB_RANK_7, chess.BB_RANK_2)


class OwnPieces:
    """What a viewer is shown who knows these pieces only."""

    __slots__ = ("access_map", "board", "castles", "castling", "placement", "position")

    def __init__(self, position: Position) -> None:
        """:param position: one that holds no others' pieces."""
        self.position = position
        board = unpack(position)
        #: FEN's first and third field.
        placed = placement(contents(board, board.occupied))
        self.placement = fen_of(placed)
        self.castling, self.castles = castling(
            board.castling_rights, board.kings & chess.BB_RANK_1, board.kings & chess.BB_RANK_8, board.chess960
        )
        #: The wire's ``board`` and ``access_map``, as the JSON they become.
        self.board = cast(BoardRows, Raw(placed.json))
        self.access_map = cast(AccessMap, Raw(_access_json(board)))


class SeatViews:
    """What each seat of one game was last shown of its own pieces: it asks more often than these change."""

    __slots__ = ("_kept",)

    def __init__(self) -> None:
        self._kept: list[OwnPieces | None] = [None, None]

    def of(self, position: Position, seat: chess.Color) -> OwnPieces:
        """A seat's own pieces in a true position."""
        own, kept = only(position, seat), self._kept[seat]
        if kept is None or kept.position != own:
            kept = self._kept[seat] = OwnPieces(own)
        return kept

    def forget(self) -> None:
        """Keep nothing of either seat's."""
        self._kept = [None, None]


def _access_json(board: Board) -> str:
    """For each square the pieces that may ask to move there, as the wire's ``access_map``."""
    sources: list[list[str]] = [[] for _ in chess.SQUARES]
    for square in chess.scan_forward(board.occupied):
        pair, targets = PAIRS[square], _targets(board, square)
        while targets:
            target = targets.bit_length() - 1
            targets ^= BB_SQUARES[target]
            sources[target].append(pair)
    return access_json_of(map(",".join, sources))


def _targets(board: Board, square: Square) -> Bitboard:
    """Where a piece may ask to move: any square that no piece of its own holds may hold one of the other side's."""
    own = board.occupied
    targets = board.attacks_mask(square) & ~own
    if board.pawns & BB_SQUARES[square]:
        step = _STEPS[board.turn]
        if not own & BB_SQUARES[square + step]:
            targets |= BB_SQUARES[square + step]
            if BB_SQUARES[square] & _HOMES[board.turn] and not own & BB_SQUARES[square + 2 * step]:
                targets |= BB_SQUARES[square + 2 * step]
    return targets


#: What is shown to a viewer who knows no piece at all.
NO_PIECES = OwnPieces(only(bytes(75), chess.WHITE))
