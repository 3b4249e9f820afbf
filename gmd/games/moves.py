"""Move texts: from SAN or UCI to a move, and from a move to SAN, by a position's access map.

The map already knows every legal move but castling and drops, so the common texts are resolved by one look at it;
everything else, and every refusal, is python-chess's to decide (:meth:`chess.Board.parse_uci`,
:meth:`chess.Board.parse_san`).
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import NamedTuple

import chess
from chess import BB_SQUARES, Bitboard, Board, Move, PieceType, Square
from msgspec import Struct

from gm_protocol.errors import AmbiguousMove, IllegalMove, quote

from .access import sources_of

#: Texts whose reading is kept: all that games commonly use. No text that can be read is longer than ``Nb1xd2=Q+``.
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
#: Where a board has the pieces of each type.
_SETS = ["", "pawns", "knights", "bishops", "rooks", "queens", "kings"]
_LETTERS = ["", "", "N", "B", "R", "Q", "K"]


class KnownMove(Struct, frozen=True, gc=False):
    """A move, and what it is called whatever the position: there are few, so that each is made once."""

    move: Move
    uci: str
    #: See :func:`encode_move`.
    code: int


class Found(Struct, frozen=True, gc=False):
    """A legal move, and what its SAN depends on."""

    known: KnownMove
    #: What moves; None where it is dropped.
    piece_type: PieceType | None
    #: The side's other pieces of that type that may go there.
    rivals: Bitboard
    castles: bool = False


def find_move(board: Board, sources: bytes, text: str) -> Found:
    """The legal move a text means.

    :param sources: the position's :attr:`~gmd.games.access.Access.sources`.
    :param text: UCI or SAN, as python-chess reads them.
    :raises IllegalMove: it means no legal move (a null move never does).
    :raises AmbiguousMove: it means several.
    """
    reading = _read(text) if len(text) <= MAX_TEXT else None
    found = None if reading is None else _resolve(board, sources, reading)
    return _found_by_chess(board, sources, text) if found is None else found


class _Reading(NamedTuple):
    """What a text says of a move, whatever the position."""

    #: None for a piece of any type, as in UCI.
    piece_type: PieceType | None
    #: The squares it may come from.
    origins: Bitboard
    target: Square
    promotion: PieceType | None


@lru_cache(MAX_READINGS)
def _read(text: str) -> _Reading | None:
    """A text in UCI or SAN; None for castling, drops, and whatever only python-chess might understand."""
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


def _resolve(board: Board, sources: bytes, reading: _Reading) -> Found | None:
    """The one move that is meant, if there is one in the position's access map."""
    piece_type, origins, target, promotion = reading
    movers = sources_of(sources, target) & board.occupied_co[board.turn]
    if piece_type is not None:
        movers &= _of_type(board, piece_type)
    meant = movers & origins
    if not meant or meant & (meant - 1):
        return None
    source = meant.bit_length() - 1
    if piece_type is None:
        piece_type = board.piece_type_at(source)
        assert piece_type is not None
        movers &= _of_type(board, piece_type)
    promotes = piece_type == chess.PAWN and target >> 3 in (0, 7)
    if promotes != (promotion is not None):
        return None
    return Found(known_move(source | target << 6 | (promotion or 0) << 12), piece_type, movers ^ meant)


def _found_by_chess(board: Board, sources: bytes, text: str) -> Found:
    move = _by_chess(board, text)
    known = known_move(encode_move(move))
    piece_type = board.piece_type_at(move.from_square)
    if piece_type is None:
        return Found(known, None, 0)
    movers = sources_of(sources, move.to_square) & board.occupied_co[board.turn] & _of_type(board, piece_type)
    castles = piece_type == chess.KING and not movers  # the map leaves castling out
    return Found(known, piece_type, movers & ~BB_SQUARES[move.from_square], castles)


def _of_type(board: Board, piece_type: PieceType) -> Bitboard:
    """All pieces of a type, either colour."""
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
    """A legal move's SAN without the check or mate sign; the move has not been made."""
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
    """A move in 15 bits: source, target, and what is promoted to, or dropped (then source is target)."""
    return move.from_square | move.to_square << 6 | (move.promotion or move.drop or 0) << 12


@cache
def known_move(code: int) -> KnownMove:
    """The move of :func:`encode_move`'s code."""
    source, target, piece = code & 63, code >> 6 & 63, code >> 12 or None
    move = Move(source, target, drop=piece) if source == target else Move(source, target, promotion=piece)
    return KnownMove(move, move.uci(), code)


def decode_move(code: int) -> str:
    """The UCI of :func:`encode_move`'s code."""
    return known_move(code).uci


def _origin(source: Square, rivals: Bitboard) -> str:
    """As much of the source square as tells it from others of its kind that could go to the same target."""
    name = chess.SQUARE_NAMES[source]
    if not rivals & chess.BB_FILES[source & 7]:
        return name[0]
    return name if rivals & chess.BB_RANKS[source >> 3] else name[1]
