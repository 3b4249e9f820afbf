"""The access map: for every square, the pieces of either colour that could move there.

All targets of a position are held in one wide integer of 64 *lanes*: bit ``64 * target + source`` says that the piece
on ``source`` may move to ``target``. One OR adds all moves of a piece, and one unpacking yields, for each square, the
set of its sources: this is what makes the map of a position never seen before cost some fifteen microseconds. The same
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

#: Sets of pawn targets kept for each of eight ways to step: some 20 MB in all.
MAX_STEPS = 4_096

#: What a rook, and a bishop, would attack on an empty board.
_ROOK_LINES = [chess.BB_RANK_ATTACKS[square][0] | chess.BB_FILE_ATTACKS[square][0] for square in chess.SQUARES]
_BISHOP_LINES = [chess.BB_DIAG_ATTACKS[square][0] for square in chess.SQUARES]

#: By square, what a slider's attacks are looked up with: the lines that matter, and the attacks by what is on them.
_ROOKS = list(zip(chess.BB_RANK_MASKS, chess.BB_RANK_ATTACKS, chess.BB_FILE_MASKS, chess.BB_FILE_ATTACKS, strict=True))
_BISHOPS = list(zip(chess.BB_DIAG_MASKS, chess.BB_DIAG_ATTACKS, strict=True))
_KNIGHTS = chess.BB_KNIGHT_ATTACKS
_NOT_FILE_A, _NOT_FILE_H = ~chess.BB_FILE_A, ~chess.BB_FILE_H


def _table(step: int) -> list[list[Lanes]]:
    """One bit for each square of a rank that is set in a byte, ``step`` bits a square: ``table[rank][byte]``."""
    return [
        [sum(1 << step * (8 * rank + file) for file in range(8) if byte >> file & 1) for byte in range(256)]
        for rank in range(8)
    ]


#: Bit 0 of every target's lane.
_LANE_BITS = _table(64)
#: In every target's lane the target's own bit.
_OWN_BITS = _table(65)


def _spread(table: list[list[Lanes]], targets: Bitboard) -> Lanes:
    """A table's bits of all targets."""
    lanes = 0
    for rank, squares in enumerate(targets.to_bytes(8, "little")):
        if squares:
            lanes |= table[rank][squares]
    return lanes


class _StepLanes(dict[Bitboard, Lanes]):
    """The lanes of moves that all go ``step`` squares further, by their targets: pawns seldom move."""

    def __init__(self, step: int) -> None:
        self.step = step

    def __missing__(self, targets: Bitboard) -> Lanes:
        lanes = _spread(_OWN_BITS, targets)
        lanes = lanes >> self.step if self.step > 0 else lanes << -self.step
        if len(self) >= MAX_STEPS:
            self.clear()
        self[targets] = lanes
        return lanes


class _LanesOf(dict[Bitboard, Lanes]):
    """The lanes of one source square by the set of its targets, made when first asked for.

    A piece on a square has few sets of targets (a rook at most 400, a bishop or knight fewer, a queen is asked for as
    rook and bishop): all that there are would take some 25 MB.
    """

    def __init__(self, source: Square) -> None:
        self.source = source

    def __missing__(self, targets: Bitboard) -> Lanes:
        lanes = self[targets] = _spread(_LANE_BITS, targets) << self.source
        return lanes


_LANES = [_LanesOf(square) for square in chess.SQUARES]
#: A pawn's steps: ahead, twice ahead, and the captures towards file a and file h.
_WHITE_STEPS = [_StepLanes(step) for step in (8, 16, 7, 9)]
_BLACK_STEPS = [_StepLanes(step) for step in (-8, -16, -9, -7)]


