"""Boards of Dark chess: the true one, and the part of it that a side sees.

What is done on the true position takes the same steps whatever it hides from the side that asks, so that the time of a
request does not reveal it.
"""

from __future__ import annotations

import chess
from chess import BB_SQUARES, BLACK, WHITE, Bitboard, Board, Color

from gm_recon.pgn import ReconRules

from .position import Position, pack_unchecked, unpack

#: The last byte of a key without an en passant square.
_NO_PASSING = pack_unchecked(Board(None))[-1:]

_KNIGHT_STEPS = [
    (first, second)
    for first, seconds in (
        (chess.shift_2_up, (chess.shift_left, chess.shift_right)),
        (chess.shift_2_down, (chess.shift_left, chess.shift_right)),
        (chess.shift_2_left, (chess.shift_up, chess.shift_down)),
        (chess.shift_2_right, (chess.shift_up, chess.shift_down)),
    )
    for second in seconds
]
_ROOK_STEPS = [chess.shift_up, chess.shift_down, chess.shift_left, chess.shift_right]
_BISHOP_STEPS = [chess.shift_up_left, chess.shift_up_right, chess.shift_down_left, chess.shift_down_right]


class DarkBoard(ReconRules):
    """A board without check: every pseudo-legal move may be made, and so may castling out of or through an attack."""

    def has_insufficient_material(self, color: Color) -> bool:
        return False  # a king alone may capture a king


class TrueBoard(DarkBoard):
    """The board of a game: its castling rights were checked at the start, and moves keep them clean."""

    def clean_castling_rights(self) -> Bitboard:
        return self.castling_rights


class _SeenBoard(DarkBoard):
    """The part of a board that the side to move sees, with every unseen square occupied by nothing."""

    def is_variant_end(self) -> bool:
        return False  # an unseen king is not a captured one


def can_move(board: Board) -> bool:
    """Return whether the side to move has a pseudo-legal move, in the same steps for every position.

    A piece that moves along a line has a move if it has one by a single step; so has a king that may castle.
    """
    own, pawns = board.occupied_co[board.turn], board.pawns & board.occupied_co[board.turn]
    straight, diagonal = own & (board.rooks | board.queens), own & (board.bishops | board.queens)
    kings, knights = own & board.kings, own & board.knights
    targets = 0
    for step in _ROOK_STEPS:
        targets |= step(straight | kings)
    for step in _BISHOP_STEPS:
        targets |= step(diagonal | kings)
    for first, second in _KNIGHT_STEPS:
        targets |= second(first(knights))
    targets &= ~own
    passing = chess.BB_EMPTY if board.ep_square is None else BB_SQUARES[board.ep_square]
    forward = chess.shift_up(pawns) if board.turn else chess.shift_down(pawns)
    captures = chess.shift_left(forward) | chess.shift_right(forward)
    targets |= forward & ~board.occupied | captures & (board.occupied ^ own | passing)
    return targets != 0


def pack_passing(board: Board) -> Position:
    """Return the key of a board's position, in the same steps whether or not a pawn may capture en passant.

    :func:`~gmd.games.position.pack` searches: a player's own double step would take longer beside an enemy pawn that it
    does not see.

    :param board: standard chess; its en passant square is empty, as it is after any move.
    """
    key = pack_unchecked(board)
    if board.ep_square is None:
        return key
    capturers = board.pawns & board.occupied_co[board.turn] & chess.BB_PAWN_ATTACKS[not board.turn][board.ep_square]
    return (key[:-1] + _NO_PASSING, key)[capturers != 0]


def targets_of(board: Board, color: Color, pieces: Bitboard) -> Bitboard:
    """Return the squares that some of a side's pieces could move to in its turn, without castling and en passant.

    They include the squares of the side's own pieces that these guard.
    """
    occupied, pawns = board.occupied, board.pawns & pieces
    targets = 0
    for square in chess.scan_forward(pieces ^ pawns):
        targets |= board.attacks_mask(square)
    for square in chess.scan_forward(pawns):
        targets |= board.attacks_mask(square) & board.occupied_co[not color]
    forward = chess.shift_up if color else chess.shift_down
    steps = forward(pawns) & ~occupied
    crossed = chess.BB_RANK_3 if color else chess.BB_RANK_6
    return targets | steps | forward(steps & crossed) & ~occupied


def _passers(board: Board, color: Color) -> Bitboard:
    """Return the pawns of a side that may capture en passant."""
    if board.turn != color or board.ep_square is None:  # in this order: the side not to move may not know the square
        return chess.BB_EMPTY
    return board.pawns & board.occupied_co[color] & chess.BB_PAWN_ATTACKS[not color][board.ep_square]


def visible_squares(board: Board, color: Color) -> Bitboard:
    """Return the squares that a side sees: its own pieces, their targets, and a pawn it may capture en passant.

    The side need not be the side to move.
    """
    own = board.occupied_co[color]
    visible = own | targets_of(board, color, own)
    if _passers(board, color) and board.ep_square is not None:
        visible |= BB_SQUARES[board.ep_square] | BB_SQUARES[board.ep_square + (-8 if color else 8)]
    return visible


def _redacted(position: Position, seat: Color) -> tuple[Board, Bitboard]:
    """Return a board with only what a seat sees of a true position, and the visible squares.

    The steps depend on the seat's own pieces alone.
    """
    board = unpack(position)
    visible = visible_squares(board, seat)
    board.pawns &= visible
    board.knights &= visible
    board.bishops &= visible
    board.rooks &= visible
    board.queens &= visible
    board.kings &= visible
    board.occupied_co[WHITE] &= visible
    board.occupied_co[BLACK] &= visible
    board.castling_rights &= chess.BB_RANK_1 if seat else chess.BB_RANK_8
    if not _passers(board, seat):
        board.ep_square = None
    board.turn = seat
    return board, visible


def seen_part(position: Position, seat: Color) -> Position:
    """Return what a seat sees of a true position: a position that holds only that, followed by the visible squares."""
    board, visible = _redacted(position, seat)
    return pack_unchecked(board) + visible.to_bytes(8, "little")


def seen_board(position: Position, seat: Color) -> DarkBoard:
    """Return a board with only what a seat sees of a true position, on which its moves are those of the true one."""
    seen, visible = _redacted(position, seat)
    board = _SeenBoard(None)
    board.pawns, board.knights, board.bishops = seen.pawns, seen.knights, seen.bishops
    board.rooks, board.queens, board.kings = seen.rooks, seen.queens, seen.kings
    board.occupied_co = seen.occupied_co
    board.occupied = seen.occupied_co[WHITE] | seen.occupied_co[BLACK] | unseen(visible)
    board.castling_rights, board.turn, board.ep_square = seen.castling_rights, seat, seen.ep_square
    return board


def unseen(visible: Bitboard) -> Bitboard:
    """Return the other squares, to be blocked: a pawn does not see the one before it only if that is occupied."""
    return chess.BB_ALL ^ visible


def sources_of(board: Board, color: Color) -> list[Bitboard]:
    """Return, for each square, the pieces of a side that can move there; en passant counts for the side to move."""
    own, sources = board.occupied_co[color], [chess.BB_EMPTY] * 64
    for source in chess.scan_forward(own):
        bit = BB_SQUARES[source]
        for target in chess.scan_forward(targets_of(board, color, bit) & ~own):
            sources[target] |= bit
    if color == board.turn and board.ep_square is not None:
        sources[board.ep_square] |= _passers(board, color)
    return sources
