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

#: A square as a sense shows it.
Cell = tuple[Square, Piece | None]

#: Lists of moves kept for one kind of piece on one square. A queen could have some hundred thousand: full of them,
#: all tables would take some gigabytes. A table that is full forgets all it has, and what is in use comes back at once.
MAX_LISTS = 1_024

#: Sets of pawns of one colour whose moves are kept.
MAX_PAWN_SETS = 4_096

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
    """The moves of one kind of piece on one square, by where its own side stands on the squares it could reach.

    The keys hold the edges of the board too, unlike those of python-chess's attack tables: whether a man at the far
    end of a line is one's own decides whether the line reaches it.
    """

    __slots__ = ("_by_targets", "_lines", "_moves", "_steps")

    def __init__(self, piece_type: PieceType, square: Square) -> None:
        #: Where it goes whatever stands between, and by each line it slides along, what is looked up with what.
        self._steps = _STEPS[piece_type][square]
        self._lines = [(masks[square], attacks[square]) for masks, attacks in _SLIDES[piece_type]]
        self._moves = MOVES[square]
        self._by_targets: dict[Bitboard, list[Move]] = {}

    def __missing__(self, own: Bitboard) -> list[Move]:
        targets = self._steps
        for mask, attacks in self._lines:
            targets |= attacks[own & mask]
        targets &= ~own
        moves = self._by_targets.get(targets)
        if moves is None:
            moves = [self._moves[target] for target in chess.scan_reversed(targets)]
            self._by_targets[targets] = moves
        if len(self) >= MAX_LISTS:
            self.clear()
            self._by_targets.clear()
        self[own] = moves
        return moves


_NOWHERE = [chess.BB_EMPTY] * 64
_RANKS, _FILES = (chess.BB_RANK_MASKS, chess.BB_RANK_ATTACKS), (chess.BB_FILE_MASKS, chess.BB_FILE_ATTACKS)
_DIAGONALS = (chess.BB_DIAG_MASKS, chess.BB_DIAG_ATTACKS)
#: By type of piece, what it attacks by stepping, and the lines it slides along.
_STEPS = [_NOWHERE, _NOWHERE, chess.BB_KNIGHT_ATTACKS, _NOWHERE, _NOWHERE, _NOWHERE, chess.BB_KING_ATTACKS]
_SLIDES: list[list[Any]] = [[], [], [], [_DIAGONALS], [_RANKS, _FILES], [_RANKS, _FILES, _DIAGONALS], []]


class Man:
    """A piece on a square, and all about it that no other piece changes. An empty square is one, of type 0."""

    __slots__ = ("at", "cell", "elsewhere", "lines", "moves", "piece_type", "symbol")

    def __init__(self, piece: Piece | None, square: Square, elsewhere: list[Man]) -> None:
        self.cell: Cell = (square, piece)
        self.piece_type = piece.piece_type if piece else 0
        #: The same piece on every square.
        self.elsewhere = elsewhere
        #: Its letter in a FEN written out, and the place of that: see :data:`EMPTY_TEXT`.
        self.symbol = ord(piece.symbol() if piece else "1")
        self.at = (square ^ 56) + (square ^ 56) // 8
        #: Of all but pawns: the squares it could go to on an empty board, and its moves by those its own side holds.
        self.lines: Bitboard = 0
        self.moves: dict[Bitboard, list[Move]] = {}
        if piece and piece.piece_type != chess.PAWN:
            self.moves = _lists(piece.piece_type, square)
            self.lines = _lines(piece.piece_type, square)


_all_lists: dict[tuple[PieceType, Square], Lists] = {}


def _lists(piece_type: PieceType, square: Square) -> Lists:
    key = piece_type, square
    if key not in _all_lists:
        _all_lists[key] = Lists(piece_type, square)
    return _all_lists[key]


def _everywhere(piece: Piece | None) -> list[Man]:
    men: list[Man] = []
    men += [Man(piece, square, men) for square in SQUARES]
    return men


def _lines(piece_type: PieceType, square: Square) -> Bitboard:
    lines = _STEPS[piece_type][square]
    for _, attacks in _SLIDES[piece_type]:
        lines |= attacks[square][0]
    return lines


#: Every man: ``MEN[color][piece_type][square]``.
MEN = [[[], *(_everywhere(Piece(piece_type, color)) for piece_type in chess.PIECE_TYPES)] for color in (BLACK, WHITE)]
#: Every empty square.
EMPTY = _everywhere(None)
#: FEN's first field of an empty board, with a 1 for every empty square.
EMPTY_TEXT = b"/".join([b"1" * 8] * 8)

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


def _advances(targets: Bitboard, step: int) -> list[Move]:
    """Pawns' moves straight ahead to all of ``targets``, the highest first."""
    moves: list[Move] = []
    for target in chess.scan_reversed(targets):
        moves += PROMOTIONS.get((target - step, target)) or [MOVES[target - step][target]]
    return moves


