"""Move texts: from SAN or UCI to a move, and from a move to SAN, by the pieces that may move to a square.

Who asks gives these, without castling and drops, so one lookup resolves the common texts. python-chess decides
everything else, and every refusal (:meth:`chess.Board.parse_uci`, :meth:`chess.Board.parse_san`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, lru_cache, partial
from typing import NamedTuple

import chess
from chess import BB_SQUARES, Bitboard, Board, Move, PieceType, Square
from msgspec import Struct

from gm_protocol.errors import AmbiguousMove, IllegalMove, quote
from gmd.games.access import sources_of

#: Parsed texts in the cache: all that games commonly use. No text that is parsed here is longer than ``Nb1xd2=Q+``.
MAX_READINGS = 16_384
MAX_TEXT = 9

#: The texts that python-chess reads as null moves.
NULL_MOVES = frozenset({"--", "Z0", "0000", "@@@@"})

_SAN = re.compile(r"([NBRQK])?([a-h])?([1-8])?x?([a-h][1-8])(?:=?([NBRQnbrq]))?[+#]?")
_SQUARES = {name: square for square, name in enumerate(chess.SQUARE_NAMES)}
_FILES = dict(zip(chess.FILE_NAMES, chess.BB_FILES, strict=True))
_RANKS = dict(zip(chess.RANK_NAMES, chess.BB_RANKS, strict=True))
_PROMOTIONS = {"n": chess.KNIGHT, "b": chess.BISHOP, "r": chess.ROOK, "q": chess.QUEEN}
_PIECES = {letter.upper(): piece for letter, piece in _PROMOTIONS.items()} | {"K": chess.KING}
#: The attributes of a board that hold the pieces of each type.
_SETS = ["", "pawns", "knights", "bishops", "rooks", "queens", "kings"]
_LETTERS = ["", "", "N", "B", "R", "Q", "K"]


#: A function that returns the squares from which the side to move's pieces of a type may move to a square, castling
#: left out.
Movers = Callable[[PieceType, Square], Bitboard]


class KnownMove(Struct, frozen=True, gc=False):
    """A move with its UCI and code, which depend on no position. There are few, so each is made once."""

    move: Move
    uci: str
    #: See :func:`encode_move`.
    code: int


class Found(Struct, frozen=True, gc=False):
    """A legal move, and the facts that its SAN depends on."""

    known: KnownMove
    #: The type of the piece that moves; None for a drop.
    piece_type: PieceType | None
    #: The side's other pieces of that type that may move to the same square.
    rivals: Bitboard
    castles: bool = False


def movers_in(board: Board, sources: bytes) -> Movers:
    """Return the pieces that may move, by a position's :attr:`~gmd.games.access.Access.sources`."""
    return partial(_movers_in, board, sources)


def _movers_in(board: Board, sources: bytes, piece_type: PieceType, target: Square) -> Bitboard:
    return sources_of(sources, target) & board.occupied_co[board.turn] & of_type(board, piece_type)


def find_move(board: Board, movers: Movers, text: str) -> Found:
    """Return the legal move of a text.

    :param text: UCI or SAN, as python-chess reads them.
    :raises IllegalMove: the text is not a legal move (a null move never is).
    :raises AmbiguousMove: the text fits several moves.
    """
    reading = _read(text) if len(text) <= MAX_TEXT else None
    found = None if reading is None else _resolve(board, movers, reading)
    return _found_by_chess(board, movers, text) if found is None else found


class _Reading(NamedTuple):
    """A parsed move text, independent of the position."""

    #: None for a piece of any type, as in UCI.
    piece_type: PieceType | None
    #: The squares it may come from.
    origins: Bitboard
    target: Square
    promotion: PieceType | None


@lru_cache(MAX_READINGS)
def _read(text: str) -> _Reading | None:
    """Parse a text in UCI or SAN; return None for castling, drops, and forms that only python-chess may understand."""
    source, target = _SQUARES.get(text[:2]), _SQUARES.get(text[2:4])
    if source is not None and target is not None and (len(text) == 4 or text[4:] in _PROMOTIONS):
        return _Reading(None, BB_SQUARES[source], target, _PROMOTIONS.get(text[4:]))
    match = _SAN.fullmatch(text)
    if match is None:
        return None
    letter, file, rank, square, promotion = match.groups()
    target = _SQUARES[square]
    origins = _FILES[file] if file else chess.BB_ALL if letter else chess.BB_FILES[target & 7]
    if rank:
        origins &= _RANKS[rank]
    piece_type = _PIECES[letter] if letter else chess.PAWN
    return _Reading(piece_type, origins, target, _PROMOTIONS[promotion.lower()] if promotion else None)


