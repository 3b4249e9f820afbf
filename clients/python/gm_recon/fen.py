"""FEN of positions of reconnaissance blind chess."""

from __future__ import annotations

import chess

#: Faults of a chess position that do not matter here, such as checks and numbers of pieces.
_ALLOWED = (
    chess.STATUS_OPPOSITE_CHECK
    | chess.STATUS_TOO_MANY_CHECKERS
    | chess.STATUS_IMPOSSIBLE_CHECK
    | chess.STATUS_TOO_MANY_WHITE_PAWNS
    | chess.STATUS_TOO_MANY_BLACK_PAWNS
    | chess.STATUS_TOO_MANY_WHITE_PIECES
    | chess.STATUS_TOO_MANY_BLACK_PIECES
)


#: The most texts of ranks kept: some two megabytes.
MAX_RANKS = 16_384

#: The digits of a rank's code: see :class:`Ranks`. Thirteen to the eighth is still a small integer.
SYMBOLS = "1PNBRQKpnbrqk"
BASE = len(SYMBOLS)

_CORNERS = (chess.BB_H1, chess.BB_A1, chess.BB_H8, chess.BB_A8)
#: Castling rights in FEN, by the home squares of the rooks that may castle.
RIGHTS = {
    rights: "".join(letter for letter, rook in zip("KQkq", _CORNERS, strict=True) if rights & rook) or "-"
    for rights in (sum(rook for bit, rook in enumerate(_CORNERS) if bits >> bit & 1) for bits in range(16))
}


def read_position(fen: str) -> chess.Board:
    """Return the board of a FEN that a game can start from: one king per side, no pawn on a last rank, check allowed.

    Its castling rights and en passant square must be possible.

    :raises ValueError: the FEN cannot be read, or is not such a position.
    """
    board = chess.Board(fen)
    board.promoted = chess.BB_EMPTY
    problems = board.status() & ~_ALLOWED
    if problems:
        names = ", ".join(str(flag.name).lower().replace("_", " ") for flag in chess.Status if flag & problems)
        raise ValueError(f"no position to start from: {names}")
    return board


class _HalfRanks(dict[int, str]):
    """FEN's text of half a rank, by four digits of its code."""

    def __missing__(self, code: int) -> str:
        text = "".join([SYMBOLS[code // BASE**file % BASE] for file in range(4)])
        for length in (4, 3, 2):
            text = text.replace("1" * length, str(length))
        self[code] = text
        return text


_HALF = BASE**4
_HALF_RANKS = _HalfRanks()


class Ranks(dict[int, str]):
    """FEN's text of a rank by its code: a number of eight digits in base 13, with file a's as the lowest.

    The digits are indexes of :data:`SYMBOLS`.
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
    """Return FEN's first field, from the codes of the ranks, the eighth first."""
    return "/".join(map(_RANKS.__getitem__, codes))
