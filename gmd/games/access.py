"""The access map: for every square, the pieces of either colour that could move there.

All targets of a position are held in one wide integer of 64 *lanes*: bit ``64 * target + source`` says that the piece
on ``source`` may move to ``target``. One OR adds all moves of a piece, one AND forbids a set of targets to every piece,
and one unpacking yields, for each square, the set of its sources. The map of a new position therefore costs only about
ten microseconds. The same lanes say whether the side to move has a move, and which piece a SAN move means.

The rule (``PROTOCOL``, 8.1): the legal moves of each colour as if it were its turn, without castling, and with
en passant for the side to move only; and every move that would capture a king, even by a pinned piece. A side without
a king (possible in reconnaissance chess) guards nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

import chess
from chess import BB_ALL, BB_SQUARES, BLACK, WHITE, Bitboard, Board, Color, Square
from msgspec import Struct

#: One integer of 64 lanes of 64 bits; sometimes with a 65th lane.
Lanes = int

LANES_BYTES = 64 * 8

#: The first bit of every lane: a set of squares times this is that set in every lane.
_FIRST_BITS: Lanes = sum(1 << 64 * target for target in chess.SQUARES)
_ALL: Lanes = BB_ALL * _FIRST_BITS
# "~" alone would make negative numbers of sets, and "&" copies negative numbers first.
_NOT_A1, _NOT_FILE_A, _NOT_FILE_H = BB_ALL ^ chess.BB_A1, BB_ALL ^ chess.BB_FILE_A, BB_ALL ^ chess.BB_FILE_H
#: A set of squares times this is a copy of the set every 63 places.
_COPIES: Lanes = sum(1 << 63 * target for target in chess.SQUARES)


def _first_bits(targets: Bitboard) -> Lanes:
    """Return the first bit of each target's lane.

    In the copy of the set that begins at bit 63 * target, the target's own bit is bit 64 * target. With a1's bit, the
    first and last bits of the copies would overlap; so a1 is added apart.
    """
    return (targets & _NOT_A1) * _COPIES & _FIRST_BITS | targets & 1


def _lanes_of(targets: Bitboard) -> Lanes:
    """Return every bit of the targets' lanes: 2**64 - 1 times the first bit, by a shift, which is quicker."""
    first = (targets & _NOT_A1) * _COPIES & _FIRST_BITS | targets & 1
    return (first << 64) - first


#: The first bit of the 65th lane: all squares that a piece, or a side, attacks, as one set of targets.
_SEEN = 64 * 64


def _attacks(square: Square, targets: Bitboard) -> Lanes:
    """Return a piece's targets: each in its own lane, and all of them in the 65th lane."""
    return targets << _SEEN | _first_bits(targets) << square


#: The squares of one line that can block a slider, and its attacks along the line for each set of blockers.
_Line = tuple[Bitboard, dict[Bitboard, Lanes]]


def _line(square: Square, mask: Bitboard, attacks: Mapping[Bitboard, Bitboard]) -> _Line:
    lanes = {targets: _attacks(square, targets) for targets in attacks.values()}
    return mask, {blockers: lanes[targets] for blockers, targets in attacks.items()}


_RANKS = [_line(square, chess.BB_RANK_MASKS[square], chess.BB_RANK_ATTACKS[square]) for square in chess.SQUARES]
_FILES = [_line(square, chess.BB_FILE_MASKS[square], chess.BB_FILE_ATTACKS[square]) for square in chess.SQUARES]
_STRAIGHTS = [(*rank, *file) for rank, file in zip(_RANKS, _FILES, strict=True)]
_DIAGONALS = [_line(square, chess.BB_DIAG_MASKS[square], chess.BB_DIAG_ATTACKS[square]) for square in chess.SQUARES]
_KNIGHT_ATTACKS = [_attacks(square, chess.BB_KNIGHT_ATTACKS[square]) for square in chess.SQUARES]
_KING_ATTACKS = chess.BB_KING_ATTACKS

#: The squares that a rook, and a bishop, would attack on an empty board.
_ROOK_LINES = [chess.BB_RANK_ATTACKS[square][0] | chess.BB_FILE_ATTACKS[square][0] for square in chess.SQUARES]
_BISHOP_LINES = [chess.BB_DIAG_ATTACKS[square][0] for square in chess.SQUARES]

