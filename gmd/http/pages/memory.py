"""What a player of reconnaissance blind chess may remember: the board as it knows it after each of its turns.

It follows from what the player has observed, and from nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import chess

from gmd.games.rbc_knowledge import Observed

#: The most turns for which an enemy piece that was seen is shown.
MOST_AGE = 20


@dataclass(frozen=True, slots=True)
class Sight:
    """A board as somebody saw it.

    :ivar window: the squares of the sense of this turn; empty for none.
    :ivar unseen: the squares that were not seen in this turn.
    :ivar lost: the square on which the opponent has just captured.
    :ivar remembered: enemy pieces that were seen in earlier turns: their squares, symbols and ages in turns.
    """

    placement: str
    last_move: str | None
    window: frozenset[int] = frozenset()
    unseen: frozenset[int] = frozenset()
    lost: int | None = None
    remembered: tuple[tuple[int, str, int], ...] = ()


class Memory:
    """The board as a player knows it, step by step.

    A turn begins with the opponent's move before it. An enemy piece is remembered on its square until that square is
    sensed, entered or passed by a piece of the player's, or until the opponent captures there.

    :ivar turn: how many turns of the player's have begun after the first one.
    """

    def __init__(self, placement: str, side: chess.Color, *, knows_all: bool) -> None:
        """:param placement: the true position, as the first field of a FEN.
        :param knows_all: whether the player knows it, as at the start of a game; else it knows its own pieces there.
        """
        board = chess.BaseBoard(placement)
        enemies = [
            (square, board.remove_piece_at(square)) for square in chess.scan_forward(board.occupied_co[not side])
        ]
        self._own, self._side = board, side
        self._seen = {square: (piece.symbol(), 0) for square, piece in enemies if piece is not None and knows_all}
        self._window = frozenset[int]()
        self._last_move: chess.Move | None = None
        self._lost: int | None = None
        self.turn = 0

    def learn(self, steps: Iterable[Observed]) -> None:
        """Take in what the player has observed, in order."""
        for each in steps:
            if each.step == "opponent":
                self._begin_turn(each.opponent_capture)
            elif each.step == "sense":
                self._window = frozenset(square for square, _ in each.cells)
                for square, piece in each.cells:
                    self._seen.pop(square, None)
                    if piece is not None and piece.color != self._side:
                        self._seen[square] = (piece.symbol(), self.turn)
            else:
                _, taken, capture = each.move
                self._move(taken, capture)

    def sight(self) -> Sight:
        """Return the board as the player knows it now."""
        board, remembered = self._own.copy(), list[tuple[int, str, int]]()
        for square, (symbol, turn) in sorted(self._seen.items()):
            if square in self._window:
                board.set_piece_at(square, chess.Piece.from_symbol(symbol))
            elif self.turn - turn <= MOST_AGE:
                remembered.append((square, symbol, self.turn - turn))
        return Sight(
            board.board_fen(),
            None if self._last_move is None else self._last_move.uci(),
            self._window,
            frozenset(chess.scan_forward(chess.BB_ALL & ~self._own.occupied)) - self._window,
            self._lost,
            tuple(remembered),
        )

    def _begin_turn(self, capture: int | None) -> None:
        self.turn += 1
        self._window, self._lost = frozenset(), capture
        if capture is not None:
            self._own.remove_piece_at(capture)
            self._seen.pop(capture, None)

    def _move(self, taken: chess.Move | None, capture: int | None) -> None:
        self._last_move, self._lost = taken, None
        if capture is not None:
            self._seen.pop(capture, None)
        if taken is None or (piece := self._own.remove_piece_at(taken.from_square)) is None:
            return
        for square in chess.scan_forward(chess.between(taken.from_square, taken.to_square)):
            self._seen.pop(square, None)
        self._seen.pop(taken.to_square, None)
        self._own.set_piece_at(taken.to_square, chess.Piece(taken.promotion or piece.piece_type, self._side))
        step = chess.square_file(taken.to_square) - chess.square_file(taken.from_square)
        if piece.piece_type == chess.KING and abs(step) == 2:
            corner = taken.to_square + 1 if step > 0 else taken.to_square - 2
            rook = self._own.remove_piece_at(corner)
            if rook is not None:
                self._own.set_piece_at(taken.to_square - step // 2, rook)


def count_at(ply: int, *, first_ply: int, sensed: bool) -> int:
    """Return how many steps a player has observed once a number of turns is complete.

    :param first_ply: the ply of the player's first turn, 0 or 1.
    :param sensed: whether the present turn is the player's, and it has sensed.
    """
    own, is_own_turn = (ply + 1 - first_ply) // 2, (ply - first_ply) % 2 == 0
    return 3 * own + is_own_turn + sensed - (1 - first_ply)
