"""The access map: for every square, the pieces of either colour that could move there.

All targets of a position are held in one wide integer of 64 *lanes*: bit ``64 * target + source`` says that the piece
on ``source`` may move to ``target``. One OR adds all moves of a piece, and one unpacking yields, for each square, the
set of its sources: this is what makes the map of a position never seen before cost tens of microseconds. The same
lanes say whether the side to move can move at all, and which piece a SAN move means.

The rule (``PROTOCOL``, "access_map"): legal moves of each colour as if it were its turn, castling excluded, en passant
for the side to move only; and every move that would take a king, even by a pinned piece. A side without a king (which
reconnaissance chess can reach) guards nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import chess
from chess import BB_SQUARES, BLACK, WHITE, Bitboard, Board, Color, Square

#: 64 lanes of 64 bits in one integer.
Lanes = int

LANES_BYTES = 64 * 8

_FULL_LANE = chess.BB_ALL

ROOK_LINES = [chess.BB_RANK_ATTACKS[square][0] | chess.BB_FILE_ATTACKS[square][0] for square in chess.SQUARES]
BISHOP_LINES = [chess.BB_DIAG_ATTACKS[square][0] for square in chess.SQUARES]


def _spread(source: Square, targets: Bitboard) -> Lanes:
    return sum(1 << (64 * target + source) for target in chess.scan_forward(targets))


class _LanesOf(dict[Bitboard, Lanes]):
    """The lanes of one source square by the set of its targets, made when first asked for."""

    def __init__(self, source: Square) -> None:
        self.source = source

    def __missing__(self, targets: Bitboard) -> Lanes:
        lanes = self[targets] = _spread(self.source, targets)
        return lanes


class _Line(dict[Bitboard, tuple[Bitboard, Lanes]]):
    """A slider's attacks along one line, and their lanes, by the occupation of that line.

    There are 64 keys for a rank or a file, at most 512 for a pair of diagonals.
    """

    def __init__(self, source: Square, attacks: dict[Bitboard, Bitboard]) -> None:
        self.source = source
        self.attacks = attacks

    def __missing__(self, occupied: Bitboard) -> tuple[Bitboard, Lanes]:
        attacks = self.attacks[occupied]
        entry = self[occupied] = (attacks, _LANES[self.source][attacks])
        return entry


class _RankLanes(dict[int, Lanes]):
    """Full lanes for the squares of one rank that are set in a byte."""

    def __init__(self, rank: int) -> None:
        self.rank = rank

    def __missing__(self, squares: int) -> Lanes:
        first = 8 * self.rank
        lanes = sum(_FULL_LANE << 64 * (first + square) for square in chess.scan_forward(squares))
        self[squares] = lanes
        return lanes


_LANES = [_LanesOf(square) for square in chess.SQUARES]
_RANKS = [_Line(square, chess.BB_RANK_ATTACKS[square]) for square in chess.SQUARES]
_FILES = [_Line(square, chess.BB_FILE_ATTACKS[square]) for square in chess.SQUARES]
_DIAGONALS = [_Line(square, chess.BB_DIAG_ATTACKS[square]) for square in chess.SQUARES]
_KNIGHTS = [_LANES[square][chess.BB_KNIGHT_ATTACKS[square]] for square in chess.SQUARES]
_RANK_LANES = [_RankLanes(rank) for rank in range(8)]


class Access(NamedTuple):
    """What the lanes of a position say."""

    #: 512 bytes: for each target square, a1 first, the set of its sources as 8 little-endian bytes.
    sources: bytes
    #: Whether the side to move is in check.
    check: bool
    #: Whether the side to move has a move other than castling or a drop. (Who may castle can also move the king.)
    can_move: bool


def access(board: Board) -> Access:
    """The access map of a position.

    :param board: its ``ep_square`` must be None unless a legal en passant capture exists.
    """
    sides = (_Side(board, BLACK), _Side(board, WHITE))  # indexed by colour
    own, other = sides[board.turn], sides[not board.turn]
    lanes = own.lanes(board, other)
    if board.ep_square is not None:
        for move in board.generate_legal_ep():
            lanes |= _LANES[move.from_square][BB_SQUARES[move.to_square]]
    both = lanes | other.lanes(board, own)
    check = bool(own.king is not None and other.attacked & BB_SQUARES[own.king])
    return Access(both.to_bytes(LANES_BYTES, "little"), check, lanes != 0)


def sources_of(sources: bytes, target: Square) -> Bitboard:
    """The squares whose pieces may move to ``target``, out of :attr:`Access.sources`."""
    return int.from_bytes(sources[8 * target : 8 * target + 8], "little")


class _Side:
    """One colour's attacks, pins and unpinned moves, before the other side's attacks are known."""

    __slots__ = ("attacked", "color", "free", "king", "own", "pinned")

    def __init__(self, board: Board, color: Color) -> None:
        self.color = color
        self.own = board.occupied_co[color]
        self.king = board.king(color)
        self.pinned = self._pinned(board)
        #: Every square this side attacks, its own pieces' squares included.
        self.attacked = 0
        #: Lanes of all pieces but the king and the pinned ones, targets held by this side included.
        self.free: Lanes = 0
        self._look_around(board)

    def _pinned(self, board: Board) -> Bitboard:
        if self.king is None:
            return 0
        queens = board.queens
        snipers = ROOK_LINES[self.king] & (board.rooks | queens) | BISHOP_LINES[self.king] & (board.bishops | queens)
        pinned = 0
        for sniper in chess.scan_forward(snipers & ~self.own):
            blockers = chess.between(self.king, sniper) & board.occupied
            if blockers and not blockers & (blockers - 1):
                pinned |= blockers & self.own
        return pinned

    def _look_around(self, board: Board) -> None:
        """Fill ``attacked`` and ``free``. Bits are walked by hand: this loop is the cost of a new position."""
        own, pinned, occupied = self.own, self.pinned, board.occupied
        attacked = free = 0
        straight = (board.rooks | board.queens) & own
        pieces = straight
        while pieces:
            square = pieces.bit_length() - 1
            bit = BB_SQUARES[square]
            pieces ^= bit
            along, along_lanes = _RANKS[square][occupied & chess.BB_RANK_MASKS[square]]
            across, across_lanes = _FILES[square][occupied & chess.BB_FILE_MASKS[square]]
            attacked |= along | across
            if not pinned & bit:
                free |= along_lanes | across_lanes
        pieces = (board.bishops | board.queens) & own
        while pieces:
            square = pieces.bit_length() - 1
            bit = BB_SQUARES[square]
            pieces ^= bit
            targets, lanes = _DIAGONALS[square][occupied & chess.BB_DIAG_MASKS[square]]
            attacked |= targets
            if not pinned & bit:
                free |= lanes
        pieces = board.knights & own
        while pieces:
            square = pieces.bit_length() - 1
            bit = BB_SQUARES[square]
            pieces ^= bit
            attacked |= chess.BB_KNIGHT_ATTACKS[square]
            if not pinned & bit:
                free |= _KNIGHTS[square]
        pieces = board.pawns & own & ~pinned
        while pieces:
            square = pieces.bit_length() - 1
            pieces ^= BB_SQUARES[square]
            targets = _pawn_targets(board, self.color, square)
            if targets:
                free |= _LANES[square][targets]
        self.attacked = attacked | _pawn_attacks(board.pawns & own, self.color)
        if self.king is not None:
            self.attacked |= chess.BB_KING_ATTACKS[self.king]
        self.free = free

    def lanes(self, board: Board, other: _Side) -> Lanes:
        """All moves of this side as if it were its turn, without castling and en passant."""
        if self.king is None:
            lanes = self._without_own_targets(self.free)
        elif other.attacked & BB_SQUARES[self.king]:
            lanes = self._evasions(board, other, self.king)
        else:
            lanes = self._quiet(board, other, self.king)
        if other.king is not None and self.attacked & BB_SQUARES[other.king]:
            for square in chess.scan_forward(board.attackers_mask(self.color, other.king)):
                lanes |= _LANES[square][BB_SQUARES[other.king]]
        return lanes

    def _quiet(self, board: Board, other: _Side, king: Square) -> Lanes:
        """Moves of a side that is not in check."""
        lanes = self.free
        for square in chess.scan_forward(self.pinned):
            targets = _targets(board, self.color, square) & chess.ray(king, square)
            if targets:
                lanes |= _LANES[square][targets]
        steps = chess.BB_KING_ATTACKS[king] & ~other.attacked
        if steps:
            lanes |= _LANES[king][steps]
        return self._without_own_targets(lanes)

    def _evasions(self, board: Board, other: _Side, king: Square) -> Lanes:
        """Moves out of check: the king off every line it is seen along, or others between or onto a lone checker."""
        checkers = board.attackers_mask(other.color, king)
        steps = chess.BB_KING_ATTACKS[king] & ~other.attacked & ~self.own
        for checker in chess.scan_forward(checkers & (board.rooks | board.bishops | board.queens)):
            steps &= ~chess.ray(checker, king) | BB_SQUARES[checker]
        lanes = _LANES[king][steps]
        if not checkers & (checkers - 1):
            useful = checkers | chess.between(king, checkers.bit_length() - 1)
            for square in chess.scan_forward(self.own & ~board.kings & ~self.pinned):
                targets = _targets(board, self.color, square) & useful
                if targets:
                    lanes |= _LANES[square][targets]
        return lanes

    def _without_own_targets(self, lanes: Lanes) -> Lanes:
        blocked = 0
        for rank, squares in enumerate(self.own.to_bytes(8, "little")):
            if squares:
                blocked |= _RANK_LANES[rank][squares]
        return lanes & ~blocked


def _targets(board: Board, color: Color, square: Square) -> Bitboard:
    """Where the piece on ``square`` could move if its king were safe anyway."""
    if board.pawns & BB_SQUARES[square]:
        return _pawn_targets(board, color, square)
    return board.attacks_mask(square) & ~board.occupied_co[color]


def _pawn_targets(board: Board, color: Color, square: Square) -> Bitboard:
    targets = chess.BB_PAWN_ATTACKS[color][square] & board.occupied_co[not color]
    step, home = (8, 1) if color else (-8, 6)
    ahead = BB_SQUARES[square + step]
    if not board.occupied & ahead:
        targets |= ahead
        if square >> 3 == home and not board.occupied & BB_SQUARES[square + 2 * step]:
            targets |= BB_SQUARES[square + 2 * step]
    return targets


def _pawn_attacks(pawns: Bitboard, color: Color) -> Bitboard:
    if color:
        return (pawns & ~chess.BB_FILE_A) << 7 | (pawns & ~chess.BB_FILE_H) << 9 & chess.BB_ALL
    return (pawns & ~chess.BB_FILE_A) >> 9 | (pawns & ~chess.BB_FILE_H) >> 7
