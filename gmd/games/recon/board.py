"""A position of reconnaissance blind chess and its moves: what a player may ask for, what becomes of it, and doing it.

The rules are those of ``reconchess`` 1.6.9 (its ``utilities.py``) over python-chess: a player may ask for whatever
would be pseudo-legal if it had the board to itself, and for any capture by a pawn; the true board then decides.
"""

from __future__ import annotations

from bisect import insort
from typing import Self

import chess
from chess import BB_SQUARES, BLACK, WHITE, Bitboard, Move, Piece, PieceType, Square

from .tables import (
    CASTLES,
    EMPTY,
    EMPTY_TEXT,
    MEN,
    MOVES,
    PATHS,
    PAWN_MOVES,
    PICK_WINDOW,
    PROMOTIONS,
    RIGHTS,
    Cell,
    Man,
)


class _FenRanks(dict[str, str]):
    """FEN's text of a rank, by the text with a 1 for every empty square. At most some million, and seldom thousands."""

    def __missing__(self, rank: str) -> str:
        fen = rank
        for length in range(8, 1, -1):
            fen = fen.replace("1" * length, str(length))
        self[rank] = fen
        return fen


_FEN_RANKS = _FenRanks()

#: The squares of all that castles, before it has moved.
_CASTLERS = chess.BB_CORNERS | chess.BB_E1 | chess.BB_E8
_HOME_RANKS = (chess.BB_RANK_8, chess.BB_RANK_1)  # indexed by colour

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


