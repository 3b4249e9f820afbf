"""Reading and writing the FEN of a position of reconnaissance blind chess."""

from __future__ import annotations

import chess

#: What may be wrong with a chess position and does not matter here: check does not, nor how it could come about.
_ALLOWED = (
    chess.STATUS_OPPOSITE_CHECK
    | chess.STATUS_TOO_MANY_CHECKERS
    | chess.STATUS_IMPOSSIBLE_CHECK
    | chess.STATUS_TOO_MANY_WHITE_PAWNS
    | chess.STATUS_TOO_MANY_BLACK_PAWNS
    | chess.STATUS_TOO_MANY_WHITE_PIECES
    | chess.STATUS_TOO_MANY_BLACK_PIECES
)


#: FEN's first field of an empty board, with a 1 for every empty square.
EMPTY_TEXT = b"/".join([b"1" * 8] * 8)

#: Where a square stands in that.
TEXT_INDEX = [(square ^ 56) + (square ^ 56) // 8 for square in chess.SQUARES]

_CORNERS = (chess.BB_H1, chess.BB_A1, chess.BB_H8, chess.BB_A8)
#: Castling rights as a FEN has them, by the homes of the rooks that may castle.
RIGHTS = {
    rights: "".join(letter for letter, rook in zip("KQkq", _CORNERS, strict=True) if rights & rook) or "-"
    for rights in (sum(rook for bit, rook in enumerate(_CORNERS) if bits >> bit & 1) for bits in range(16))
}


def read_position(fen: str) -> chess.Board:
    """The board of a FEN that a game can start from: one king a side, no pawn on a last rank, check or not.

    What it says of castling and en passant must be possible.

    :raises ValueError: it cannot be read, or is no such position.
    """
    board = chess.Board(fen)
    board.promoted = chess.BB_EMPTY
    problems = board.status() & ~_ALLOWED
    if problems:
        names = ", ".join(str(flag.name).lower().replace("_", " ") for flag in chess.Status if flag & problems)
        raise ValueError(f"no position to start from: {names}")
    return board


class _Ranks(dict[str, str]):
    """FEN's text of a rank, by the text with a 1 for every empty square. At most some million, and seldom thousands."""

    def __missing__(self, rank: str) -> str:
        fen = rank
        for length in range(8, 1, -1):
            fen = fen.replace("1" * length, str(length))
        self[rank] = fen
        return fen


_RANKS = _Ranks()


def placement(text: bytearray) -> str:
    """FEN's first field, from itself with a 1 for every empty square."""
    return "/".join(map(_RANKS.__getitem__, text.decode().split("/")))
