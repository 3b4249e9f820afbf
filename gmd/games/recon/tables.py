"""What the rules of reconnaissance blind chess look up: ready-made moves, men, and the paths between squares.

A player asks for moves knowing nothing but its own pieces, so the moves of a piece depend on its square and on where
its own side stands, and on nothing else: most lists of moves have been made before. Whoever is given a
:class:`chess.Move` or :class:`chess.Piece` from here shares it with everybody, and must not change it.
"""

from __future__ import annotations

from operator import itemgetter
from typing import Any

import chess
from chess import BB_SQUARES, BLACK, SQUARES, WHITE, Bitboard, Color, Move, Piece, PieceType, Square

from .fen import BASE, SYMBOLS

#: A square as a sense shows it.
Cell = tuple[Square, Piece | None]

#: Lists of moves kept in one table of a piece on a square. A rook could have sixteen thousand; so many make all tables
#: together some 40 megabytes. A table that is full forgets all it has, and what is in use comes back at once.
MAX_LISTS = 1_024

#: Lists of pawns' steps kept for half a board: some two megabytes each of four.
MAX_STEPS = 8_192

#: Every move without a promotion: ``MOVES[source][target]``.
MOVES = [[Move(source, target) for target in SQUARES] for source in SQUARES]

#: Every move with one, by source and target, in python-chess's order: queen, rook, bishop, knight.
PROMOTIONS = {
    (source, target): [Move(source, target, piece) for piece in (chess.QUEEN, chess.ROOK, chess.BISHOP, chess.KNIGHT)]
    for color, rank in ((WHITE, chess.BB_RANK_7), (BLACK, chess.BB_RANK_2))
    for source in chess.scan_forward(rank)
    for target in (source + step * (1 if color else -1) for step in (7, 8, 9))
    if chess.square_distance(source, target) == 1
}

#: The squares a piece passes on its way and the one it comes to: ``PATHS[source][target]``.
PATHS = [[chess.between(source, target) | BB_SQUARES[target] for target in SQUARES] for source in SQUARES]


class Lists(dict[Bitboard, list[Move]]):
    """The moves of one kind of piece on one square to some of the squares it can reach, from the highest down.

    A key is the part of :attr:`lines` that its own side holds. The edges of the board are in it, unlike those in the
    keys of python-chess's attack tables: whether a line reaches its end depends on who stands there.
    """

    __slots__ = ("_by_targets", "_diagonals", "_files", "_moves", "_ranks", "lines")

    def __init__(self, piece_type: PieceType, square: Square, among: Bitboard) -> None:
        self._ranks, self._files, self._diagonals = (lines[square] for lines in _ATTACKS[piece_type])
        #: The squares it could reach on an empty board, among those asked for.
        self.lines = among & (self._ranks[1][0] | self._files[1][0] | self._diagonals[1][0])
        self._moves = MOVES[square]
        self._by_targets: dict[Bitboard, list[Move]] = {}

    def __missing__(self, own: Bitboard) -> list[Move]:
        (rank, by_rank), (file, by_file), (diagonals, by_diagonals) = self._ranks, self._files, self._diagonals
        targets = self.lines & (by_rank[own & rank] | by_file[own & file] | by_diagonals[own & diagonals])
        targets ^= targets & own
        moves = self._by_targets.get(targets)
        if moves is None:
            if len(self._by_targets) >= MAX_LISTS:
                self._by_targets.clear()
            moves = self._by_targets[targets] = [self._moves[target] for target in chess.scan_reversed(targets)]
        if len(self) >= MAX_LISTS:
            self.clear()
        self[own] = moves
        return moves


# A kind of line is, by square, a mask and the attacks by what stands on it.
_Line = list[tuple[Bitboard, dict[Bitboard, Bitboard]]]


def _line(masks: list[Bitboard], attacks: list[dict[Bitboard, Bitboard]]) -> _Line:
    return list(zip(masks, attacks, strict=True))


def _steps(attacks: list[Bitboard]) -> _Line:
    """What is attacked whatever stands around."""
    return [(chess.BB_EMPTY, {chess.BB_EMPTY: squares}) for squares in attacks]


_NONE = _steps([chess.BB_EMPTY] * 64)
_RANKS = _line(chess.BB_RANK_MASKS, chess.BB_RANK_ATTACKS)
_FILES = _line(chess.BB_FILE_MASKS, chess.BB_FILE_ATTACKS)
_DIAGONALS = _line(chess.BB_DIAG_MASKS, chess.BB_DIAG_ATTACKS)
#: What each type of piece attacks, in three parts.
_ATTACKS: dict[PieceType, tuple[_Line, _Line, _Line]] = {
    chess.KNIGHT: (_steps(chess.BB_KNIGHT_ATTACKS), _NONE, _NONE),
    chess.BISHOP: (_NONE, _NONE, _DIAGONALS),
    chess.ROOK: (_RANKS, _FILES, _NONE),
    chess.QUEEN: (_RANKS, _FILES, _DIAGONALS),
    chess.KING: (_steps(chess.BB_KING_ATTACKS), _NONE, _NONE),
}


def _lists(piece_type: PieceType, square: Square) -> list[Lists]:
    """The tables of a piece's moves: one, but two of a queen, for the squares above and below it.

    With one table a queen would have far more keys than a table keeps.
    """
    above = chess.BB_ALL << square & chess.BB_ALL
    parts = [above, chess.BB_ALL ^ above] if piece_type == chess.QUEEN else [chess.BB_ALL]
    return [Lists(piece_type, square, part) for part in parts]


