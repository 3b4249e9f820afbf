"""A position of reconnaissance blind chess: the moves that a player may request, their results, and making them.

The rules are those of ``reconchess`` 1.6.9 (its ``utilities.py``) over python-chess. A player may request every move
that would be pseudo-legal if it were alone on the board, and every capture by a pawn; the true board then decides.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Self

import chess
from chess import BB_SQUARES, BLACK, WHITE, Bitboard, Color, Move, Piece, PieceType, Square

from .fen import RIGHTS, placement, read_position
from .pawns import pawn_moves
from .tables import (
    CASTLINGS,
    EMPTY,
    MEN,
    MOVES,
    PATHS,
    PICK_WINDOW,
    PROMOTIONS,
    Cell,
    Man,
)

#: The squares of all pieces that castle, before they have moved.
_CASTLERS = chess.BB_CORNERS | chess.BB_E1 | chess.BB_E8
_HOME_RANKS = (chess.BB_RANK_8, chess.BB_RANK_1)  # indexed by colour


class ReconBoard:
    """A true position. The moves it returns are shared: do not change them.

    It does not check which kings are left and keeps no history: :class:`~gm_recon.ReconGame` does both. Two positions
    are equal if their FENs are. A position is mutable, so it has no hash: use its :meth:`fen` in sets and dictionaries.
    """

    __slots__ = (
        "_cells",
        "_men",
        "_own",
        "_pawn_moves",
        "_pawns",
        "_ranks",
        "castling",
        "ep_square",
        "fullmoves",
        "halfmoves",
        "turn",
    )

    turn: Color
    #: The rooks that may still castle.
    castling: Bitboard
    #: The square that a pawn has just passed over, whether or not anything can capture there.
    ep_square: Square | None
    #: Half-moves since the last capture or pawn move, and the full-move number, as in a FEN.
    halfmoves: int
    fullmoves: int
    #: The piece on each square, and the same in the form of a sense result.
    _men: list[Man]
    _cells: list[Cell]
    #: The codes of the ranks, the eighth first: see :class:`~gm_recon.fen.Ranks`.
    _ranks: list[int]
    #: By colour: all occupied squares, and those of pawns.
    _own: list[Bitboard]
    _pawns: list[Bitboard]
    #: By colour, the last list of pawn moves: the pawns, the squares that could have blocked them, which of these the
    #: own side occupied, and the moves. Half of all requests can use it again.
    _pawn_moves: list[tuple[Bitboard, Bitboard, Bitboard, list[Move]]]

    def __init__(self, fen: str = chess.STARTING_FEN) -> None:
        """Set up the position of a FEN.

        :raises ValueError: the FEN cannot be read, or is not a possible start position.
        """
        self._become(_start(fen))

    @classmethod
    def of(cls, board: chess.Board) -> Self:
        """Return the position of a board without checking it: it may have only one side's pieces, for example.

        The board's castling rights and en passant square are trusted.
        """
        self = object.__new__(cls)
        self.turn, self.castling, self.ep_square = board.turn, board.castling_rights, board.ep_square
        self.halfmoves, self.fullmoves = board.halfmove_clock, board.fullmove_number
        self._men, self._cells, self._ranks = EMPTY.copy(), [man.cell for man in EMPTY], [0] * 8
        self._own = [board.occupied_co[BLACK], board.occupied_co[WHITE]]
        self._pawns = [own & board.pawns for own in self._own]
        self._pawn_moves = [(0, 0, 0, []), (0, 0, 0, [])]
        for square, piece in board.piece_map().items():
            self._stand(MEN[piece.color][piece.piece_type][square])
        return self

    def copy(self) -> Self:
        """Return an independent copy."""
        other = object.__new__(type(self))
        other._become(self)
        return other

    __copy__ = copy

    def __eq__(self, other: object) -> bool:
        return self.fen() == other.fen() if isinstance(other, ReconBoard) else NotImplemented

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.fen()!r})"

    def _become(self, other: ReconBoard) -> None:
        self.turn, self.castling, self.ep_square = other.turn, other.castling, other.ep_square
        self.halfmoves, self.fullmoves = other.halfmoves, other.fullmoves
        self._men, self._cells, self._ranks = other._men.copy(), other._cells.copy(), other._ranks.copy()
        self._own, self._pawns, self._pawn_moves = other._own.copy(), other._pawns.copy(), other._pawn_moves.copy()

    # --- State --------------------------------------------------------------------------------------------------

    def piece_at(self, square: Square) -> Piece | None:
        """Return the piece on a square, or None."""
        return self._men[square].cell[1]

    def has_king(self, square: Square) -> bool:
        """Return whether a king is on a square."""
        return self._men[square].piece_type == chess.KING

    def occupied_by(self, color: Color) -> Bitboard:
        """Return the squares of a side's pieces."""
        return self._own[color]

    def sources(self, piece_type: PieceType, target: Square) -> Bitboard:
        """Return the squares of the side to move's pieces of a type, except pawns, that attack or guard a square."""
        before = (self._own[BLACK] | self._own[WHITE]) & ~BB_SQUARES[target]
        found = 0
        for square in chess.scan_forward(self._own[self.turn] ^ self._pawns[self.turn]):
            man = self._men[square]
            if man.piece_type == piece_type and man.reach >> target & 1 and not PATHS[square][target] & before:
                found |= BB_SQUARES[square]
        return found

    def window(self, square: Square) -> list[Cell]:
        """Return what a sense of ``square`` shows: its window, clipped at the edges, from the top left.

        :raises ValueError: it is not a square.
        """
        try:
            if square >= 0:
                return list(PICK_WINDOW[square](self._cells))
        except (TypeError, IndexError):
            pass
        raise not_a_square(square)

    def fen(self) -> str:
        """Return the position as FEN, as python-chess's ``fen(en_passant="fen")`` writes it."""
        passed = "-" if self.ep_square is None else chess.SQUARE_NAMES[self.ep_square]
        turn, rights = "w" if self.turn else "b", RIGHTS[self.castling]
        return f"{placement(self._ranks)} {turn} {rights} {passed} {self.halfmoves} {self.fullmoves}"

    def as_chess(self) -> chess.Board:
        """Return the position as a :class:`chess.Board` without history."""
        board = chess.Board(None)
        men: list[Bitboard] = [0] * 7
        for square, man in enumerate(self._men):
            men[man.piece_type] |= BB_SQUARES[square]
        _, board.pawns, board.knights, board.bishops, board.rooks, board.queens, board.kings = men
        board.occupied_co[BLACK], board.occupied_co[WHITE] = self._own
        board.occupied = self._own[BLACK] | self._own[WHITE]
        board.turn, board.castling_rights, board.ep_square = self.turn, self.castling, self.ep_square
        board.halfmove_clock, board.fullmove_number = self.halfmoves, self.fullmoves
        return board

    def own_board(self, color: Color) -> chess.Board:
        """Return what a player knows for certain: its pieces and castling rights, the turn, and the move number."""
        board = chess.Board(None)
        for square in chess.scan_forward(self._own[color]):
            board.set_piece_at(square, self._men[square].cell[1])
        board.turn, board.castling_rights = self.turn, self.castling & _HOME_RANKS[color]
        board.fullmove_number = self.fullmoves
        return board

    # --- Move actions -------------------------------------------------------------------------------------------

    def move_actions(self) -> list[Move]:
        """Return all moves that the side to move may request, knowing only its own pieces.

        They are in the order of reconchess's ``move_actions``, so that a seeded bot plays the same game here as there.
        """
        turn = self.turn
        own, men = self._own[turn], self._men
        free = own ^ chess.BB_ALL
        moves: list[Move] = []
        officers = own ^ self._pawns[turn]
        while officers:
            square = officers.bit_length() - 1
            officers ^= BB_SQUARES[square]
            man = men[square]
            targets = free
            if man.lines:
                targets = 0
                for mask, attacks in man.lines:
                    targets |= attacks[own & mask]
                targets &= free
            if part := targets & man.above:
                moves += man.up[part]
            if part := targets & man.beside:
                moves += man.level[part]
            if part := targets & man.below:
                moves += man.down[part]
        if castling := self.castling & _HOME_RANKS[turn]:
            for move, between, _ in CASTLINGS[castling]:
                if not own & between:
                    moves.append(move)
        pawns, near, held, steps = self._pawn_moves[turn]
        if pawns != self._pawns[turn] or own & near != held:
            steps = self._list_pawn_moves()
        moves += steps
        return moves

    def _list_pawn_moves(self) -> list[Move]:
        """List the moves of the side to move's pawns, and store them."""
        turn = self.turn
        own, pawns = self._own[turn], self._pawns[turn]
        near, moves = pawn_moves(turn, own, pawns)
        self._pawn_moves[turn] = pawns, near, own & near, moves
        return moves

    def promoting(self, move: Move) -> Move:
        """Return the move, with a queen added if a pawn reaches the last rank without naming a piece."""
        if move.promotion or self._men[move.from_square].piece_type != chess.PAWN:
            return move
        promotions = PROMOTIONS.get((move.from_square, move.to_square))
        return promotions[0] if promotions else move

    # --- Results of moves ---------------------------------------------------------------------------------------

    def revise(self, requested: Move) -> tuple[Move | None, Square | None]:
        """Return the result of a requested move: the move made, or None, and the square it captures on, or None.

        A promotion without a piece means a queen.

        :raises ValueError: the move may not be requested.
        """
        try:
            source, target = requested.from_square, requested.to_square
        except AttributeError:
            raise not_allowed(requested) from None
        turn = self.turn
        own = self._own[turn]
        if not own >> source & 1 or own >> target & 1 or requested.drop:
            raise not_allowed(requested)
        man = self._men[source]
        if not man.reach:
            return self._revise_pawn(requested, source, target)
        path = PATHS[source][target]
        if own & path or requested.promotion:
            raise not_allowed(requested)
        if not man.reach >> target & 1:
            return self._revise_castling(requested), None
        path &= self._own[not turn]
        if not path:
            return requested, None
        stop = (path & -path if target > source else path).bit_length() - 1
        return (requested if stop == target else MOVES[source][stop]), stop

    def _revise_pawn(self, move: Move, source: Square, target: Square) -> tuple[Move | None, Square | None]:
        turn = self.turn
        if move.promotion or chess.BB_BACKRANKS >> target & 1:
            move = _promotion(move)
        other = self._own[not turn]
        step = target - source if turn else source - target
        if step == 8:
            return (None if other >> target & 1 else move), None
        if chess.BB_PAWN_ATTACKS[turn][source] >> target & 1:
            if other >> target & 1:
                return move, target
            if target == self.ep_square:
                return move, target - 8 if turn else target + 8
            return None, None
        middle = (source + target) // 2
        if step != 16 or source >> 3 != (1 if turn else 6) or self._own[turn] >> middle & 1:
            raise not_allowed(move)
        if other >> middle & 1:
            return None, None
        return (MOVES[source][middle] if other >> target & 1 else move), None

    def _revise_castling(self, requested: Move) -> Move | None:
        for move, between, _ in CASTLINGS[self.castling & _HOME_RANKS[self.turn]]:
            if move == requested and not between & self._own[self.turn]:
                return None if between & self._own[not self.turn] else requested
        raise not_allowed(requested)

    # --- Making moves -------------------------------------------------------------------------------------------

    def push(self, taken: Move | None, capture_square: Square | None) -> None:
        """Make the result that :meth:`revise` returned; None is a turn without a move."""
        turn = self.turn
        self.turn = not turn
        self.ep_square = None
        self.halfmoves += 1
        if not turn:
            self.fullmoves += 1
        if taken is None:
            return
        if capture_square is not None:
            self._take(capture_square)
        source, target = taken.from_square, taken.to_square
        both = BB_SQUARES[source] | BB_SQUARES[target]
        man = self._men[source]
        there = man.elsewhere[target]
        if both & _CASTLERS:  # the time taken must not show whether the other side may still castle
            self._castle(man, both)
        self._own[turn] ^= both
        if not man.reach:
            self.halfmoves = 0
            self._pawns[turn] ^= both
            if taken.promotion:
                self._pawns[turn] ^= BB_SQUARES[target]
                there = MEN[turn][taken.promotion][target]
            elif source - target in (16, -16):
                self.ep_square = (source + target) // 2
        # _leave and _stand, inlined
        men, cells, ranks = self._men, self._cells, self._ranks
        men[source], men[target] = EMPTY[source], there
        cells[source], cells[target] = EMPTY[source].cell, there.cell
        ranks[man.row] -= man.weight
        ranks[there.row] += there.weight

    def _take(self, square: Square) -> None:
        """Remove a captured piece of the side that is now to move."""
        self.halfmoves = 0
        turn, others = self.turn, ~BB_SQUARES[square]
        # The capturing player does not learn what it captured, so the time taken must not depend on it.
        self._own[turn] &= others
        self._pawns[turn] &= others
        if self._men[square].piece_type == chess.KING:
            self.castling &= ~_HOME_RANKS[turn]
        self._leave(square)

    def _castle(self, man: Man, both: Bitboard) -> None:
        """Update castling rights after a move between two squares, and move the rook of a king that castles."""
        turn = not self.turn
        if man.piece_type == chess.KING:
            for move, _, rooks in CASTLINGS[self.castling & _HOME_RANKS[turn]]:
                if both == BB_SQUARES[move.from_square] | BB_SQUARES[move.to_square]:
                    source, target = rooks.from_square, rooks.to_square
                    self._own[turn] ^= BB_SQUARES[source] | BB_SQUARES[target]
                    self._stand(self._men[source].elsewhere[target])
                    self._leave(source)
            self.castling &= ~_HOME_RANKS[turn]
        self.castling &= ~both

    def _stand(self, man: Man) -> None:
        """Put a man on its square, which is empty."""
        square = man.cell[0]
        self._men[square] = man
        self._cells[square] = man.cell
        self._ranks[man.row] += man.weight

    def _leave(self, square: Square) -> None:
        man = self._men[square]
        self._men[square] = EMPTY[square]
        self._cells[square] = EMPTY[square].cell
        self._ranks[man.row] -= man.weight


@lru_cache(256)
def _start(fen: str) -> ReconBoard:
    """Return a board to copy from: most games have the same start."""
    return ReconBoard.of(read_position(fen))


def _promotion(move: Move) -> Move:
    """Return a pawn's move to the last rank, or with a promotion, in full: without a piece it means a queen.

    :raises ValueError: no pawn can make it.
    """
    promotions = PROMOTIONS.get((move.from_square, move.to_square), [])
    if move.promotion is None and promotions:
        return promotions[0]
    if move in promotions:
        return move
    raise not_allowed(move)


def not_a_square(square: object) -> ValueError:
    """Return the error for what is sensed and is no square."""
    what = "is not a square: use 0 (a1) to 63 (h8); chess.parse_square makes one of a name"
    return ValueError(f"square: {square!r} {what}")


def not_allowed(requested: object) -> ValueError:
    """Return the error for what is requested and is no move, or none that may be requested."""
    if isinstance(requested, Move):
        return ValueError(f"{requested} is not among the move actions")
    what = "is not a chess.Move; chess.Move.from_uci makes one of a text"
    return ValueError(f"requested: {requested!r} {what}")
