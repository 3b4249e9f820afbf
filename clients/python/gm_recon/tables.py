"""Look-up tables for the rules of reconnaissance blind chess: moves, men, and the paths between squares.

A player requests moves knowing only its own pieces, so the moves of a piece depend only on its square and on its own
side's pieces. All lists are made when this module is loaded, and none later: if a table grew with the games, the time
to answer in one game would reveal something about another game.

Every :class:`chess.Move` and :class:`chess.Piece` from here is shared by all users, who must not change it.
"""

from __future__ import annotations

from itertools import product
from operator import itemgetter
from typing import Any

import chess
from chess import BB_SQUARES, BLACK, SQUARES, WHITE, Bitboard, Color, Move, Piece, PieceType, Square

from .fen import BASE, SYMBOLS

#: A square and its piece, as in a sense result.
Cell = tuple[Square, Piece | None]

#: Every move without a promotion: ``MOVES[source][target]``.
MOVES = [[Move(source, target) for target in SQUARES] for source in SQUARES]

#: Every promotion, by source and target, in python-chess's order: queen, rook, bishop, knight.
PROMOTIONS = {
    (source, target): [Move(source, target, piece) for piece in (chess.QUEEN, chess.ROOK, chess.BISHOP, chess.KNIGHT)]
    for color, rank in ((WHITE, chess.BB_RANK_7), (BLACK, chess.BB_RANK_2))
    for source in chess.scan_forward(rank)
    for target in (source + step * (1 if color else -1) for step in (7, 8, 9))
    if chess.square_distance(source, target) == 1
}

#: The squares that a piece passes on its way, and its target: ``PATHS[source][target]``.
PATHS = [[chess.between(source, target) | BB_SQUARES[target] for target in SQUARES] for source in SQUARES]


# For each square, the mask of its line of one kind, and the attacks by the occupied squares of that line.
_Line = list[tuple[Bitboard, dict[Bitboard, Bitboard]]]


def _line(masks: list[Bitboard], attacks: list[dict[Bitboard, Bitboard]]) -> _Line:
    return list(zip(masks, attacks, strict=True))


_RANKS = _line(chess.BB_RANK_MASKS, chess.BB_RANK_ATTACKS)
_FILES = _line(chess.BB_FILE_MASKS, chess.BB_FILE_ATTACKS)
_DIAGONALS = _line(chess.BB_DIAG_MASKS, chess.BB_DIAG_ATTACKS)
#: The kinds of lines of each sliding piece.
_LINES: dict[PieceType, tuple[_Line, ...]] = {
    chess.BISHOP: (_DIAGONALS,),
    chess.ROOK: (_RANKS, _FILES),
    chess.QUEEN: (_RANKS, _FILES, _DIAGONALS),
}

#: The directions of each type of piece, as steps in files and ranks, and the most steps it may take.
_STRAIGHT = ((1, 0), (-1, 0), (0, 1), (0, -1))
_OBLIQUE = ((1, 1), (-1, 1), (1, -1), (-1, -1))
_LEAPS = ((1, 2), (-1, 2), (2, 1), (-2, 1), (2, -1), (-2, -1), (1, -2), (-1, -2))
_RAYS: dict[PieceType, tuple[tuple[tuple[int, int], ...], int]] = {
    chess.KNIGHT: (_LEAPS, 1),
    chess.BISHOP: (_OBLIQUE, 7),
    chess.ROOK: (_STRAIGHT, 7),
    chess.QUEEN: (_STRAIGHT + _OBLIQUE, 7),
    chess.KING: (_STRAIGHT + _OBLIQUE, 1),
}

#: Lists of moves by the set of their targets, each from the highest target down.
_ByTargets = dict[Bitboard, list[Move]]


