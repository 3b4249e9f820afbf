"""The pawn moves that a side may request in reconnaissance blind chess, knowing only its own pieces."""

from __future__ import annotations

import chess
from chess import Bitboard, Color, Move

from .tables import CAPTURES, DOUBLE_STEPS, STEPS

_NOT_FILE_A, _NOT_FILE_H = chess.BB_ALL ^ chess.BB_FILE_A, chess.BB_ALL ^ chess.BB_FILE_H


def pawn_moves(turn: Color, own: Bitboard, pawns: Bitboard) -> tuple[Bitboard, list[Move]]:
    """Return the moves of a side's pawns, and the squares that could have blocked them.

    :param own: the squares of the side's pieces, including its pawns.
    """
    free = own ^ chess.BB_ALL
    if turn:
        ahead, west, east = pawns << 8, (pawns & _NOT_FILE_A) << 7, (pawns & _NOT_FILE_H) << 9
        near = ahead | (ahead & chess.BB_RANK_3) << 8 | west | east
        steps = ahead & free
        twice = ((steps & chess.BB_RANK_3) << 8 & free) >> 24
        west, east = (west & free) >> 7, (east & free) >> 9
    else:
        ahead, west, east = pawns >> 8, (pawns & _NOT_FILE_A) >> 9, (pawns & _NOT_FILE_H) >> 7
        near = ahead | (ahead & chess.BB_RANK_6) >> 8 | west | east
        steps = ahead & free
        twice = ((steps & chess.BB_RANK_6) >> 8 & free) >> 32
        west, east = (west & free) << 9, (east & free) << 7
    moves: list[Move] = []
    for by_files, files in zip(STEPS[turn], steps.to_bytes(8, "big"), strict=True):
        if files:
            moves += by_files[files]
    moves += DOUBLE_STEPS[turn][twice]
    to_west, to_east = west.to_bytes(8, "little"), east.to_bytes(8, "little")
    for (left, right), westward, eastward in zip(CAPTURES[turn], to_west, to_east, strict=True):
        if westward or eastward:
            moves += left[westward << 4 & 0xF0 | eastward & 0x0F]
            moves += right[westward & 0xF0 | eastward >> 4]
    return near, moves
