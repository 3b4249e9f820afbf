"""A side's pieces as one integer, and every result of its next move.

The integer has seven lanes of 64 bits: all occupied squares, then those of pawns, knights, bishops, rooks, queens and
the king, in python-chess's order of squares. Above them are two bits for castling rights, and eight for the file of a
pawn that may be captured en passant. A move is an XOR with a value from the tables below; captures change only the
other side's pieces, which are stored elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from operator import or_

import chess
from chess import BB_SQUARES, Bitboard, Color, PieceType, Square

LANE = chess.BB_ALL
LANES = 7
QUEENSIDE, KINGSIDE = 1 << 64 * LANES, 2 << 64 * LANES
RIGHTS = QUEENSIDE | KINGSIDE
EP_SHIFT = 64 * LANES + 2
EP = 0xFF << EP_SHIFT
ALL = (1 << EP_SHIFT + 8) - 1
WITHOUT_RIGHTS = ALL ^ RIGHTS

#: The most results that :class:`MoveTables` keep, of some 300 bytes each. Full tables are emptied, and those in use
#: return at once.
MAX_KEPT = 50_000
#: The most placements of the pieces of one type that are listed at once.
MAX_LANE = 4_096

_COLUMNS = [sum(1 << 64 * lane + square for lane in range(LANES)) for square in chess.SQUARES]
_PROMOTIONS = (chess.QUEEN, chess.ROOK, chess.BISHOP, chess.KNIGHT)
_BACK_RANKS = chess.BB_RANK_1 | chess.BB_RANK_8


def at(piece_type: PieceType, square: Square) -> int:
    """Return the bits of a piece on a square."""
    return 1 << square | 1 << 64 * piece_type + square


def column(square: Square) -> int:
    """Return the bits of every piece on a square."""
    return _COLUMNS[square]


def rook_right(color: Color, square: Square) -> int:
    """Return the castling right that is lost when the rook leaves a square or is captured there; 0 for most squares."""
    home = 0 if color else 56
    return {home: QUEENSIDE, home + 7: KINGSIDE}.get(square, 0)


def lanes(board: chess.Board, color: Color) -> int:
    """Return a side's pieces and castling rights from a board, without en passant."""
    pieces = board.piece_map(mask=board.occupied_co[color])
    position = 0
    for square, piece in pieces.items():
        position |= at(piece.piece_type, square)
    for square in chess.scan_forward(board.castling_rights):
        position |= rook_right(color, square)
    return position


def squares(positions: Iterable[int]) -> Bitboard:
    """Return the squares on which one of the positions has a piece."""
    return reduce(or_, positions, 0) & LANE


def put(board: chess.Board, position: int, color: Color) -> None:
    """Put all pieces of a side on a board that has none of it. (Square by square this takes ten times as long.)"""
    board.pawns |= position >> 64 * chess.PAWN & LANE
    board.knights |= position >> 64 * chess.KNIGHT & LANE
    board.bishops |= position >> 64 * chess.BISHOP & LANE
    board.rooks |= position >> 64 * chess.ROOK & LANE
    board.queens |= position >> 64 * chess.QUEEN & LANE
    board.kings |= position >> 64 * chess.KING & LANE
    board.occupied_co[color] |= position & LANE
    board.occupied |= position & LANE


class _Targets(dict[Bitboard, tuple[int, ...]]):
    """A piece's moves to free squares, by the occupied squares on its lines."""

    def __init__(self, tables: MoveTables, piece_type: PieceType, square: Square) -> None:
        board = chess.BaseBoard.empty()
        board.set_piece_at(square, chess.Piece(piece_type, chess.WHITE))
        leave = at(piece_type, square)
        self._tables, self._board, self._square = tables, board, square
        self._changes = [leave ^ at(piece_type, target) for target in chess.SQUARES]
        self.lines: Bitboard = board.attacks_mask(square)

    def __missing__(self, held: Bitboard) -> tuple[int, ...]:
        self._board.occupied = held
        free = self._board.attacks_mask(self._square) & ~held
        self._tables.make_room()
        self[held] = moves = tuple(map(self._changes.__getitem__, chess.scan_forward(free)))
        return moves


