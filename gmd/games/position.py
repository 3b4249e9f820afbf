"""Positions as short byte strings (keys), for live games, the repetition count and the cache of facts.

A key holds everything that determines the legal moves, and nothing else: pieces, pockets, side to move, castling
rights, an en passant square only where a legal en passant capture exists, and the family of rules. It holds no move
counters. A position is a repetition of another exactly if their keys are equal (the FIDE rule, as python-chess reads
it).
"""

from __future__ import annotations

import struct
from enum import IntEnum

import chess
import chess.variant
from chess import BB_SQUARES, Board, Move, Square
from chess.variant import CrazyhouseBoard, CrazyhousePocket

#: A position, packed.
Position = bytes

#: A square and its new content: see :func:`content`.
Change = tuple[Square, int]


class Family(IntEnum):
    """The rules of a position; the two with 960 in their names castle as in Chess960."""

    STANDARD = 0
    CHESS960 = 1
    CRAZYHOUSE = 2
    CRAZYHOUSE960 = 3

    @property
    def chess960(self) -> bool:
        """Whether castling is encoded as the king capturing its own rook."""
        return bool(self & 1)

    @property
    def drops(self) -> bool:
        """Whether captured pieces go to a pocket and can be dropped."""
        return bool(self & 2)

    def board(self, fen: str | None = None) -> Board:
        """Return a board of these rules, empty unless a FEN is given.

        :raises ValueError: the FEN does not parse.
        """
        if self.drops:
            return CrazyhouseBoard(fen, chess960=self.chess960)
        return Board(fen, chess960=self.chess960)


# Eight bitboards (pawns, knights, bishops, rooks, queens, kings, white, promoted), castling rights as a bitboard,
# family, turn, en passant square. The eight come first, so that key[rank:64:8] is one rank of all of them.
_CORE = struct.Struct("<8QQBBB")
_NO_SQUARE = 255

#: In crazyhouse ten counts follow: White's pawns, knights, bishops, rooks and queens in hand, then Black's.
_POCKETS = struct.Struct("<10B")
_IN_HAND = (chess.PAWN, chess.KNIGHT, chess.BISHOP, chess.ROOK, chess.QUEEN)

_FAMILY_OFFSET = 8 * 9
TURN_OFFSET = _FAMILY_OFFSET + 1
_EP_SQUARE_OFFSET = _FAMILY_OFFSET + 2


def pack(board: Board) -> Position:
    """Return the key of a board's position; remove from the board an en passant square without a legal capture.

    :param board: its castling rights must be clean, as they are after any move and in any valid position.
    """
    if board.ep_square is not None and not board.has_legal_en_passant():
        board.ep_square = None
    return pack_unchecked(board)


def pack_unchecked(board: Board) -> Position:
    """Return the board packed with its en passant square, even if no legal capture exists: not a key to compare.

    The check for a legal capture takes longer if an enemy pawn stands next to the moved pawn, which the moving player
    may not know. :func:`settled` turns the result into a key.
    """
    pockets = board.pockets if isinstance(board, CrazyhouseBoard) else None
    key = _CORE.pack(
        board.pawns,
        board.knights,
        board.bishops,
        board.rooks,
        board.queens,
        board.kings,
        board.occupied_co[chess.WHITE],
        0 if pockets is None else board.promoted,
        board.castling_rights,
        board.chess960 + 2 * (pockets is not None),
        board.turn,
        _NO_SQUARE if board.ep_square is None else board.ep_square,
    )
    if pockets is not None:
        white, black = pockets[chess.WHITE], pockets[chess.BLACK]
        key += _POCKETS.pack(*map(white.count, _IN_HAND), *map(black.count, _IN_HAND))
    return key


def content(board: Board, square: Square) -> int:
    """Return a square's content as a number: the piece's type, plus 8 if it is White's, plus 16 if it is promoted.

    An empty square is 0.
    """
    bit = BB_SQUARES[square]
    white, promoted = board.occupied_co[chess.WHITE] & bit, board.promoted & bit
    return (board.piece_type_at(square) or 0) + 8 * (white != 0) + 16 * (promoted != 0)


def contents(board: Board, squares: chess.Bitboard) -> list[Change]:
    """Return the contents of some squares."""
    return [(square, content(board, square)) for square in chess.scan_forward(squares)]