def _reaches(square: Square, files: int, ranks: int, steps: int) -> list[Bitboard]:
    """Return every set of squares that a piece may reach in a direction: none, the first, the first two, ..."""
    reaches = [chess.BB_EMPTY]
    file, rank = chess.square_file(square) + files, chess.square_rank(square) + ranks
    while steps and 0 <= file <= 7 and 0 <= rank <= 7:
        reaches.append(reaches[-1] | BB_SQUARES[chess.square(file, rank)])
        file, rank, steps = file + files, rank + ranks, steps - 1
    return reaches


def _lists(piece_type: PieceType, square: Square, slope: int) -> _ByTargets:
    """Return all lists of moves of a piece: up the board for a slope of 1, along its rank for 0, down for -1."""
    directions, steps = _RAYS[piece_type]
    reaches = [
        _reaches(square, files, ranks, steps) for files, ranks in directions if (ranks > 0) - (ranks < 0) == slope
    ]
    moves = MOVES[square]
    return {
        targets: [moves[target] for target in chess.scan_reversed(targets)] for targets in map(sum, product(*reaches))
    }


#: The lists of each type of piece on each square: its moves up the board, along its rank, and down.
_LISTS = {
    piece_type: [tuple(_lists(piece_type, square, slope) for slope in (1, 0, -1)) for square in SQUARES]
    for piece_type in _RAYS
}


_NO_LISTS: tuple[_ByTargets, ...] = ({}, {}, {})


class Man:
    """A piece on a square, with all its data that other pieces do not change. An empty square has type 0."""

    __slots__ = (
        "above",
        "below",
        "beside",
        "cell",
        "down",
        "elsewhere",
        "level",
        "lines",
        "piece_type",
        "reach",
        "row",
        "up",
        "weight",
    )

    def __init__(self, piece: Piece | None, square: Square, elsewhere: list[Man]) -> None:
        self.cell: Cell = (square, piece)
        self.piece_type = piece.piece_type if piece else 0
        #: The same piece on every square.
        self.elsewhere = elsewhere
        #: Its rank, counted from the eighth, and its part of the rank's code (:class:`~gm_recon.fen.Ranks`).
        self.row = 7 - chess.square_rank(square)
        self.weight = SYMBOLS.index(piece.symbol() if piece else "1") * BASE ** chess.square_file(square)
        #: For all but pawns: all targets on an empty board; those above, beside and below the piece, with the moves to
        #: them by their targets; and for sliding pieces the attacks along their lines, by the occupied squares.
        self.reach: Bitboard = chess.BB_EMPTY
        self.above = self.beside = self.below = chess.BB_EMPTY
        self.up, self.level, self.down = _NO_LISTS
        self.lines: tuple[tuple[Bitboard, dict[Bitboard, Bitboard]], ...] = ()
        if piece and piece.piece_type != chess.PAWN:
            self.up, self.level, self.down = tables = _LISTS[piece.piece_type][square]
            self.above, self.beside, self.below = map(max, tables)  # the largest set of targets contains all of them
            self.reach = self.above | self.beside | self.below
            self.lines = tuple(lines[square] for lines in _LINES.get(piece.piece_type, ()))

    def __reduce__(self) -> tuple[Any, Cell]:
        """Pickle or deep-copy a man as its cell only: the tables are not copied."""
        return _man_in, self.cell


def _everywhere(piece: Piece | None) -> list[Man]:
    men: list[Man] = []
    men += [Man(piece, square, men) for square in SQUARES]
    return men


#: All men: ``MEN[color][piece_type][square]``.
MEN = [[[], *(_everywhere(Piece(piece_type, color)) for piece_type in chess.PIECE_TYPES)] for color in (BLACK, WHITE)]
#: All empty squares.
EMPTY = _everywhere(None)


def _man_in(square: Square, piece: Piece | None) -> Man:
    """Return the man of a cell."""
    return EMPTY[square] if piece is None else MEN[piece.color][piece.piece_type][square]