class MoveTables(dict[tuple[PieceType, Square], _Targets]):
    """The moves of pieces, listed once for each occupation of their lines: what one player's positions have in common.

    The time of a later expansion shows which occupations are listed already. So tables belong to
    one player of one game, and are never shared.
    """

    def __init__(self) -> None:
        super().__init__()
        self._kept = 0

    def __missing__(self, key: tuple[PieceType, Square]) -> _Targets:
        self[key] = targets = _Targets(self, *key)
        return targets

    def make_room(self) -> None:
        """Make room for one more list of moves."""
        if self._kept >= MAX_KEPT:
            for targets in self.values():
                targets.clear()
            self._kept = 0
        self._kept += 1


class _Lane(dict[Bitboard, list[tuple[int, Bitboard, _Targets]]]):
    """The pieces of a type, by their squares: for each, a mask of the rights left after its move, and its moves."""

    def __init__(self, tables: MoveTables, piece_type: PieceType, color: Color) -> None:
        self._tables, self._piece_type, self._color = tables, piece_type, color

    def __missing__(self, held: Bitboard) -> list[tuple[int, Bitboard, _Targets]]:
        if len(self) >= MAX_LANE:
            self.clear()
        self[held] = pieces = [self._piece(square) for square in chess.scan_forward(held)]
        return pieces

    def _piece(self, square: Square) -> tuple[int, Bitboard, _Targets]:
        targets = self._tables[self._piece_type, square]
        return ALL ^ lost_rights(self._piece_type, self._color, square), targets.lines, targets


def lost_rights(piece_type: PieceType, color: Color, square: Square) -> int:
    """Return the castling rights that are lost when a piece leaves a square."""
    if piece_type == chess.KING:
        return RIGHTS
    return rook_right(color, square) if piece_type == chess.ROOK else 0


