"""Move texts: from SAN or UCI to a move, and from a move to SAN, by a position's access map.

The map already knows every legal move but castling and drops, so the common texts are resolved by one look at it;
everything else, and every refusal, is python-chess's to decide (:meth:`chess.Board.parse_uci`,
:meth:`chess.Board.parse_san`).
"""

from __future__ import annotations

import re

import chess
from chess import BB_SQUARES, Bitboard, Move, PieceType, Square

from gm_protocol.errors import AmbiguousMove, IllegalMove, quote

from .access import sources_of
from .position import Position, turn_of, unpack

_SAN = re.compile(r"([NBRQK])?([a-h])?([1-8])?x?([a-h][1-8])(?:=?([NBRQnbrq]))?[+#]?")
_SQUARES = {name: square for square, name in enumerate(chess.SQUARE_NAMES)}
_FILES = dict(zip(chess.FILE_NAMES, chess.BB_FILES, strict=True))
_RANKS = dict(zip(chess.RANK_NAMES, chess.BB_RANKS, strict=True))
_PIECES = {symbol: piece for piece, symbol in enumerate(chess.PIECE_SYMBOLS) if symbol}
_PIECES |= {symbol.upper(): piece for symbol, piece in _PIECES.items()}
_LETTERS = ["", "", "N", "B", "R", "Q", "K"]


def pieces_of(position: Position, piece_type: PieceType) -> Bitboard:
    """The squares of all pieces of one type, either colour."""
    return int.from_bytes(position[8 * piece_type - 8 : 8 * piece_type], "little")


def mover_of(position: Position) -> Bitboard:
    """The squares of the side to move's pieces."""
    white = int.from_bytes(position[48:56], "little")
    if turn_of(position):
        return white
    occupied = 0
    for piece_type in chess.PIECE_TYPES:
        occupied |= pieces_of(position, piece_type)
    return occupied ^ white


def piece_type_at(position: Position, square: Square) -> PieceType:
    """The type of the piece on an occupied square."""
    byte, bit = square >> 3, 1 << (square & 7)
    return next(piece for piece in chess.PIECE_TYPES if position[8 * piece - 8 + byte] & bit)


def find_move(position: Position, sources: bytes, text: str) -> Move:
    """The legal move a text means.

    :param sources: the position's :attr:`~gmd.games.access.Access.sources`.
    :param text: UCI or SAN, as python-chess reads them.
    :raises IllegalMove: it means no legal move (a null move never does).
    :raises AmbiguousMove: it means several.
    """
    return _by_uci(position, sources, text) or _by_san(position, sources, text) or _by_chess(position, text)


def _by_uci(position: Position, sources: bytes, text: str) -> Move | None:
    source, target = _SQUARES.get(text[:2]), _SQUARES.get(text[2:4])
    if source is None or target is None or len(text) > 5:
        return None
    promotion = None
    if len(text) == 5 and (promotion := _PIECES.get(text[4])) is None:
        return None
    return _checked(position, sources_of(sources, target) & BB_SQUARES[source], target, promotion)


def _by_san(position: Position, sources: bytes, text: str) -> Move | None:
    match = _SAN.fullmatch(text)
    if match is None:
        return None
    letter, file, rank, square, promotion = match.groups()
    target = _SQUARES[square]
    piece_type = _PIECES[letter] if letter else chess.PAWN
    found = sources_of(sources, target) & pieces_of(position, piece_type)
    if file:
        found &= _FILES[file]
    elif not letter:
        found &= chess.BB_FILES[target & 7]
    if rank:
        found &= _RANKS[rank]
    return _checked(position, found, target, _PIECES[promotion] if promotion else None)


def _checked(position: Position, found: Bitboard, target: Square, promotion: PieceType | None) -> Move | None:
    """The move from the one square in ``found`` that holds a piece of the side to move, if all is well with it."""
    found &= mover_of(position)
    if not found or found & (found - 1):
        return None
    promotes = bool(found & pieces_of(position, chess.PAWN)) and target >> 3 in (0, 7)
    if promotes != (promotion is not None) or promotion == chess.PAWN or promotion == chess.KING:
        return None
    return Move(found.bit_length() - 1, target, promotion)


def _by_chess(position: Position, text: str) -> Move:
    board = unpack(position)
    try:
        try:
            move = board.parse_uci(text)
        except chess.InvalidMoveError:
            move = board.parse_san(text)
    except chess.AmbiguousMoveError:
        message = f"move: {quote(text)} could be several moves: name the file or rank the piece comes from"
        raise AmbiguousMove(message) from None
    except chess.InvalidMoveError:
        raise IllegalMove(f"move: {quote(text)} is neither SAN (Nf3) nor UCI (g1f3)") from None
    except chess.IllegalMoveError:
        raise _illegal(board, text) from None
    if not move:
        raise _illegal(board, text)
    return move


def _illegal(board: chess.Board, text: str) -> IllegalMove:
    side = chess.COLOR_NAMES[board.turn]
    return IllegalMove(f"move: {quote(text)} is not legal for {side} in {board.epd(shredder=board.chess960)}")


def san_stem(position: Position, sources: bytes, move: Move) -> str:
    """A legal move's SAN without the check or mate sign."""
    target = chess.SQUARE_NAMES[move.to_square]
    if move.drop:
        return f"{_LETTERS[move.drop]}@{target}"
    piece_type = piece_type_at(position, move.from_square)
    if piece_type == chess.KING and not sources_of(sources, move.to_square) & BB_SQUARES[move.from_square]:
        return "O-O" if move.to_square > move.from_square else "O-O-O"
    if piece_type == chess.PAWN:
        captures = (move.to_square ^ move.from_square) & 7
        stem = f"{chess.FILE_NAMES[move.from_square & 7]}x{target}" if captures else target
        return f"{stem}={_LETTERS[move.promotion]}" if move.promotion else stem
    rivals = sources_of(sources, move.to_square) & pieces_of(position, piece_type) & mover_of(position)
    rivals &= ~BB_SQUARES[move.from_square]
    takes = "" if is_empty(position, move.to_square) else "x"
    return _LETTERS[piece_type] + _origin(move.from_square, rivals) + takes + target


def is_empty(position: Position, square: Square) -> bool:
    """Whether no piece stands on the square. (A legal move to an occupied one, but castling, captures.)"""
    byte, bit = square >> 3, 1 << (square & 7)
    return not any(position[8 * piece - 8 + byte] & bit for piece in chess.PIECE_TYPES)


def _origin(source: Square, rivals: Bitboard) -> str:
    """As much of the source square as tells it from pieces of its kind that could go to the same target."""
    if not rivals:
        return ""
    name = chess.SQUARE_NAMES[source]
    if not rivals & chess.BB_FILES[source & 7]:
        return name[0]
    return name if rivals & chess.BB_RANKS[source >> 3] else name[1]
