"""Move texts: from SAN or UCI to a move, and from a move to SAN, by a position's access map.

The map already knows every legal move but castling and drops, so the common texts are resolved by one look at it;
everything else, and every refusal, is python-chess's to decide (:meth:`chess.Board.parse_uci`,
:meth:`chess.Board.parse_san`).
"""

from __future__ import annotations

import re

import chess
from chess import BB_SQUARES, Bitboard, Board, Move, PieceType, Square

from gm_protocol.errors import AmbiguousMove, IllegalMove, quote

from .access import sources_of

_SAN = re.compile(r"([NBRQK])?([a-h])?([1-8])?x?([a-h][1-8])(?:=?([NBRQnbrq]))?[+#]?")
_SQUARES = {name: square for square, name in enumerate(chess.SQUARE_NAMES)}
_FILES = dict(zip(chess.FILE_NAMES, chess.BB_FILES, strict=True))
_RANKS = dict(zip(chess.RANK_NAMES, chess.BB_RANKS, strict=True))
_PROMOTIONS = {"n": chess.KNIGHT, "b": chess.BISHOP, "r": chess.ROOK, "q": chess.QUEEN}
_PIECES = {letter.upper(): piece for letter, piece in _PROMOTIONS.items()} | {"K": chess.KING}
_LETTERS = ["", "", "N", "B", "R", "Q", "K"]


def find_move(board: Board, sources: bytes, text: str) -> Move:
    """The legal move a text means.

    :param sources: the position's :attr:`~gmd.games.access.Access.sources`.
    :param text: UCI or SAN, as python-chess reads them.
    :raises IllegalMove: it means no legal move (a null move never does).
    :raises AmbiguousMove: it means several.
    """
    return _by_uci(board, sources, text) or _by_san(board, sources, text) or _by_chess(board, text)


def _by_uci(board: Board, sources: bytes, text: str) -> Move | None:
    source, target = _SQUARES.get(text[:2]), _SQUARES.get(text[2:4])
    if source is None or target is None:
        return None
    promotion = _PROMOTIONS.get(text[4:])
    if promotion is None and len(text) > 4:
        return None
    return _checked(board, sources_of(sources, target) & BB_SQUARES[source], target, promotion)


def _by_san(board: Board, sources: bytes, text: str) -> Move | None:
    match = _SAN.fullmatch(text)
    if match is None:
        return None
    letter, file, rank, square, promotion = match.groups()
    target = _SQUARES[square]
    found = sources_of(sources, target)
    if letter:
        found &= board.pieces_mask(_PIECES[letter], board.turn)
    else:
        found &= board.pawns
        if not file:
            found &= chess.BB_FILES[target & 7]
    if file:
        found &= _FILES[file]
    if rank:
        found &= _RANKS[rank]
    return _checked(board, found, target, _PROMOTIONS[promotion.lower()] if promotion else None)


def _checked(board: Board, found: Bitboard, target: Square, promotion: PieceType | None) -> Move | None:
    """The move from the one square in ``found`` that holds a piece of the side to move, if all is well with it."""
    found &= board.occupied_co[board.turn]
    if not found or found & (found - 1):
        return None
    promotes = target >> 3 in (0, 7) and found & board.pawns != 0
    return Move(found.bit_length() - 1, target, promotion) if promotes == (promotion is not None) else None


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
        raise _illegal(board, text)
    return move


def _illegal(board: Board, text: str) -> IllegalMove:
    side = chess.COLOR_NAMES[board.turn]
    return IllegalMove(f"move: {quote(text)} is not legal for {side} in {board.epd(shredder=board.chess960)}")


def san_stem(board: Board, sources: bytes, move: Move) -> str:
    """A legal move's SAN without the check or mate sign; the move has not been made."""
    target, target_bit = chess.SQUARE_NAMES[move.to_square], BB_SQUARES[move.to_square]
    if move.drop:
        return f"{_LETTERS[move.drop]}@{target}"
    piece_type = board.piece_type_at(move.from_square)
    assert piece_type is not None
    if piece_type == chess.PAWN:
        captures = (move.to_square ^ move.from_square) & 7
        stem = f"{chess.FILE_NAMES[move.from_square & 7]}x{target}" if captures else target
        return f"{stem}={_LETTERS[move.promotion]}" if move.promotion else stem
    from_bit, movers = BB_SQUARES[move.from_square], sources_of(sources, move.to_square)
    if piece_type == chess.KING and not movers & from_bit:  # the map leaves castling out
        return "O-O" if move.to_square > move.from_square else "O-O-O"
    rivals = movers & board.pieces_mask(piece_type, board.turn) & ~from_bit
    takes = "x" if board.occupied & target_bit else ""
    return f"{_LETTERS[piece_type]}{_origin(move.from_square, rivals) if rivals else ''}{takes}{target}"


def _origin(source: Square, rivals: Bitboard) -> str:
    """As much of the source square as tells it from others of its kind that could go to the same target."""
    name = chess.SQUARE_NAMES[source]
    if not rivals & chess.BB_FILES[source & 7]:
        return name[0]
    return name if rivals & chess.BB_RANKS[source >> 3] else name[1]