def _resolve(board: Board, movers_to: Movers, reading: _Reading) -> Found | None:
    """Return the move of a parsed text if exactly one fits, castling and drops left out; else None."""
    piece_type, origins, target, promotion = reading
    if piece_type is None:
        piece_type = board.piece_type_at(origins.bit_length() - 1)
        if piece_type is None:
            return None
    movers = movers_to(piece_type, target)
    meant = movers & origins
    if not meant or meant & (meant - 1):
        return None
    promotes = piece_type == chess.PAWN and target >> 3 in (0, 7)
    if promotes != (promotion is not None):
        return None
    source = meant.bit_length() - 1
    return Found(known_move(source | target << 6 | (promotion or 0) << 12), piece_type, movers ^ meant)


def _found_by_chess(board: Board, movers_to: Movers, text: str) -> Found:
    move = _by_chess(board, text)
    known = known_move(encode_move(move))
    piece_type = board.piece_type_at(move.from_square)
    if piece_type is None:
        return Found(known, None, 0)
    movers = movers_to(piece_type, move.to_square)
    castles = piece_type == chess.KING and not movers  # which has no movers
    return Found(known, piece_type, movers & ~BB_SQUARES[move.from_square], castles)


def of_type(board: Board, piece_type: PieceType) -> Bitboard:
    """Return all pieces of a type, of both colours."""
    pieces: Bitboard = getattr(board, _SETS[piece_type])
    return pieces


def _by_chess(board: Board, text: str) -> Move:
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
        raise IllegalMove(f"move: {quote(text)} is a null move: in chess {chess.COLOR_NAMES[board.turn]} must move")
    return move


def _illegal(board: Board, text: str) -> IllegalMove:
    side = chess.COLOR_NAMES[board.turn]
    return IllegalMove(f"move: {quote(text)} is not legal for {side} in {board.epd(shredder=board.chess960)}")


def san_stem(board: Board, found: Found) -> str:
    """Return a legal move's SAN without the check or mate sign; the move must not have been made on the board."""
    move, piece_type, rivals = found.known.move, found.piece_type, found.rivals
    target = chess.SQUARE_NAMES[move.to_square]
    if piece_type is None:
        assert move.drop is not None
        return f"{_LETTERS[move.drop]}@{target}"
    if piece_type == chess.PAWN:
        captures = (move.to_square ^ move.from_square) & 7
        stem = f"{chess.FILE_NAMES[move.from_square & 7]}x{target}" if captures else target
        return f"{stem}={_LETTERS[move.promotion]}" if move.promotion else stem
    if found.castles:
        return "O-O" if move.to_square > move.from_square else "O-O-O"
    takes = "x" if board.occupied & BB_SQUARES[move.to_square] else ""
    return f"{_LETTERS[piece_type]}{_origin(move.from_square, rivals) if rivals else ''}{takes}{target}"


def encode_move(move: Move) -> int:
    """Return a move in 15 bits: source, target, and the piece promoted to, or dropped (then source equals target)."""
    return move.from_square | move.to_square << 6 | (move.promotion or move.drop or 0) << 12


@cache
def known_move(code: int) -> KnownMove:
    """Return the move of a code from :func:`encode_move`."""
    source, target, piece = code & 63, code >> 6 & 63, code >> 12 or None
    move = Move(source, target, drop=piece) if source == target else Move(source, target, promotion=piece)
    return KnownMove(move, move.uci(), code)


def decode_move(code: int) -> str:
    """Return the UCI of a code from :func:`encode_move`."""
    return known_move(code).uci


def _origin(source: Square, rivals: Bitboard) -> str:
    """Return the part of the source square's name that distinguishes it from the rivals' squares."""
    name = chess.SQUARE_NAMES[source]
    if not rivals & chess.BB_FILES[source & 7]:
        return name[0]
    return name if rivals & chess.BB_RANKS[source >> 3] else name[1]