class Successors:
    """The results of a side's next move, for positions of its pieces."""

    def __init__(
        self,
        tables: MoveTables,
        color: Color,
        others: Bitboard,
        other_pawns: Bitboard,
        ep_square: Square | None,
        capture: Square | None,
    ) -> None:
        """:param tables: the moves of pieces, kept from turn to turn.
        :param color: the side that moves.
        :param others: the other side's squares, whose pawns may capture en passant.
        :param ep_square: the square that a pawn of the other side has just passed.
        :param capture: the square of the move's capture, or None.
        """
        self._color, self._others, self._capture = color, others, capture
        self._passed = None
        if ep_square is not None and capture == ep_square + (8 if not color else -8):
            self._passed = ep_square
        self._lanes = [
            (64 * lane, _Lane(tables, lane, color)) for lane in (chess.KNIGHT, chess.BISHOP, chess.ROOK, chess.QUEEN)
        ]
        self._king = _Lane(tables, chess.KING, color)
        self._single: dict[Bitboard, list[int]] = {}
        self._double: dict[Bitboard, list[int]] = {}
        rank = chess.BB_RANK_4 if color else chess.BB_RANK_5
        pawns = other_pawns & rank
        #: Targets of double steps that can be captured en passant.
        self._passing = (pawns & ~chess.BB_FILE_H) << 1 | (pawns & ~chess.BB_FILE_A) >> 1
        home = 0 if color else 56
        self._castlings = [
            (KINGSIDE, (BB_SQUARES[5] | BB_SQUARES[6]) << home, _castling(home, 6, 7, 5)),
            (QUEENSIDE, (BB_SQUARES[1] | BB_SQUARES[2] | BB_SQUARES[3]) << home, _castling(home, 2, 0, 3)),
        ]

    def add(self, position: int, found: set[int]) -> None:
        """Add all following positions to a set. An en passant capture of the present position is no longer possible."""
        if self._capture is None:
            self._add_quiet(position, found)
        else:
            self._add_captures(position, self._capture, found)

    def _add_quiet(self, position: int, found: set[int]) -> None:
        held = position & LANE | self._others
        found.add(position)  # a pass, or a move that the board refuses
        for shift, lane in self._lanes:
            for keep, lines, targets in lane[position >> shift & LANE]:
                found.update(map((position & keep).__xor__, targets[held & lines]))
        for keep, lines, targets in self._king[position >> 64 * chess.KING & LANE]:
            found.update(map((position & keep).__xor__, targets[held & lines]))
        self._add_pushes(position, held, found)
        if position & RIGHTS:
            for right, between, change in self._castlings:
                if position & right and not held & between:
                    found.add(position & WITHOUT_RIGHTS ^ change)

    def _add_pushes(self, position: int, held: Bitboard, found: set[int]) -> None:
        pawns = position >> 64 & LANE
        if self._color:
            single = pawns << 8 & ~held
            double = (single & chess.BB_RANK_3) << 8 & ~held
        else:
            single = pawns >> 8 & ~held
            double = (single & chess.BB_RANK_6) >> 8 & ~held
        moves = self._single.get(single)
        found.update(map(position.__xor__, self._list_single(single) if moves is None else moves))
        if double:
            moves = self._double.get(double)
            found.update(map(position.__xor__, self._list_double(double) if moves is None else moves))

    def _list_single(self, targets: Bitboard) -> list[int]:
        step = 8 if self._color else -8
        moves = [move for square in chess.scan_forward(targets) for move in _pawn_moves(square - step, square)]
        self._single[targets] = moves
        return moves

    def _list_double(self, targets: Bitboard) -> list[int]:
        step = 16 if self._color else -16
        moves = []
        for square in chess.scan_forward(targets):
            passing = 1 << EP_SHIFT + chess.square_file(square) if self._passing & BB_SQUARES[square] else 0
            moves.append(at(chess.PAWN, square - step) ^ at(chess.PAWN, square) ^ passing)
        self._double[targets] = moves
        return moves

    def _add_captures(self, position: int, square: Square, found: set[int]) -> None:
        held = position & LANE | self._others
        for piece_type in (chess.KNIGHT, chess.BISHOP, chess.ROOK, chess.QUEEN, chess.KING):
            attackers = _attacks(piece_type, square, held) & position >> 64 * piece_type
            for source in chess.scan_forward(attackers & LANE):
                left = position & (ALL ^ lost_rights(piece_type, self._color, source))
                found.add(left ^ at(piece_type, source) ^ at(piece_type, square))
        for target in {square} if self._passed is None else {square, self._passed}:
            attackers = chess.BB_PAWN_ATTACKS[not self._color][target] & position >> 64
            for source in chess.scan_forward(attackers):
                found.update(map(position.__xor__, _pawn_moves(source, target)))


def _attacks(piece_type: PieceType, square: Square, held: Bitboard) -> Bitboard:
    """Return the squares from which a piece could move to a square."""
    if piece_type == chess.KNIGHT:
        return chess.BB_KNIGHT_ATTACKS[square]
    if piece_type == chess.KING:
        return chess.BB_KING_ATTACKS[square]
    attacks = 0
    if piece_type in (chess.BISHOP, chess.QUEEN):
        attacks |= chess.BB_DIAG_ATTACKS[square][chess.BB_DIAG_MASKS[square] & held]
    if piece_type in (chess.ROOK, chess.QUEEN):
        attacks |= chess.BB_RANK_ATTACKS[square][chess.BB_RANK_MASKS[square] & held]
        attacks |= chess.BB_FILE_ATTACKS[square][chess.BB_FILE_MASKS[square] & held]
    return attacks


def _pawn_moves(source: Square, target: Square) -> list[int]:
    """Return a pawn's move, or its promotions."""
    types = _PROMOTIONS if BB_SQUARES[target] & _BACK_RANKS else (chess.PAWN,)
    return [at(chess.PAWN, source) ^ at(piece_type, target) for piece_type in types]


def _castling(home: int, king: int, rook: int, rook_target: int) -> int:
    """Return the change that castling makes; the king comes from the fifth file."""
    kings = at(chess.KING, home + 4) ^ at(chess.KING, home + king)
    return kings ^ at(chess.ROOK, home + rook) ^ at(chess.ROOK, home + rook_target)
