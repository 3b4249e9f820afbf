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


#: Texts of ranks kept: some two megabytes.
MAX_RANKS = 16_384

#: The digits of a rank's code: see :class:`Ranks`. Thirteen to the eighth is still a small integer.
SYMBOLS = "1PNBRQKpnbrqk"
BASE = len(SYMBOLS)

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


class _HalfRanks(dict[int, str]):
    """FEN's text of four squares of a rank, by four digits of its code."""

    def __missing__(self, code: int) -> str:
        text = "".join([SYMBOLS[code // BASE**file % BASE] for file in range(4)])
        for length in (4, 3, 2):
            text = text.replace("1" * length, str(length))
        self[code] = text
        return text


_HALF = BASE**4
_HALF_RANKS = _HalfRanks()


class Ranks(dict[int, str]):
    """FEN's text of a rank by its code: a number of eight digits to the base 13, file a's the lowest.

    The digits are those of :data:`SYMBOLS`.
    """

    def __missing__(self, code: int) -> str:
        left, right = _HALF_RANKS[code % _HALF], _HALF_RANKS[code // _HALF]
        if left[-1].isdigit() and right[0].isdigit():
            text = f"{left[:-1]}{int(left[-1]) + int(right[0])}{right[1:]}"
        else:
            text = left + right
        if len(self) >= MAX_RANKS:
            self.clear()
        self[code] = text
        return text


_RANKS = Ranks()


def placement(codes: list[int]) -> str:
    """FEN's first field, from the codes of the ranks, the eighth's first."""
    return "/".join(map(_RANKS.__getitem__, codes))