def advance(board: Board, move: Move, piece_type: chess.PieceType | None) -> list[Change]:
    """Make a legal move, without the counters and history that a key does not hold.

    :param piece_type: the type of the piece that moves; None for a drop.

    Returns the new content of every square that the move changed. Common moves are made here, at a quarter of the cost
    of :meth:`chess.Board.push`; castling, en passant, promotions and all crazyhouse moves are left to it.
    """
    turn, from_square, to_square = board.turn, move.from_square, move.to_square
    source, target = BB_SQUARES[from_square], BB_SQUARES[to_square]
    own, other = board.occupied_co[turn], board.occupied_co[not turn]
    step = abs(to_square - from_square)
    if piece_type == chess.KING:
        plain = not (target & own or step == 2)
    elif piece_type == chess.PAWN:
        plain = not (move.promotion or (step & 1 and not target & other))
    else:
        plain = True
    drops = isinstance(board, CrazyhouseBoard)
    if drops or not plain:
        occupied = board.occupied
        board.push(move)
        board.clear_stack()
        if not drops:
            board.promoted = 0  # nothing else clears it, and python-chess would not count a king on a promoted square
        return contents(board, source | target | (occupied ^ board.occupied))
    both = source | target
    if target & other:
        _clear(board, chess.BB_ALL ^ target)
        board.occupied_co[not turn] = other = other ^ target
    board.ep_square = None
    if piece_type == chess.PAWN:
        board.pawns ^= both
        if step == 16:
            board.ep_square = (from_square + to_square) // 2
    elif piece_type == chess.KNIGHT:
        board.knights ^= both
    elif piece_type == chess.KING:
        board.kings ^= both
        board.castling_rights &= ~(chess.BB_RANK_1 if turn else chess.BB_RANK_8)
    elif piece_type == chess.ROOK:
        board.rooks ^= both
    elif piece_type == chess.BISHOP:
        board.bishops ^= both
    else:
        assert piece_type == chess.QUEEN
        board.queens ^= both
    board.castling_rights ^= board.castling_rights & both
    board.occupied_co[turn] = own ^ both
    board.occupied = own ^ both | other
    board.turn = not turn
    return [(from_square, 0), (to_square, piece_type + 8 * turn)]


def _clear(board: Board, kept: chess.Bitboard) -> None:
    """Remove all pieces (none is a king) from the squares that are not kept, in the bitboards by piece type."""
    board.pawns &= kept
    board.knights &= kept
    board.bishops &= kept
    board.rooks &= kept
    board.queens &= kept


def unpack(position: Position) -> Board:
    """Return a new board of the position, without history and with its move counters at 0 and 1."""
    (pawns, knights, bishops, rooks, queens, kings, white, promoted, castling, family, turn, ep_square) = (
        _CORE.unpack_from(position)
    )
    board = _EMPTY[family].copy(stack=False)
    board.pawns, board.knights, board.bishops = pawns, knights, bishops
    board.rooks, board.queens, board.kings = rooks, queens, kings
    board.occupied = occupied = pawns | knights | bishops | rooks | queens | kings
    board.occupied_co[chess.WHITE] = white
    board.occupied_co[chess.BLACK] = occupied ^ white
    board.promoted = promoted
    board.castling_rights = castling
    board.turn = bool(turn)
    board.ep_square = None if ep_square == _NO_SQUARE else ep_square
    if isinstance(board, CrazyhouseBoard):
        counts = _POCKETS.unpack_from(position, _CORE.size)
        board.pockets[chess.WHITE] = _pocket(counts[:5])
        board.pockets[chess.BLACK] = _pocket(counts[5:])
    return board


def settled(position: Position) -> Position:
    """Return the key of a position packed by :func:`pack_unchecked`."""
    return position if position[_EP_SQUARE_OFFSET] == _NO_SQUARE else pack(unpack(position))


def _pocket(counts: tuple[int, ...]) -> CrazyhousePocket:
    pocket = CrazyhousePocket()
    for piece_type, count in zip(_IN_HAND, counts, strict=True):
        for _ in range(count):
            pocket.add(piece_type)
    return pocket


_EMPTY = {int(family): family.board() for family in Family}


def pieces_of(position: Position, piece_type: chess.PieceType) -> chess.Bitboard:
    """Return the squares of all pieces of one type, of both colours."""
    return int.from_bytes(position[8 * piece_type - 8 : 8 * piece_type], "little")


def white_of(position: Position) -> chess.Bitboard:
    """Return the squares of all White's pieces."""
    return int.from_bytes(position[48:56], "little")


def family_of(position: Position) -> Family:
    """Return the rules of a position."""
    return Family(position[_FAMILY_OFFSET])


def only(position: Position, color: chess.Color) -> Position:
    """Return a position with only one side's pieces and castling rights, and that side to move."""
    *pieces, white, promoted, castling, family, _, _ = _CORE.unpack_from(position)
    own = white if color else ~white
    back_rank = chess.BB_RANK_1 if color else chess.BB_RANK_8
    return _CORE.pack(
        *(squares & own for squares in pieces),
        white if color else 0,
        promoted & own,
        castling & back_rank,
        family,
        color,
        _NO_SQUARE,
    )