class ReconBoard:
    """A true position. Moves handed out are shared: do not change them.

    It has no opinion on whose king is left, and no memory: :class:`~gmd.games.recon.ReconGame` has both.
    """

    __slots__ = (
        "_men",
        "_officers",
        "_own",
        "_pawns",
        "_text",
        "castling",
        "ep_square",
        "fullmoves",
        "halfmoves",
        "turn",
    )

    def __init__(self, fen: str = chess.STARTING_FEN) -> None:
        """:raises ValueError: the FEN cannot be read, or is no position that a game can start from."""
        board = read_position(fen)
        self.turn = board.turn
        #: The rooks that may still castle.
        self.castling: Bitboard = board.castling_rights
        #: The square a pawn has just passed over, whether anything can capture there or not.
        self.ep_square = board.ep_square
        #: Half-moves since the last capture or pawn move, and the full-move number, as in a FEN.
        self.halfmoves, self.fullmoves = board.halfmove_clock, board.fullmove_number
        #: What stands on each square.
        self._men: list[Man] = list(EMPTY)
        #: FEN's first field with a 1 for every empty square.
        self._text = bytearray(EMPTY_TEXT)
        #: By colour: all squares held, those held by pawns, and a sorted list of those held by others.
        self._own: list[Bitboard] = [board.occupied_co[BLACK], board.occupied_co[WHITE]]
        self._pawns: list[Bitboard] = [own & board.pawns for own in self._own]
        self._officers = [list(chess.scan_forward(own & ~board.pawns)) for own in self._own]
        for square, piece in board.piece_map().items():
            self._stand(MEN[piece.color][piece.piece_type][square], square)

    def copy(self) -> Self:
        """A copy to go on with apart from this one."""
        other = object.__new__(type(self))
        other.turn, other.castling, other.ep_square = self.turn, self.castling, self.ep_square
        other.halfmoves, other.fullmoves = self.halfmoves, self.fullmoves
        other._men, other._text = self._men.copy(), self._text.copy()
        other._own, other._pawns = self._own.copy(), self._pawns.copy()
        other._officers = [squares.copy() for squares in self._officers]
        return other

    # --- What there is to see -----------------------------------------------------------------------------------

    def piece_at(self, square: Square) -> Piece | None:
        """The piece on a square."""
        return self._men[square].cell[1]

    def has_king(self, square: Square) -> bool:
        """Whether a king stands on a square."""
        return self._men[square].piece_type == chess.KING

    def occupied_by(self, color: chess.Color) -> Bitboard:
        """The squares that hold pieces of a side."""
        return self._own[color]

    def sources(self, piece_type: PieceType, target: Square) -> Bitboard:
        """The squares of the side to move's pieces of a type, other than pawns, that can go to a square or guard it."""
        before = (self._own[BLACK] | self._own[WHITE]) & ~BB_SQUARES[target]
        found = 0
        for square in self._officers[self.turn]:
            man = self._men[square]
            if man.piece_type == piece_type and man.lines >> target & 1 and not PATHS[square][target] & before:
                found |= BB_SQUARES[square]
        return found

    def window(self, square: Square) -> list[Cell]:
        """What a sense of ``square`` shows: its window, clipped at the edges, from the top left."""
        return [man.cell for man in PICK_WINDOW[square](self._men)]

    def fen(self) -> str:
        """The position in FEN, as python-chess's ``fen(en_passant="fen")`` writes it."""
        pieces = "/".join(map(_FEN_RANKS.__getitem__, self._text.decode().split("/")))
        passed = "-" if self.ep_square is None else chess.SQUARE_NAMES[self.ep_square]
        turn = "w" if self.turn else "b"
        return f"{pieces} {turn} {RIGHTS[self.castling]} {passed} {self.halfmoves} {self.fullmoves}"

    def as_chess(self) -> chess.Board:
        """The position as a :class:`chess.Board` without history."""
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

    # --- What may be asked for ----------------------------------------------------------------------------------

    def move_actions(self) -> list[Move]:
        """All that the side to move may ask for, knowing its own pieces only.

        In the order of reconchess's ``move_actions``, so that a bot with a seed plays the same game here as there.
        """
        turn = self.turn
        own, men = self._own[turn], self._men
        moves: list[Move] = []
        for square in reversed(self._officers[turn]):
            man = men[square]
            moves += man.moves[own & man.lines]
        rights = self.castling & _HOME_RANKS[turn]
        if rights:
            for rook in chess.scan_reversed(rights):
                move, between, _, _ = CASTLES[BB_SQUARES[rook]]
                if not own & between:
                    moves.append(move)
        lists = PAWN_MOVES[turn][self._pawns[turn]]
        moves += lists[own & lists.near]
        return moves

    def promoting(self, move: Move) -> Move:
        """The move itself, or with a queen where it takes a pawn to the last rank and names no piece."""
        if move.promotion or self._men[move.from_square].piece_type != chess.PAWN:
            return move
        promotions = PROMOTIONS.get((move.from_square, move.to_square))
        return promotions[0] if promotions else move

    # --- What becomes of it -------------------------------------------------------------------------------------

    def revise(self, requested: Move) -> tuple[Move | None, Square | None]:
        """What becomes of a move asked for: the move taken, or None, and the square it captures on, or None.

        A promotion without a piece asks for a queen.

        :raises ValueError: the move may not be asked for.
        """
        source, target = requested.from_square, requested.to_square
        turn = self.turn
        own = self._own[turn]
        if not own >> source & 1 or own >> target & 1 or requested.drop:
            raise _not_to_be_asked_for(requested)
        man = self._men[source]
        if not man.lines:
            return self._revise_pawn(requested, source, target)
        path = PATHS[source][target]
        if own & path or requested.promotion:
            raise _not_to_be_asked_for(requested)
        if not man.lines >> target & 1:
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
            raise _not_to_be_asked_for(move)
        if other >> middle & 1:
            return None, None
        return (MOVES[source][middle] if other >> target & 1 else move), None

    def _revise_castling(self, requested: Move) -> Move | None:
        for rook in chess.scan_forward(self.castling & _HOME_RANKS[self.turn]):
            move, between, _, _ = CASTLES[BB_SQUARES[rook]]
            if move == requested and not between & self._own[self.turn]:
                return None if between & self._own[not self.turn] else requested
        raise _not_to_be_asked_for(requested)

    # --- Doing it -----------------------------------------------------------------------------------------------

    def push(self, taken: Move | None, capture_square: Square | None) -> None:
        """Make what :meth:`revise` says becomes of a move; None is a turn without one."""
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
        if self.castling and both & _CASTLERS:
            self._castle(man, both)
        self._own[turn] ^= both
        if man.lines:
            officers = self._officers[turn]
            officers.remove(source)
            insort(officers, target)
        else:
            self.halfmoves = 0
            self._pawns[turn] ^= both
            if taken.promotion:
                self._pawns[turn] ^= BB_SQUARES[target]
                insort(self._officers[turn], target)
                man = MEN[turn][taken.promotion][source]
            elif source - target in (16, -16):
                self.ep_square = (source + target) // 2
        # _leave and _stand, in line
        men, text, gone, there = self._men, self._text, EMPTY[source], man.elsewhere[target]
        men[source], men[target] = gone, there
        text[gone.at], text[there.at] = gone.symbol, there.symbol

    def _take(self, square: Square) -> None:
        """Take a piece of the side that is now to move off the board."""
        self.halfmoves = 0
        turn, bit = self.turn, BB_SQUARES[square]
        self._own[turn] ^= bit
        if self._pawns[turn] & bit:
            self._pawns[turn] ^= bit
        else:
            self._officers[turn].remove(square)
            if self._men[square].piece_type == chess.KING:
                self.castling &= ~_HOME_RANKS[turn]
        self._leave(square)

    def _castle(self, man: Man, both: Bitboard) -> None:
        """Let a king's or rook's move cost its rights to castle, and move the rook of a king that castles."""
        turn = not self.turn
        if man.piece_type == chess.KING:
            for rook in chess.scan_forward(self.castling & _HOME_RANKS[turn]):
                move, _, source, target = CASTLES[BB_SQUARES[rook]]
                if both == BB_SQUARES[move.from_square] | BB_SQUARES[move.to_square]:
                    self._own[turn] ^= BB_SQUARES[source] | BB_SQUARES[target]
                    self._officers[turn].remove(source)
                    insort(self._officers[turn], target)
                    self._stand(self._men[source].elsewhere[target], target)
                    self._leave(source)
            self.castling &= ~_HOME_RANKS[turn]
        self.castling &= ~both

    def _stand(self, man: Man, square: Square) -> None:
        self._men[square] = man
        self._text[man.at] = man.symbol

    def _leave(self, square: Square) -> None:
        self._stand(EMPTY[square], square)


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


def _promotion(move: Move) -> Move:
    """A pawn's move to a last rank, or with a promotion, as it is meant: without a piece it asks for a queen.

    :raises ValueError: no pawn makes it.
    """
    promotions = PROMOTIONS.get((move.from_square, move.to_square), [])
    if move.promotion is None and promotions:
        return promotions[0]
    if move in promotions:
        return move
    raise _not_to_be_asked_for(move)


def _not_to_be_asked_for(requested: Move) -> ValueError:
    return ValueError(f"{requested} is not among the move actions")