#: The squares between two squares of one line.
_BETWEEN = [[chess.between(square, other) for other in chess.SQUARES] for square in chess.SQUARES]


def _pawn_moves(color: Color) -> tuple[Lanes, Lanes, Lanes]:
    """Return the lanes of every step, double step and capture that pawns of a colour can make from any square.

    A double step is in the lane of the square that it crosses.
    """
    ahead = 8 if color else -8
    steps = crossed = captures = 0
    for square in chess.SQUARES[8:56]:
        steps |= 1 << 64 * (square + ahead) + square
        if BB_SQUARES[square] & (chess.BB_RANK_2 if color else chess.BB_RANK_7):
            crossed |= 1 << 64 * (square + ahead) + square
        captures |= _first_bits(chess.BB_PAWN_ATTACKS[color][square]) << square
    return steps, crossed, captures


_PAWNS = (_pawn_moves(BLACK), _pawn_moves(WHITE))  # indexed by colour
#: The distance in bits from a square's lane to the lane of the square ahead.
_RANK = 8 * 64


class _Knights(dict[Bitboard, Lanes]):
    """The attacks of a set of knights, whatever else is on the board. A missing set is computed and not stored."""

    def __missing__(self, knights: Bitboard) -> Lanes:
        lanes = 0
        for square in chess.scan_forward(knights):
            lanes |= _KNIGHT_ATTACKS[square]
        return lanes


#: All sets of up to two knights: 1.3 MB.
_KNIGHTS = _Knights({0: 0})
for _square, _attacked in enumerate(_KNIGHT_ATTACKS):
    _KNIGHTS |= {
        BB_SQUARES[_square] | BB_SQUARES[other]: _attacked | _KNIGHT_ATTACKS[other] for other in range(_square + 1)
    }


class Access(Struct, frozen=True, gc=False):
    """The access map of a position, and two facts that come with it."""

    #: 512 bytes: for each target square, a1 first, the set of its sources as 8 little-endian bytes.
    sources: bytes
    #: Whether the side to move is in check.
    check: bool
    #: Whether the side to move has a move other than castling or a drop.
    can_move: bool


def access(board: Board) -> Access:
    """Return the access map of a position.

    :param board: its ``ep_square`` must be None unless a legal en passant capture exists.
    """
    turn = board.turn
    own, other = board.occupied_co[turn], board.occupied_co[not turn]
    king, other_king = board.kings & own, board.kings & other
    lanes_of_own, lanes_of_other = _lanes_of(own), _lanes_of(other)
    free, other_free = _ALL ^ lanes_of_own, _ALL ^ lanes_of_other
    empty = free & other_free
    seen, moves = _look_around(board, turn, own, king, free, empty, lanes_of_other)
    seen_by_other, other_moves = _look_around(board, not turn, other, other_king, other_free, empty, lanes_of_own)
    moves = _legal(board, turn, own, king, moves, seen_by_other)
    other_moves = _legal(board, not turn, other, other_king, other_moves, seen)
    if board.ep_square is not None:
        for move in board.generate_legal_ep():
            moves |= 1 << 64 * move.to_square + move.from_square
    check = king & seen_by_other != 0
    if check:
        other_moves |= _taking(board, not turn, king)
    if other_king & seen:
        moves |= _taking(board, turn, other_king)
    return Access((moves | other_moves).to_bytes(LANES_BYTES, "little"), check, moves != 0)


def sources_of(sources: bytes, target: Square) -> Bitboard:
    """Return the squares whose pieces may move to ``target``, from :attr:`Access.sources`."""
    return int.from_bytes(sources[8 * target : 8 * target + 8], "little")


