"""A line of moves on one board, for games of which nobody is shown the positions between: PGN, exports, checks.

Playing a move so takes a fourth of the time of :meth:`gmd.games.facts.Facts.play`, which also prepares what a reply
shows of the position. The results are the same.
"""

from __future__ import annotations

import chess
from chess import BB_SQUARES, Bitboard, PieceType, Square

from gmd.games.facts import Played
from gmd.games.moves import find_move, of_type, san_stem
from gmd.games.position import Position, advance, pack, unpack

#: The squares from which a slider on an empty board attacks a square.
_LINES = [
    chess.BB_DIAG_ATTACKS[square][0] | chess.BB_RANK_ATTACKS[square][0] | chess.BB_FILE_ATTACKS[square][0]
    for square in chess.SQUARES
]


class Line:
    """A position that moves are played on."""

    def __init__(self, position: Position) -> None:
        self._board = unpack(position)
        self._check = self._board.is_check()

    def play(self, text: str) -> Played:
        """Play a move given in SAN or UCI. Only after a check, its ``goes_on`` says whether there is a move.

        :raises IllegalMove: the text means no legal move.
        :raises AmbiguousMove: it means several.
        """
        board = self._board
        found = find_move(board, self._movers, text)
        known, piece_type = found.known, found.piece_type
        captures = board.occupied_co[not board.turn] & BB_SQUARES[known.move.to_square] != 0
        stem = san_stem(board, found)
        advance(board, known.move, piece_type)
        self._check = board.is_check()
        goes_on = not self._check or self.can_move()
        sign = ("+" if goes_on else "#") if self._check else ""
        zeroing = captures or piece_type == chess.PAWN
        return Played(known.uci, stem + sign, known.code, pack(board), goes_on, zeroing)

    def can_move(self) -> bool:
        """Return whether the side to move has a legal move."""
        return any(self._board.generate_legal_moves())

    def _movers(self, piece_type: PieceType, target: Square) -> Bitboard:
        """Return the pieces that may move to a square; see :data:`gmd.games.moves.Movers`."""
        board = self._board
        own = board.occupied_co[board.turn]
        if own & BB_SQUARES[target]:
            return 0
        movers = self._pawns(target) if piece_type == chess.PAWN else self._attackers(piece_type, target)
        movers &= own & of_type(board, piece_type)
        king = board.king(board.turn)
        if king is None or not movers:
            return movers
        passes = piece_type == chess.PAWN and target == board.ep_square
        if not (self._check or passes or piece_type == chess.KING or movers & _LINES[king]):
            return movers
        for source in chess.scan_reversed(movers):
            if board.is_into_check(chess.Move(source, target)):
                movers ^= BB_SQUARES[source]
        return movers

    def _attackers(self, piece_type: PieceType, target: Square) -> Bitboard:
        """Return the squares from which a piece would attack a square."""
        occupied = self._board.occupied
        if piece_type == chess.KNIGHT:
            return chess.BB_KNIGHT_ATTACKS[target]
        if piece_type == chess.KING:
            return chess.BB_KING_ATTACKS[target]
        squares = 0
        if piece_type != chess.ROOK:
            squares = chess.BB_DIAG_ATTACKS[target][chess.BB_DIAG_MASKS[target] & occupied]
        if piece_type != chess.BISHOP:
            squares |= chess.BB_RANK_ATTACKS[target][chess.BB_RANK_MASKS[target] & occupied]
            squares |= chess.BB_FILE_ATTACKS[target][chess.BB_FILE_MASKS[target] & occupied]
        return squares

    def _pawns(self, target: Square) -> Bitboard:
        """Return the squares from which a pawn would step to or capture on a square."""
        board = self._board
        captures = chess.BB_PAWN_ATTACKS[not board.turn][target]
        if board.occupied & BB_SQUARES[target]:
            return captures
        back = -8 if board.turn else 8
        steps = captures if target == board.ep_square else 0
        if not 0 <= target + back < 64:
            return steps
        step = BB_SQUARES[target + back]
        steps |= step
        fourth = chess.BB_RANK_4 if board.turn else chess.BB_RANK_5
        if BB_SQUARES[target] & fourth and not board.occupied & step:
            steps |= BB_SQUARES[target + 2 * back]
        return steps