#: The tables of each type of piece on each square, for both sides.
_LISTS = {piece_type: [_lists(piece_type, square) for square in SQUARES] for piece_type in _ATTACKS}


class Man:
    """A piece on a square, and all about it that no other piece changes. An empty square is one, of type 0."""

    __slots__ = ("cell", "elsewhere", "lines", "lists", "lists_below", "piece_type", "reach", "row", "weight")

    def __init__(self, piece: Piece | None, square: Square, elsewhere: list[Man]) -> None:
        self.cell: Cell = (square, piece)
        self.piece_type = piece.piece_type if piece else 0
        #: The same piece on every square.
        self.elsewhere = elsewhere
        #: Its rank, counted from the eighth, and what it adds to the rank's code (:class:`~gmd.games.recon.fen.Ranks`).
        self.row = 7 - chess.square_rank(square)
        self.weight = SYMBOLS.index(piece.symbol() if piece else "1") * BASE ** chess.square_file(square)
        #: Of all but pawns: the moves, by which of the squares in ``lines`` its own side holds; a queen's to squares
        #: below it are apart; and all squares it could go to on an empty board.
        self.lists: dict[Bitboard, list[Move]] = {}
        self.lines: Bitboard = chess.BB_EMPTY
        self.lists_below: Lists | None = None
        self.reach: Bitboard = chess.BB_EMPTY
        if piece and piece.piece_type != chess.PAWN:
            lists, *below = _LISTS[piece.piece_type][square]
            self.lists, self.lines, self.reach = lists, lists.lines, lists.lines
            for self.lists_below in below:
                self.reach |= self.lists_below.lines

    def __reduce__(self) -> tuple[Any, Cell]:
        """Where a game is pickled or copied deeply, say which man this is: the tables stay here."""
        return _man_in, self.cell


def _everywhere(piece: Piece | None) -> list[Man]:
    men: list[Man] = []
    men += [Man(piece, square, men) for square in SQUARES]
    return men


#: Every man: ``MEN[color][piece_type][square]``.
MEN = [[[], *(_everywhere(Piece(piece_type, color)) for piece_type in chess.PIECE_TYPES)] for color in (BLACK, WHITE)]
#: Every empty square.
EMPTY = _everywhere(None)


def _man_in(square: Square, piece: Piece | None) -> Man:
    """The man of a cell."""
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
#: What picks a window's items out of a list of 64, as a tuple.
PICK_WINDOW: list[Any] = [itemgetter(*window) for window in WINDOWS]


class Steps(dict[Bitboard, list[Move]]):
    """Pawns' single steps to the squares of half a board, by the set of these, from the highest down, queens first."""

    def __init__(self, color: Color, half: int) -> None:
        self._back, self._shift = (8 if color else -8), 32 * half

    def __missing__(self, targets: Bitboard) -> list[Move]:
        moves: list[Move] = []
        for target in chess.scan_reversed(targets << self._shift):
            moves += PROMOTIONS.get((target - self._back, target)) or [MOVES[target - self._back][target]]
        if len(self) >= MAX_STEPS:
            self.clear()
        self[targets] = moves
        return moves


#: Pawns' single steps: ``STEPS[color]`` has those to ranks 5 to 8, and those to ranks 1 to 4.
STEPS = [(Steps(color, 1), Steps(color, 0)) for color in (BLACK, WHITE)]

#: Pawns' double steps, from file h: ``DOUBLE_STEPS[color][files]``.
DOUBLE_STEPS = [
    [[MOVES[source + file][target + file] for file in range(7, -1, -1) if files >> file & 1] for files in range(256)]
    for source, target in ((chess.A7, chess.A5), (chess.A2, chess.A4))
]


class Captures(dict[int, list[Move]]):
    """Captures by the pawns on four squares side by side, from the left, whether there is anything to capture or not.

    A key is 16 times the set of the four that may capture towards file a, plus the set of those that may towards h.
    """

    def __init__(self, color: Color, first: Square) -> None:
        self.first, self.steps = first, ((7, 9) if color else (-9, -7))

    def __missing__(self, key: int) -> list[Move]:
        moves: list[Move] = []
        for bit in range(4):
            source = self.first + bit
            for pawns, step in zip((key >> 4, key), self.steps, strict=True):
                if pawns >> bit & 1:
                    # reconchess lists the move without a promotion first, and then the knight
                    moves += [MOVES[source][source + step], *reversed(PROMOTIONS.get((source, source + step), []))]
        self[key] = moves
        return moves


#: Pawns' captures: ``CAPTURES[color][rank]`` has those from files a to d, and those from e to h.
CAPTURES = [
    [(Captures(color, first), Captures(color, first + 4)) for first in range(0, 64, 8)] for color in (BLACK, WHITE)
]

#: By a rook's home: its king's move, the squares between the two, and the rook's own move.
CASTLES: dict[Bitboard, tuple[Move, Bitboard, Move]] = {
    BB_SQUARES[rook]: (MOVES[king][king + step], chess.between(king, rook), MOVES[rook][king + step // 2])
    for king in (chess.E1, chess.E8)
    for rook, step in ((king + 3, 2), (king - 4, -2))
}
#: One side's ways to castle, king's side first, by the homes of its rooks that may.
CASTLINGS = {
    rights: [CASTLES[BB_SQUARES[rook]] for rook in chess.scan_reversed(rights)]
    for home in (chess.BB_RANK_1, chess.BB_RANK_8)
    for corners in (chess.BB_CORNERS & home,)
    for rights in (0, corners, corners & chess.BB_FILE_A, corners & chess.BB_FILE_H)
}