def _look_around(
    board: Board, color: Color, own: Bitboard, king: Bitboard, free: Lanes, empty: Lanes, enemies: Lanes
) -> tuple[Bitboard, Lanes]:
    """Return the squares that a colour attacks, and the moves of its pieces except the king, as if that were safe.

    The attacked squares include those of the colour's own pieces. Bits are walked by hand and no function is called
    per piece, because these loops are half of the access map's cost.

    :param own: the colour's pieces; ``king`` is its king.
    :param free: all bits of the lanes of the squares without a piece of the colour; ``empty`` of those without any
        piece, and ``enemies`` of those with a piece of the other colour.
    """
    occupied = board.occupied
    queens = board.queens & own
    lanes = _KNIGHTS[board.knights & own]
    pieces = board.rooks & own | queens
    while pieces:
        square = pieces.bit_length() - 1
        pieces ^= BB_SQUARES[square]
        rank_mask, ranks, file_mask, files = _STRAIGHTS[square]
        lanes |= ranks[occupied & rank_mask] | files[occupied & file_mask]
    pieces = board.bishops & own | queens
    while pieces:
        square = pieces.bit_length() - 1
        pieces ^= BB_SQUARES[square]
        mask, diagonals = _DIAGONALS[square]
        lanes |= diagonals[occupied & mask]
    seen = lanes >> _SEEN
    pawns = board.pawns & own
    steps, crossed, captures = _PAWNS[color]
    if color:
        seen |= (pawns & _NOT_FILE_A) << 7 | (pawns & _NOT_FILE_H) << 9
        doubles = (crossed & empty) << _RANK
    else:
        seen |= (pawns & _NOT_FILE_A) >> 9 | (pawns & _NOT_FILE_H) >> 7
        doubles = (crossed & empty) >> _RANK
    if king:
        seen |= _KING_ATTACKS[king.bit_length() - 1]
    return seen, lanes & free | pawns * _FIRST_BITS & (empty & (steps | doubles) | captures & enemies)


def _legal(board: Board, color: Color, own: Bitboard, king: Bitboard, lanes: Lanes, seen_by_other: Bitboard) -> Lanes:
    """Return the legal moves of a colour as if it were its turn, without castling, en passant and captures of a king.

    :param own: its pieces; ``king`` is its king.
    :param lanes: its moves without the king's, as if the king were safe.
    """
    if not king:
        return lanes
    square = king.bit_length() - 1
    queens = board.queens
    snipers = _ROOK_LINES[square] & (board.rooks | queens) | _BISHOP_LINES[square] & (board.bishops | queens)
    if snipers := snipers & board.occupied_co[not color]:
        lanes = _without_pinned(board, own, square, snipers, lanes)
    steps = _KING_ATTACKS[square]
    steps ^= steps & (own | seen_by_other)
    if seen_by_other & king:
        checkers = board.attackers_mask(not color, square)
        lanes &= _lanes_of(_remedies(square, checkers))
        steps &= ~_seen_through(board, square, checkers)
    return lanes | _first_bits(steps) << square


def _taking(board: Board, color: Color, king: Bitboard) -> Lanes:
    """Return the moves that capture the other side's king."""
    square = king.bit_length() - 1
    return board.attackers_mask(color, square) << 64 * square


def _without_pinned(board: Board, own: Bitboard, king: Square, snipers: Bitboard, lanes: Lanes) -> Lanes:
    """Return the moves without those of pinned pieces that leave the line of the pin."""
    occupied, between_king_and = board.occupied, _BETWEEN[king]
    while snipers:
        sniper = snipers.bit_length() - 1
        snipers ^= BB_SQUARES[sniper]
        between = between_king_and[sniper] & occupied
        if between & own and not between & (between - 1):
            off_line = _first_bits(BB_ALL & ~chess.ray(king, sniper)) << between.bit_length() - 1
            lanes ^= lanes & off_line
    return lanes


def _remedies(king: Square, checkers: Bitboard) -> Bitboard:
    """Return the targets by which a piece other than the king ends a check: a lone checker, or a square before it."""
    if checkers & (checkers - 1):
        return 0
    return checkers | _BETWEEN[king][checkers.bit_length() - 1]


def _seen_through(board: Board, king: Square, checkers: Bitboard) -> Bitboard:
    """Return the squares behind and before the king on the lines of its checks."""
    lines = 0
    for checker in chess.scan_forward(checkers & (board.rooks | board.bishops | board.queens)):
        lines |= chess.ray(checker, king) & ~BB_SQUARES[checker]
    return lines
