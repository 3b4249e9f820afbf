"""Generation of a position's moves: those that change the material, and the quiet ones.

They follow the rules except that they may leave their own king in check, which :meth:`Position.make_legal` detects. The
attacks are python-chess's tables. The moves from a square to a set of squares are listed once, and then looked up:
there are few such sets, some hundreds from a square for a rook, and all positions share the lists.
"""

from __future__ import annotations

import chess
from chess import (
    BB_DIAG_ATTACKS,
    BB_DIAG_MASKS,
    BB_FILE_ATTACKS,
    BB_FILE_MASKS,
    BB_KING_ATTACKS,
    BB_KNIGHT_ATTACKS,
    BB_PAWN_ATTACKS,
    BB_RANK_ATTACKS,
    BB_RANK_MASKS,
)

from .position import BISHOP, KNIGHT, OFFSET, PAWN, QUEEN, ROOK, Position

_NOT_FILE_A, _NOT_FILE_H = ~chess.BB_FILE_A, ~chess.BB_FILE_H
_LAST_RANKS = chess.BB_RANK_1 | chess.BB_RANK_8
_TO_QUEEN = QUEEN << 12
_TO_LESSER = (ROOK << 12, BISHOP << 12, KNIGHT << 12)

#: By colour: the castling right's bit, the squares that must be empty, those that the king stands on or passes, and the
#: move.
_CASTLINGS = (
    (
        (4, chess.BB_F8 | chess.BB_G8, (chess.E8, chess.F8), chess.E8 | chess.G8 << 6),
        (8, chess.BB_B8 | chess.BB_C8 | chess.BB_D8, (chess.E8, chess.D8), chess.E8 | chess.C8 << 6),
    ),
    (
        (1, chess.BB_F1 | chess.BB_G1, (chess.E1, chess.F1), chess.E1 | chess.G1 << 6),
        (2, chess.BB_B1 | chess.BB_C1 | chess.BB_D1, (chess.E1, chess.D1), chess.E1 | chess.C1 << 6),
    ),
)

#: By source: the moves to each set of squares seen so far.
_LISTS: tuple[dict[int, list[int]], ...] = tuple({0: []} for _ in chess.SQUARES)


def _list(source: int, targets: int) -> list[int]:
    """Return the moves from a square to a set of squares, and store them for the next time."""
    moves = _LISTS[source][targets] = [source | target << 6 for target in chess.scan_forward(targets)]
    return moves


def _piece_moves(position: Position, wanted: int) -> list[int]:
    """Return the moves of all pieces but pawns to the squares wanted, which hold no pieces of their side."""
    turn, bitboards, lists = position.turn, position.bitboards, _LISTS
    occupied, offset = position.colors[0] | position.colors[1], OFFSET[turn]
    moves: list[int] = []
    pieces = bitboards[offset + KNIGHT]
    while pieces:
        source = pieces.bit_length() - 1
        pieces ^= 1 << source
        if targets := BB_KNIGHT_ATTACKS[source] & wanted:
            moves += lists[source].get(targets) or _list(source, targets)
    queens = bitboards[offset + QUEEN]
    pieces = bitboards[offset + BISHOP] | queens
    while pieces:
        source = pieces.bit_length() - 1
        pieces ^= 1 << source
        if targets := BB_DIAG_ATTACKS[source][BB_DIAG_MASKS[source] & occupied] & wanted:
            moves += lists[source].get(targets) or _list(source, targets)
    pieces = bitboards[offset + ROOK] | queens
    while pieces:
        source = pieces.bit_length() - 1
        pieces ^= 1 << source
        targets = wanted & (
            BB_RANK_ATTACKS[source][BB_RANK_MASKS[source] & occupied]
            | BB_FILE_ATTACKS[source][BB_FILE_MASKS[source] & occupied]
        )
        if targets:
            moves += lists[source].get(targets) or _list(source, targets)
    source = position.kings[turn]
    if targets := BB_KING_ATTACKS[source] & wanted:
        moves += lists[source].get(targets) or _list(source, targets)
    return moves


def noisy_moves(position: Position) -> list[int]:
    """Return captures, and promotions to a queen."""
    turn = position.turn
    enemies = position.colors[not turn]
    moves = _piece_moves(position, enemies)
    pawns = position.bitboards[PAWN + OFFSET[turn]]
    empty_last = _LAST_RANKS & ~(enemies | position.colors[turn])
    if turn:
        _add_pawns(moves, (pawns & _NOT_FILE_A) << 7 & enemies, -7)
        _add_pawns(moves, (pawns & _NOT_FILE_H) << 9 & enemies, -9)
        _add_pawns(moves, pawns << 8 & empty_last, -8)
    else:
        _add_pawns(moves, (pawns & _NOT_FILE_A) >> 9 & enemies, 9)
        _add_pawns(moves, (pawns & _NOT_FILE_H) >> 7 & enemies, 7)
        _add_pawns(moves, pawns >> 8 & empty_last, 8)
    if (target := position.ep_square) >= 0:
        for source in chess.scan_forward(BB_PAWN_ATTACKS[not turn][target] & pawns):
            moves.append(source | target << 6)
    return moves


def _add_pawns(moves: list[int], targets: int, back: int) -> None:
    """Add pawns' moves to squares; on the last rank they become queens.

    :param back: the number to add to a target to get the source.
    """
    while targets:
        target = targets.bit_length() - 1
        targets ^= 1 << target
        move = target + back | target << 6
        moves.append(move if 8 <= target < 56 else move | _TO_QUEEN)


def quiet_moves(position: Position) -> list[int]:
    """Return the moves that neither capture nor promote."""
    turn = position.turn
    empty = chess.BB_ALL & ~(position.colors[0] | position.colors[1])
    moves = _piece_moves(position, empty)
    pawns, ahead = position.bitboards[PAWN + OFFSET[turn]], empty & ~_LAST_RANKS
    if turn:
        single = pawns << 8 & ahead
        _add_pawns(moves, (single & chess.BB_RANK_3) << 8 & empty, -16)
        _add_pawns(moves, single, -8)
    else:
        single = pawns >> 8 & ahead
        _add_pawns(moves, (single & chess.BB_RANK_6) >> 8 & empty, 16)
        _add_pawns(moves, single, 8)
    if position.rights:
        _add_castlings(moves, position, empty)
    return moves


def _add_castlings(moves: list[int], position: Position, empty: int) -> None:
    for right, between, passed, move in _CASTLINGS[position.turn]:
        if position.rights & right and between & empty == between:
            enemy = not position.turn
            if not any(position.attacked(square, enemy) for square in passed):
                moves.append(move)


def lesser_promotions(position: Position) -> list[int]:
    """Return promotions to a rook, a bishop or a knight, captures or not."""
    own = position.bitboards[PAWN + OFFSET[position.turn]]
    if not own & (chess.BB_RANK_7 if position.turn else chess.BB_RANK_2):
        return []
    queens = [move for move in noisy_moves(position) if move >> 12]
    return [move & 4095 | lesser for lesser in _TO_LESSER for move in queens]


def pseudo_legal_moves(position: Position) -> list[int]:
    """Return all moves that follow the rules except that they may leave their own king in check."""
    return [*noisy_moves(position), *quiet_moves(position), *lesser_promotions(position)]


def legal_moves(position: Position) -> list[int]:
    """Return all legal moves."""
    in_check, legal = position.in_check(), []
    for move in pseudo_legal_moves(position):
        if position.make_legal(move, in_check):
            position.unmake()
            legal.append(move)
    return legal
