"""The knowledge of a player: every possible position, and one guess for a game in which these were too many.

The compiled sets of :mod:`gm_env` keep the positions if numba is installed, and those in Python otherwise.
"""

from __future__ import annotations

import math
import random
from collections.abc import Collection, Sequence
from functools import cache
from importlib.util import find_spec

import chess
from chess import Board, Color, Move, Square

from gm_bots.minimax.guess import Guess
from gm_recon import Cell
from gm_recon.position_sets import PositionSet, PythonPositions
from gm_recon.possible import SENSE_SQUARES, PossiblePositions

from .sensing import window

#: Positions drawn to estimate what a sense shows, and to choose the positions to search from.
DRAWN = 1_000
#: The most positions kept. A hundred thousand take a second to expand in Python, and a tenth of it compiled.
MOST_COMPILED, MOST_IN_PYTHON = 500_000, 50_000


class Knowledge:
    """The knowledge of a player. All events must be reported in the order in which they happen."""

    def __init__(self, color: Color, fen: str, rng: random.Random, most: int) -> None:
        """:param most: the most positions kept.
        :raises ValueError: the FEN cannot be read, or is not a start position.
        """
        board = Board(fen)
        self._color, self._rng = color, rng
        self._positions = PossiblePositions(color, fen, cap=most, rng=rng, backend=backend())
        self._own = _pieces_of(board, color)
        self._guess = Guess(board, color)
        self._quiet = 0

    def __len__(self) -> int:
        """Return the number of positions that are kept."""
        return len(self._positions)

    @property
    def guess(self) -> Guess:
        """The one guess, for a player that has lost all possible positions."""
        return self._guess

    def limit(self, most: int) -> None:
        """Keep at most so many positions from now on."""
        self._positions.limit(most)

    def opponent_moved(self, capture: Square | None) -> None:
        """Record the opponent's turn, with the square on which it captured, if any."""
        self._positions.opponent_moved(capture)
        self._quiet = self._quiet + 1 if capture is None else 0
        if capture is not None:
            self._own.remove_piece_at(capture)
            self._own.castling_rights &= ~chess.BB_SQUARES[capture]
        self._guess.opponent_moved(self._own, capture)

    def saw(self, cells: Collection[Cell]) -> None:
        """Record the result of the player's sense."""
        self._positions.saw(cells)
        self._guess.saw(cells)

    def moved(self, requested: Move | None, taken: Move | None, capture: Square | None) -> None:
        """Record the result of the player's move, after which the game goes on."""
        self._positions.player_moved(requested, taken, capture)
        is_quiet = capture is None and (taken is None or self._own.piece_type_at(taken.from_square) != chess.PAWN)
        self._quiet = self._quiet + 1 if is_quiet else 0
        if taken is not None:
            self._own.turn = self._color
            self._own.push(taken)
            self._own.clear_stack()
        self._guess.moved(requested, taken, capture)

    def sample(self, count: int, danger: float) -> list[Board]:
        """Return different positions, drawn at random: so many, or all if there are fewer.

        Their half-move clocks count from the last capture or own pawn move: the opponent's are not known.

        :param danger: how many times as likely a position is drawn in which the opponent attacks the player's king.

        If no position is left, return the guess, or nothing if that is no position of chess.
        """
        if self._positions.lost:
            guessed = self._guess.legal_board()
            boards = [] if guessed is None else [guessed]
        else:
            boards = self._positions.sample(max(count, DRAWN))
        if len(boards) > count:
            keys = [self._key(board, danger) for board in boards]
            order = sorted(range(len(boards)), key=keys.__getitem__, reverse=True)
            boards = [boards[place] for place in order[:count]]
        for board in boards:
            board.halfmove_clock = self._quiet
        return boards

    def _key(self, board: Board, danger: float) -> float:
        """Return a random key; the largest belongs to each board with its weight (Efraimidis and Spirakis)."""
        king = board.king(self._color)
        attacked = king is not None and board.is_attacked_by(not self._color, king)
        return math.log(1 - self._rng.random()) / (danger if attacked else 1)

    def bits(self, squares: Collection[Square]) -> dict[Square, float]:
        """Return the expected information of a sense of each square, in bits; 0 if no position is left.

        It is the logarithm of the factor by which a sense reduces the expected number of positions.

        :param squares: those allowed; only those with a whole window are returned, unless none has one.
        """
        inner = [square for square in SENSE_SQUARES if square in squares] or list(squares)
        drawn = self._positions.draw(DRAWN)
        if not len(drawn):
            return dict.fromkeys(inner, 0.0)
        pairs = drawn.pairs_alike([window(square) for square in inner])
        return {
            square: 2 * math.log2(len(drawn)) - math.log2(alike) for square, alike in zip(inner, pairs, strict=True)
        }


@cache
def backend() -> type[PositionSet]:
    """Return the kind of sets that keep the positions: compiled, if numba and numpy are installed."""
    if find_spec("numba") is None or find_spec("numpy") is None:
        return PythonPositions
    from gm_env import CompiledPositions

    return CompiledPositions


def most_kept(seconds: float | None) -> int:
    """Return how many positions a player may keep, so that these never take more than some seconds of its game.

    :param seconds: those of its clock for the whole game; None without such a clock.
    """
    most, a_second = (MOST_IN_PYTHON, 50) if backend() is PythonPositions else (MOST_COMPILED, 1_000)
    return most if seconds is None else max(1_000, min(most, int(seconds * a_second)))


def prepare() -> None:
    """Load and compile the sets before a clock runs: that takes seconds, once in a process."""
    knowledge = Knowledge(chess.BLACK, chess.STARTING_FEN, random.Random(1), 1_000)
    knowledge.opponent_moved(None)
    knowledge.bits(SENSE_SQUARES)
    knowledge.saw([(chess.E4, None)])
    move = Move.from_uci("e7e5")
    knowledge.moved(move, move, None)
    knowledge.opponent_moved(None)
    knowledge.sample(1, 1)


def consistent(boards: Sequence[Board], cells: Collection[Cell]) -> list[Board]:
    """Return the boards that agree with the result of a sense."""
    return [board for board in boards if all(board.piece_at(square) == piece for square, piece in cells)]


def _pieces_of(board: Board, color: Color) -> Board:
    """Return a board with one side's pieces and castling rights alone."""
    own = board.copy(stack=False)
    for square in chess.scan_forward(board.occupied_co[not color]):
        own.remove_piece_at(square)
    own.castling_rights &= chess.BB_RANK_1 if color else chess.BB_RANK_8
    own.ep_square = None
    return own