class Access(NamedTuple):
    """What the lanes of a position say."""

    #: 512 bytes: for each target square, a1 first, the set of its sources as 8 little-endian bytes.
    sources: bytes
    #: Whether the side to move is in check.
    check: bool
    #: Whether the side to move has a move other than castling or a drop.
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
    check = own.king is not None and other.attacked & BB_SQUARES[own.king] != 0
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
        self.pinned = 0 if self.king is None else self._pinned(board, self.king)
        #: Every square this side attacks, its own pieces' squares included.
        self.attacked = 0
        #: Lanes of all pieces but the king and the pinned ones.
        self.free: Lanes = 0
        self._look_around(board)

    def _pinned(self, board: Board, king: Square) -> Bitboard:
        queens = board.queens
        snipers = (
            _ROOK_LINES[king] & (board.rooks | queens) | _BISHOP_LINES[king] & (board.bishops | queens)
        ) & ~self.own
        pinned = 0
        while snipers:
            sniper = snipers.bit_length() - 1
            snipers ^= BB_SQUARES[sniper]
            blockers = chess.between(king, sniper) & board.occupied
            if blockers and not blockers & (blockers - 1):
                pinned |= blockers & self.own
        return pinned

    def _look_around(self, board: Board) -> None:
        """Fill ``attacked`` and ``free``.

        Bits are walked by hand and nothing is called for a piece: this loop is most of a new position's cost.
        """
        own, pinned, occupied = self.own, self.pinned, board.occupied
        targetable, queens = ~own, board.queens & own
        attacked = 0 if self.king is None else chess.BB_KING_ATTACKS[self.king]
        free = 0
        pieces = board.rooks & own | queens
        while pieces:
            square = pieces.bit_length() - 1
            bit = 1 << square
            pieces ^= bit
            rank_mask, rank_attacks, file_mask, file_attacks = _ROOKS[square]
            targets = rank_attacks[occupied & rank_mask] | file_attacks[occupied & file_mask]
            attacked |= targets
            if not pinned & bit:
                free |= _LANES[square][targets & targetable]
        pieces = board.bishops & own | queens
        while pieces:
            square = pieces.bit_length() - 1
            bit = 1 << square
            pieces ^= bit
            mask, attacks = _BISHOPS[square]
            targets = attacks[occupied & mask]
            attacked |= targets
            if not pinned & bit:
                free |= _LANES[square][targets & targetable]
        pieces = board.knights & own
        while pieces:
            square = pieces.bit_length() - 1
            bit = 1 << square
            pieces ^= bit
            targets = _KNIGHTS[square]
            attacked |= targets
            if not pinned & bit:
                free |= _LANES[square][targets & targetable]
        # Pawns: the whole set a direction at a time.
        all_pawns = board.pawns & own
        west, east = all_pawns & _NOT_FILE_A, all_pawns & _NOT_FILE_H
        pawns, empty, theirs = all_pawns & ~pinned, ~occupied, board.occupied_co[not self.color]
        if self.color:
            self.attacked = attacked | west << 7 | east << 9
            ahead = pawns << 8 & empty
            twice = (ahead & chess.BB_RANK_3) << 8 & empty
            west, east = (west & pawns) << 7 & theirs, (east & pawns) << 9 & theirs
            by_steps = _WHITE_STEPS
        else:
            self.attacked = attacked | west >> 9 | east >> 7
            ahead = pawns >> 8 & empty
            twice = (ahead & chess.BB_RANK_6) >> 8 & empty
            west, east = (west & pawns) >> 9 & theirs, (east & pawns) >> 7 & theirs
            by_steps = _BLACK_STEPS
        free |= by_steps[0][ahead] | by_steps[1][twice]
        if west:
            free |= by_steps[2][west]
        if east:
            free |= by_steps[3][east]
        self.free = free

    def lanes(self, board: Board, other: _Side) -> Lanes:
        """All moves of this side as if it were its turn, without castling and en passant."""
        if self.king is None:
            lanes = self.free
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
        steps = chess.BB_KING_ATTACKS[king] & ~other.attacked & ~self.own
        return lanes | _LANES[king][steps] if steps else lanes

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


def _targets(board: Board, color: Color, square: Square) -> Bitboard:
    """Where the piece on ``square`` could move if its king were safe anyway."""
    if not board.pawns & BB_SQUARES[square]:
        return board.attacks_mask(square) & ~board.occupied_co[color]
    targets = chess.BB_PAWN_ATTACKS[color][square] & board.occupied_co[not color]
    step, home = (8, 1) if color else (-8, 6)
    ahead = BB_SQUARES[square + step]
    if not board.occupied & ahead:
        targets |= ahead
        if square >> 3 == home and not board.occupied & BB_SQUARES[square + 2 * step]:
            targets |= BB_SQUARES[square + 2 * step]
    return targets
