"""The view of a position for a viewer who knows only one side's pieces.

It is computed from these pieces alone, so that it cannot reveal anything else.
"""

from __future__ import annotations

from typing import cast

import chess
from chess import BB_SQUARES, Bitboard, Board, Square
from msgspec import Raw

from gm_protocol.state import AccessMap, BoardRows

from .fragments import PAIRS, access_json_of, castling, fen_of, placement
from .hidden import Seen
from .position import Position, contents, only, unpack

#: By colour: the step of a pawn, and the rank from which it may step twice.
_STEPS = (-8, 8)
_HOMES = (chess.BB_RANK_7, chess.BB_RANK_2)


def show_own(position: Position) -> Seen:
    """Return the view of a viewer who knows only these pieces.

    :param position: a position without the other side's pieces.
    """
    board = unpack(position)
    placed = placement(contents(board, board.occupied))
    rights, castles = castling(
        board.castling_rights, board.kings & chess.BB_RANK_1, board.kings & chess.BB_RANK_8, board.chess960
    )
    return Seen(
        placement=fen_of(placed),
        castling=rights,
        passant="-",
        castles=castles,
        board=cast(BoardRows, Raw(placed.json)),
        access_map=cast(AccessMap, Raw(_access_json(board))),
    )


def _access_json(board: Board) -> str:
    """Return, for each square, the pieces that may request to move there, as the wire's ``access_map``."""
    sources: list[list[str]] = [[] for _ in chess.SQUARES]
    for square in chess.scan_forward(board.occupied):
        pair, targets = PAIRS[square], _targets(board, square)
        while targets:
            target = targets.bit_length() - 1
            targets ^= BB_SQUARES[target]
            sources[target].append(pair)
    return access_json_of(map(",".join, sources))


def _targets(board: Board, square: Square) -> Bitboard:
    """Return the targets that a piece may request: any square without an own piece may hold one of the other side's."""
    own = board.occupied
    targets = board.attacks_mask(square) & ~own
    if board.pawns & BB_SQUARES[square]:
        step = _STEPS[board.turn]
        if not own & BB_SQUARES[square + step]:
            targets |= BB_SQUARES[square + step]
            if BB_SQUARES[square] & _HOMES[board.turn] and not own & BB_SQUARES[square + 2 * step]:
                targets |= BB_SQUARES[square + 2 * step]
    return targets


#: The view of a viewer who knows no piece.
NO_PIECES = show_own(only(bytes(75), chess.WHITE))
