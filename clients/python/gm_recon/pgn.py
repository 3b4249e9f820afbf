"""Games of reconnaissance blind chess as PGN.

The moves are those made, on the true board, in SAN without check signs; a turn without a move is a null move, ``--``. A
comment after a move holds what the move does not show: ``{[%sense e7] [%request e2e4]}``, the square sensed, if any,
and the move requested, if it is not the one made. A ``--`` without a request was a pass. ``{[%last_sense e7]}`` at the
end is the sense of a turn in which the game ended before a move.

Programs that know only chess read such a PGN up to the first move that chess forbids: one that leaves a king in check,
or captures it.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator

import chess
from chess import BB_SQUARES, Bitboard, Color, Move

from .board import ReconBoard
from .history import TURNS_A_STEP, History, Turn

#: The Variant tag.
VARIANT = "Reconnaissance blind chess"

_LETTERS = ["", "", "N", "B", "R", "Q", "K"]


def movetext(history: History) -> str:
    """Return the moves with their numbers and comments, without tags and result, in one line."""
    return " ".join(_words(history))


def movetext_steps(history: History) -> Generator[None, None, str]:
    """Return the same text in steps: yield after every few turns."""
    words: list[str] = []
    for number, word in enumerate(_words(history), 1):
        words.append(word)
        if number % TURNS_A_STEP == 0:
            yield
    return " ".join(words)


def _words(history: History) -> Iterator[str]:
    board = ReconBoard(history.start_fen)
    for turn in history.turns:
        yield f"{board.fullmoves}{'.' if board.turn else '...'}{san(board, turn.taken)}"
        if comment := " ".join(_notes(turn)):
            yield f"{{{comment}}}"
        board.push(turn.taken, turn.capture_square)
    for square in history.unfinished:
        if square is not None:
            yield f"{{[%last_sense {chess.SQUARE_NAMES[square]}]}}"


def _notes(turn: Turn) -> Iterable[str]:
    if turn.sense is not None:
        yield f"[%sense {chess.SQUARE_NAMES[turn.sense]}]"
    if turn.requested is not None and turn.requested != turn.taken:
        yield f"[%request {turn.requested.uci()}]"


def san(board: ReconBoard, move: Move | None) -> str:
    """Return a move of the true board in SAN, before it is made; ``--`` for none."""
    if move is None:
        return "--"
    source, target = move.from_square, move.to_square
    piece = board.piece_at(source)
    assert piece is not None
    name = chess.SQUARE_NAMES[target]
    if piece.piece_type == chess.PAWN:
        stem = f"{chess.FILE_NAMES[source & 7]}x{name}" if (source ^ target) & 7 else name
        return f"{stem}={_LETTERS[move.promotion]}" if move.promotion else stem
    if piece.piece_type == chess.KING and abs(source - target) == 2:
        return "O-O" if target > source else "O-O-O"
    rivals = board.sources(piece.piece_type, target) & ~BB_SQUARES[source]
    takes = "x" if board.piece_at(target) else ""
    return f"{_LETTERS[piece.piece_type]}{_origin(source, rivals)}{takes}{name}"


def _origin(source: chess.Square, rivals: Bitboard) -> str:
    """Return as much of the source square as distinguishes it from its rivals'."""
    name = chess.SQUARE_NAMES[source]
    if not rivals:
        return ""
    if not rivals & chess.BB_FILES[source & 7]:
        return name[0]
    return name if rivals & chess.BB_RANKS[source >> 3] else name[1]


class ReconRules(chess.Board):
    """python-chess's board with the moves of a true board of reconnaissance blind chess: check has no effect.

    Its ``parse_san`` reads this module's PGN, and so does :mod:`chess.pgn` if given this board.
    """

    def checkers_mask(self) -> Bitboard:
        return chess.BB_EMPTY

    def gives_check(self, move: Move) -> bool:
        return False

    def is_into_check(self, move: Move) -> bool:
        return False

    def was_into_check(self) -> bool:
        return False

    def pin_mask(self, color: Color, square: chess.Square) -> Bitboard:
        return chess.BB_ALL

    def _attacked_for_king(self, path: Bitboard, occupied: Bitboard) -> bool:
        return False

    def is_variant_end(self) -> bool:
        return self.king(chess.WHITE) is None or self.king(chess.BLACK) is None

    def is_legal(self, move: Move) -> bool:
        return not self.is_variant_end() and self.is_pseudo_legal(move)

    def generate_legal_moves(
        self, from_mask: Bitboard = chess.BB_ALL, to_mask: Bitboard = chess.BB_ALL
    ) -> Iterator[Move]:
        if not self.is_variant_end():
            yield from self.generate_pseudo_legal_moves(from_mask, to_mask)
