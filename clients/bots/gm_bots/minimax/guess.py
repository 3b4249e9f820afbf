"""One guess at a position of blind chess: the player's own pieces, and the assumed squares of the opponent's.

The guess believes what a sense shows. A piece that appears on a square has come from the nearest square where one of
its kind was assumed; a piece that is not on its assumed square has gone where nothing has been seen for longest. The
guess holds one position only: :mod:`gm_client.tracker` holds all possible ones.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

import chess
from chess import Board, Move, Piece, Square

from gm_recon import Cell
from gm_recon.possible import WINDOWS

#: Turns after which an unseen square counts as completely unknown.
OLDEST = 8

#: The value of sensing a square where something unknown has just captured: more than all others of a window.
CAPTURED_THERE = 8 * 2 * 3 * OLDEST + 1

#: The factor on the value of sensing a square at most two steps from the player's king: from there, mostly, an unseen
#: piece captures the king.
NEAR_KING = 3

#: The order in which pieces are assumed to capture: the least valuable first, the king last.
_CAPTURERS = (chess.PAWN, chess.KNIGHT, chess.BISHOP, chess.ROOK, chess.QUEEN, chess.KING)


class Guess:
    """The guess of one player. All events must be reported in their order.

    :ivar board: the player is to move; it has the castling rights that are possible, and no en passant square.
    """

    def __init__(self, board: Board, color: chess.Color) -> None:
        self.board, self.color = board.copy(stack=False), color
        self._turn = 0
        self._known = [0] * 64  # by square, the turn in which its contents were last known
        self._captured_on: Square | None = None
        self._supposed: tuple[Square, Square] | None = None  # source and target of the assumed capture

    def opponent_moved(self, own: Board, captured_on: Square | None) -> None:
        """Begin a turn, after the opponent's.

        :param own: the player's present pieces and castling rights.
        :param captured_on: the square on which the opponent has just captured.
        """
        self._turn += 1
        self._captured_on, self._supposed = captured_on, None
        board, color = self.board, self.color
        if captured_on is not None:
            self._move_there(captured_on)
        for square in chess.scan_forward(board.occupied_co[color]):
            board.remove_piece_at(square)
        for square in chess.scan_forward(own.occupied_co[color]):
            board.set_piece_at(square, own.piece_at(square))
            self._known[square] = self._turn
        board.turn, board.ep_square = color, None
        board.castling_rights = own.castling_rights & _home(color) | board.castling_rights & _home(not color)
        board.castling_rights = board.clean_castling_rights()

    def _move_there(self, target: Square) -> None:
        """Assume a capture on a square: by the least piece that could make it, else by the nearest that goes far."""
        if self._enemy_at(target):
            return
        able = self.board.attackers_mask(not self.color, target)
        pieces = chess.scan_forward(self.board.occupied_co[not self.color])
        source = min(
            pieces,
            key=lambda square: (
                not able & chess.BB_SQUARES[square],
                self._readiness(square, able),
                chess.square_distance(square, target),
            ),
            default=None,
        )
        if source is not None:
            self._shift(source, target)
            self._supposed = source, target

    def _readiness(self, square: Square, able: chess.Bitboard) -> int:
        """Return the rank of a piece among those assumed to have captured; lower comes first."""
        piece_type = self.board.piece_type_at(square) or chess.KING
        if able & chess.BB_SQUARES[square]:
            return _CAPTURERS.index(piece_type)
        return 0 if piece_type not in (chess.PAWN, chess.KING) else 1 if piece_type == chess.PAWN else 2

    def best_sense(self, squares: Iterable[Square]) -> Square:
        """Return the square to sense: the one around which least is known. Squares count that the opponent's pieces are
        on or can reach, and those not seen for long."""
        worth = [self._worth(square) for square in chess.SQUARES]
        return max(squares, key=lambda center: sum(worth[square] for square in chess.scan_forward(WINDOWS[center])))

    def _worth(self, square: Square) -> int:
        """Return the value of seeing one square."""
        if self.board.color_at(square) == self.color:
            return 0
        if square == self._captured_on:
            return CAPTURED_THERE
        age = min(self._turn - self._known[square], OLDEST)
        reachable = self._enemy_at(square) or self.board.is_attacked_by(not self.color, square)
        return age * (2 if reachable else 1) * (NEAR_KING if self._is_near_king(square) else 1)

    def _is_near_king(self, square: Square) -> bool:
        king = self.board.king(self.color)
        return king is not None and chess.square_distance(king, square) <= 2

    def saw(self, cells: Collection[Cell]) -> None:
        """Record the result of a sense."""
        self._correct(dict(cells))
        appeared = [(square, piece) for square, piece in cells if self._is_new(square, piece)]
        gone = [
            (square, self.board.remove_piece_at(square))
            for square, piece in cells
            if self._enemy_at(square) and self.board.piece_at(square) != piece
        ]
        window = {square for square, _ in cells}
        for square in window:
            self._known[square] = self._turn
        for square, piece in appeared:
            found = next((lost for lost in gone if lost[1] == piece), None)
            if found is not None:
                gone.remove(found)
            else:
                self._forget_nearest(piece, square, window)
            self.board.set_piece_at(square, piece)
        for square, piece in gone:
            if piece is not None:
                self._put_out_of_sight(piece, square, window)

    def _correct(self, seen: dict[Square, Piece | None]) -> None:
        """Undo the assumed capture if another piece is on its square: the assumed piece is where it was."""
        if self._supposed is not None:
            source, target = self._supposed
            if target in seen and seen[target] != self.board.piece_at(target) and not self.board.piece_at(source):
                self._shift(target, source)

    def _is_new(self, square: Square, piece: Piece | None) -> bool:
        return piece is not None and piece.color != self.color and self.board.piece_at(square) != piece

    def _forget_nearest(self, piece: Piece | None, target: Square, window: set[Square]) -> None:
        """Remove the nearest piece of the same kind, since it must be the one that came to a square."""
        if piece is None:
            return
        others = self.board.pieces(piece.piece_type, piece.color) - chess.SquareSet(window)
        able = self.board.attackers_mask(piece.color, target)
        if others:
            self.board.remove_piece_at(
                min(others, key=lambda at: (not able & chess.BB_SQUARES[at], chess.square_distance(at, target), at))
            )

    def _put_out_of_sight(self, piece: Piece, source: Square, window: set[Square]) -> None:
        """Put a piece that is not on its assumed square on the reachable square that has not been seen for longest.

        A piece with nowhere to go was assumed wrongly and is dropped, except a king, which always exists.
        """
        before = self.board.copy(stack=False)
        before.set_piece_at(source, piece)
        reach = before.attacks(source) | _ahead(piece, source)
        hidden = [square for square in chess.SQUARES if square not in window and not self.board.piece_at(square)]
        able = [square for square in hidden if square in reach]
        if not able and piece.piece_type == chess.KING:
            able = hidden
        if able:
            target = min(able, key=lambda square: (self._known[square], chess.square_distance(square, source), square))
            self.board.set_piece_at(target, piece)

    def choose(self, actions: Collection[Move]) -> Move | Board | None:
        """Return a move that needs no engine, such as one that captures the king; else return the board to search.

        A guess that is not a position of chess, or is over, is wrong: then any move shows more than none.
        """
        if (taking := self.takes_king(actions)) is not None:
            return taking
        board = self.legal_board()
        if board is None or not any(board.legal_moves):
            return min(actions, key=str, default=None)
        return board

    def takes_king(self, actions: Collection[Move]) -> Move | None:
        """Return a move that captures the opponent's king, if the guess is right; None if there is none."""
        king = self.board.king(not self.color)
        taking = [move for move in self.board.pseudo_legal_moves if move.to_square == king and move in actions]
        return taking[0] if taking else None

    def legal_board(self) -> Board | None:
        """Return the guess as a position of chess; None if a king is missing or the opponent's could be captured.

        A pawn that is assumed to have reached the last rank is a queen.
        """
        board = self.board.copy(stack=False)
        for square in chess.scan_forward(board.pawns & chess.BB_BACKRANKS):
            board.set_piece_at(square, Piece(chess.QUEEN, not self.color))
        if board.king(chess.WHITE) is None or board.king(chess.BLACK) is None or board.was_into_check():
            return None
        board.halfmove_clock = 0
        board.castling_rights = board.clean_castling_rights()  # the guess may have moved a king or a rook since
        return board

    def moved(self, requested: Move | None, taken: Move | None, captured_on: Square | None) -> None:
        """Record the result of the player's own move."""
        board = self.board
        if captured_on is not None:
            board.remove_piece_at(captured_on)
            self._known[captured_on] = self._turn
        elif taken is None and requested is not None and self._enemy_at(requested.to_square):
            board.remove_piece_at(requested.to_square)  # a pawn's capture there failed: the square is empty
        if taken is not None:
            self._shift(taken.from_square, taken.to_square)
            self._known[taken.to_square] = self._turn

    def _enemy_at(self, square: Square) -> bool:
        return bool(self.board.occupied_co[not self.color] & chess.BB_SQUARES[square])

    def _shift(self, source: Square, target: Square) -> None:
        self.board.set_piece_at(target, self.board.remove_piece_at(source))


def _ahead(piece: Piece, source: Square) -> chess.SquareSet:
    """Return where a pawn can move without capturing, if nothing is in its way; no squares for other pieces."""
    if piece.piece_type != chess.PAWN:
        return chess.SquareSet()
    step = 8 if piece.color else -8
    steps = (1, 2) if chess.square_rank(source) == (1 if piece.color else 6) else (1,)
    return chess.SquareSet(source + step * count for count in steps if 0 <= source + step * count < 64)


def _home(color: chess.Color) -> int:
    return chess.BB_RANK_1 if color else chess.BB_RANK_8