#: The squares of the window around a square, clipped at the edges, as a sense lists them: from the top left.
WINDOWS = [
    [
        chess.square(file, rank)
        for rank in (chess.square_rank(square) + 1, chess.square_rank(square), chess.square_rank(square) - 1)
        for file in (chess.square_file(square) - 1, chess.square_file(square), chess.square_file(square) + 1)
        if 0 <= rank <= 7 and 0 <= file <= 7
    ]
    for square in SQUARES
]
#: Functions that pick a window's items out of a list of 64, as a tuple.
PICK_WINDOW: list[Any] = [itemgetter(*window) for window in WINDOWS]


def _steps(color: Color, rank: int) -> list[list[Move]]:
    """Return single pawn steps to a rank by the set of its files, from file h, queens first."""
    lists: list[list[Move]] = [[]]
    for target in range(8 * rank, 8 * rank + 8):
        source = target - (8 if color else -8)
        moves = [] if not 0 <= source < 64 else PROMOTIONS.get((source, target)) or [MOVES[source][target]]
        lists += [moves + before for before in lists]
    return lists


#: Pawns' single steps, from the eighth rank down: ``STEPS[color][7 - rank][files]``.
STEPS = [[_steps(color, rank) for rank in range(7, -1, -1)] for color in (BLACK, WHITE)]

#: Pawns' double steps, from file h: ``DOUBLE_STEPS[color][files]``.
DOUBLE_STEPS = [
    [[MOVES[source + file][target + file] for file in range(7, -1, -1) if files >> file & 1] for files in range(256)]
    for source, target in ((chess.A7, chess.A5), (chess.A2, chess.A4))
]


def _captures(color: Color, first: Square) -> list[list[Move]]:
    """Return captures by pawns on four adjacent squares, from the left, whether or not there is anything to capture.

    The index is 16 times the set of pawns that may capture towards file a, plus the set of those that may towards h.
    """
    lists: list[list[Move]] = [[]]
    for source in range(first, first + 4):
        west, east = (_capture(source, source + step) for step in ((7, 9) if color else (-9, -7)))
        lists = [before + more for more in ([], east, west, west + east) for before in lists]
    return [lists[index] for index in _INTERLEAVED]


def _capture(source: Square, target: Square) -> list[Move]:
    """Return a pawn's capture and its promotions, in reconchess's order: no promotion first, then the knight."""
    if not 0 <= target < 64 or chess.square_distance(source, target) > 1:
        return []
    return [MOVES[source][target], *reversed(PROMOTIONS.get((source, target), []))]


#: For each index of a table of captures, the index in which the two bits of each pawn are adjacent.
_INTERLEAVED = [
    sum((index >> bit & 1) << 2 * bit | (index >> 4 + bit & 1) << 2 * bit + 1 for bit in range(4))
    for index in range(256)
]

#: Captures by pawns: ``CAPTURES[color][rank]`` has those from files a to d, and those from e to h.
CAPTURES = [
    [(_captures(color, first), _captures(color, first + 4)) for first in range(0, 64, 8)] for color in (BLACK, WHITE)
]

#: For a rook's home square: its king's move, the squares between the two, and the rook's own move.
CASTLES: dict[Bitboard, tuple[Move, Bitboard, Move]] = {
    BB_SQUARES[rook]: (MOVES[king][king + step], chess.between(king, rook), MOVES[rook][king + step // 2])
    for king in (chess.E1, chess.E8)
    for rook, step in ((king + 3, 2), (king - 4, -2))
}
#: The castling moves of one side, king's side first, by the home squares of the rooks that may castle.
CASTLINGS = {
    rights: [CASTLES[BB_SQUARES[rook]] for rook in chess.scan_reversed(rights)]
    for home in (chess.BB_RANK_1, chess.BB_RANK_8)
    for corners in (chess.BB_CORNERS & home,)
    for rights in (0, corners, corners & chess.BB_FILE_A, corners & chess.BB_FILE_H)
}