def _ranks(step: int) -> list[list[list[Move]]]:
    """By rank, from the eighth down, and by the set of files there: pawns' single steps to those squares."""
    reached = range(2, 8) if step > 0 else range(6)
    return [
        [_advances(files << 8 * rank, step) if rank in reached else [] for files in range(256)]
        for rank in range(7, -1, -1)
    ]


#: Pawns' single steps: ``SINGLE_STEPS[color][7 - rank][files]``, by the squares stepped to.
SINGLE_STEPS = [_ranks(-8), _ranks(8)]
#: Pawns' double steps: ``DOUBLE_STEPS[color][files]``, by the squares stepped to.
DOUBLE_STEPS = [
    [_advances(files << 32, -16) for files in range(256)],
    [_advances(files << 24, 16) for files in range(256)],
]


class Captures(dict[int, list[Move]]):
    """Captures by the pawns of one colour on one rank, whether there is anything to capture or not.

    Keys are 256 times the files of those that may capture towards file a, and the files of those that may towards h.
    """

    def __init__(self, color: Color, rank: int) -> None:
        self.rank, self.steps = rank, ((7, 9) if color else (-9, -7))

    def __missing__(self, key: int) -> list[Move]:
        moves: list[Move] = []
        for file in range(8):
            source = 8 * self.rank + file
            for files, step in zip((key >> 8, key), self.steps, strict=True):
                if files >> file & 1:
                    # reconchess lists the move without a promotion, and then the knight first
                    moves += [MOVES[source][source + step], *reversed(PROMOTIONS.get((source, source + step), []))]
        self[key] = moves
        return moves


#: Pawns' captures: ``CAPTURES[color][rank][key]``.
CAPTURES = [[Captures(color, rank) for rank in range(8)] for color in (BLACK, WHITE)]

#: By a rook's home: its king's home, where castling takes the king, the squares between the two, and the rook's move.
CASTLES: dict[Bitboard, tuple[Move, Bitboard, Square, Square]] = {
    BB_SQUARES[rook]: (MOVES[king][king + step], chess.between(king, rook), rook, king + step // 2)
    for king in (chess.E1, chess.E8)
    for rook, step in ((king + 3, 2), (king - 4, -2))
}
#: Castling rights as a FEN has them, by the homes of the rooks that may castle.
RIGHTS = {
    rights: "".join(letter for letter, rook in zip("KQkq", corners, strict=True) if rights & rook) or "-"
    for corners in [(chess.BB_H1, chess.BB_A1, chess.BB_H8, chess.BB_A8)]
    for rights in (sum(rook for bit, rook in enumerate(corners) if bits >> bit & 1) for bits in range(16))
}


class PawnLists(dict[Bitboard, list[Move]]):
    """The moves of all pawns of a side, by where the side stands on the squares near them, in reconchess's order."""

    __slots__ = ("_color", "_pawns", "near")

    def __init__(self, color: Color, pawns: Bitboard) -> None:
        self._color, self._pawns = color, pawns
        west, east = pawns & ~chess.BB_FILE_A, pawns & ~chess.BB_FILE_H
        #: The squares its own pieces could keep them from.
        if color:
            self.near = pawns << 8 | (pawns & chess.BB_RANK_2) << 16 | west << 7 | east << 9
        else:
            self.near = pawns >> 8 | (pawns & chess.BB_RANK_7) >> 16 | west >> 9 | east >> 7

    def __missing__(self, own: Bitboard) -> list[Move]:
        color, pawns = self._color, self._pawns
        west, east = pawns & ~chess.BB_FILE_A, pawns & ~chess.BB_FILE_H
        if color:
            steps = pawns << 8 & ~own
            twice = ((steps & chess.BB_RANK_3) << 8 & ~own) >> 24
            west, east = west & ~(own >> 7), east & ~(own >> 9)
        else:
            steps = pawns >> 8 & ~own
            twice = ((steps & chess.BB_RANK_6) >> 8 & ~own) >> 32
            west, east = west & ~(own << 9), east & ~(own << 7)
        moves: list[Move] = []
        for lists, files in zip(SINGLE_STEPS[color], steps.to_bytes(8, "big"), strict=True):
            moves += lists[files]
        moves += DOUBLE_STEPS[color][twice]
        for captures, to_west, to_east in zip(
            CAPTURES[color], west.to_bytes(8, "little"), east.to_bytes(8, "little"), strict=True
        ):
            moves += captures[to_west << 8 | to_east]
        self[own] = moves
        return moves


class PawnMoves(dict[Bitboard, PawnLists]):
    """A side's :class:`PawnLists` by the squares of its pawns."""

    def __init__(self, color: Color) -> None:
        self.color = color

    def __missing__(self, pawns: Bitboard) -> PawnLists:
        if len(self) >= MAX_PAWN_SETS:
            self.clear()
        lists = self[pawns] = PawnLists(self.color, pawns)
        return lists


#: All pawns' moves: ``PAWN_MOVES[color][pawns][own & near]``.
PAWN_MOVES = [PawnMoves(BLACK), PawnMoves(WHITE)]
