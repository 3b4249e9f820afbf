"""A position of which one side's pieces alone are known: what such a viewer is shown of it.

It is computed from these pieces and nothing else, so that nothing else can show in it. It is kept for a while, for a
state is asked for more often than one's own pieces change.
"""

from __future__ import annotations

import struct
from functools import lru_cache
from typing import cast

import chess
from chess import BB_SQUARES, Bitboard, Board, Square
from msgspec import Raw

from gm_protocol.state import AccessMap, BoardRows

from .fragments import access_json, castling, fen_of, placement
from .position import Position, contents, only, unpack

#: Sets of pieces kept: some 20 MB, for the latest states of a few thousand games.
MAX_KEPT = 4_096

#: By colour: how far a pawn steps, and where it may step twice from.
_STEPS = (-8, 8)
_HOMES = (chess.BB_RANK_7, chess.BB_RANK_2)
_pack_lanes = struct.Struct("<64Q").pack


class OwnPieces:
    """What a viewer is shown who knows these pieces only."""

    __slots__ = ("access_map", "board", "castles", "castling", "placement")

    def __init__(self, position: Position) -> None:
        """:param position: one that holds no others' pieces."""
        board = unpack(position)
        #: FEN's first and third field.
        placed = placement(contents(board, board.occupied))
        self.placement = fen_of(placed)
        self.castling, self.castles = castling(
            board.castling_rights, board.kings & chess.BB_RANK_1, board.kings & chess.BB_RANK_8, board.chess960
        )
        #: The wire's ``board`` and ``access_map``, as the JSON they become.
        self.board = cast(BoardRows, Raw(placed.json))
        self.access_map = cast(AccessMap, Raw(access_json(_pack_lanes(*_sources(board)))))


def own_pieces(position: Position, color: chess.Color) -> OwnPieces:
    """One side's pieces out of a true position."""
    return _kept(only(position, color))


_kept = lru_cache(MAX_KEPT)(OwnPieces)


def _sources(board: Board) -> list[Bitboard]:
    """For each square the pieces that may ask to move there."""
    sources = [0] * 64
    for square in chess.scan_forward(board.occupied):
        for target in chess.scan_forward(_targets(board, square)):
            sources[target] |= BB_SQUARES[square]
    return sources


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
