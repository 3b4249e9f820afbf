"""reconchess's TroutBot as an opponent that repeats its games: by a number of positions, and its own random numbers."""

from __future__ import annotations

import random
import warnings
from contextlib import redirect_stdout
from io import StringIO
from itertools import count
from typing import Any

import chess
from chess import Board, SquareSet
from chess.engine import EngineTerminatedError, Limit, PlayResult, SimpleEngine
from reconchess.bots.trout_bot import TroutBot

from gm_arena.stockfish import say_where
from gm_env.player_opponent import PlayerOpponent


def trout(nodes: int, seed: int) -> PlayerOpponent:
    """Return the opponent.

    :param nodes: positions that its engine searches for a move.
    """
    say_where()
    numbers = count()
    return PlayerOpponent(lambda: RepeatingTrout(nodes, f"{seed} {next(numbers)}"), seconds=None)


class RepeatingTrout(TroutBot):  # type: ignore[misc]
    """TroutBot, whose games follow from the opponent's moves, the number of positions and a seed."""

    def __init__(self, nodes: int, seed: str) -> None:
        super().__init__()
        self.engine = _Counting(vars(self)["engine"], nodes)
        self._random = random.Random(seed).getstate()

    def choose_sense(self, *given: Any) -> Any:
        """Choose a sense, with this player's own random numbers in place of the process's."""
        others = random.getstate()
        random.setstate(self._random)
        try:
            return super().choose_sense(*given)
        finally:
            self._random = random.getstate()
            random.setstate(others)

    def choose_move(self, *given: Any) -> Any:
        """Choose a move, without printing for a board that the engine refuses, where this bot passes."""
        with redirect_stdout(StringIO()):
            return super().choose_move(*given)


class _Counting:
    """An engine that searches a number of positions, whatever limit it is given."""

    def __init__(self, engine: SimpleEngine, nodes: int) -> None:
        self._engine, self._limit = engine, Limit(nodes=nodes)

    def play(self, board: Board, limit: Limit) -> PlayResult:
        """Return the engine's move, which it searches with an empty table; none on a board without a king.

        TroutBot's boards gather pieces that it has seen in two places. Stockfish's moves on a board with more pieces
        than chess has depend on what is in its memory, so it gets a board without the ones that are too many.
        """
        possible = without_surplus(board)
        if possible.king(not board.turn) is None:
            return PlayResult(None, None)
        try:
            return self._engine.play(possible, self._limit, game=object())
        except EngineTerminatedError:
            warnings.warn("TroutBot's engine has ended: it passes from now on", RuntimeWarning, stacklevel=2)
            raise

    def quit(self) -> None:
        """End the engine."""
        self._engine.quit()


def without_surplus(board: Board) -> Board:
    """Return a board without kings, pawns and pieces of the opponent's beyond 1, 8 and 16, those at home first."""
    board, theirs = board.copy(stack=False), not board.turn
    king = board.king(theirs)
    others = [square for square in board.pieces(chess.KING, theirs) if square != king]
    pawns = sorted(board.pieces(chess.PAWN, theirs), reverse=not theirs)
    for square in [*others, *pawns[: max(0, len(pawns) - 8)]]:
        board.remove_piece_at(square)
    pieces = [square for square in SquareSet(board.occupied_co[theirs]) if square != king]
    for square in sorted(pieces, reverse=not theirs)[: max(0, len(pieces) - 15)]:
        board.remove_piece_at(square)
    return board
