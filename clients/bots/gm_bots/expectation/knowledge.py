"""The knowledge of a player: every possible position, and one guess for a game in which these were too many.

The compiled sets of :mod:`gm_env` keep the positions if numba is installed, and those in Python otherwise.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Collection, Iterator
from functools import cache
from heapq import nlargest
from importlib.util import find_spec
from operator import itemgetter
from typing import TypeVar

import chess
from chess import Board, Color, Move, Square

from gm_bots.minimax.guess import Guess
from gm_recon import Cell
from gm_recon.position_sets import PositionSet, PythonPositions
from gm_recon.possible import SENSE_SQUARES, WINDOWS, PossiblePositions

from .likelihood import Likelihoods
from .results import Engine

#: Positions drawn to estimate what a sense shows, and to choose the positions to search from.
DRAWN = 1_000
#: The most positions kept. To expand 100,000 of them takes a second in Python, and a tenth of it compiled.
MOST_COMPILED, MOST_IN_PYTHON = 500_000, 50_000
#: The share of searched positions in which the player's king is attacked, if there are so many.
ATTACKED_SHARE = 0.25

_T = TypeVar("_T")


class Knowledge:
    """The knowledge of a player. All events must be reported in the order in which they happen."""

    def __init__(self, color: Color, fen: str, rng: random.Random, most: int, engine: Engine) -> None:
        """:param most: the most positions kept.
        :param engine: scores the opponent's moves.
        :raises ValueError: the FEN cannot be read, or is not a start position.
        """
        board = Board(fen)
        self._color, self._rng = color, rng
        self._positions = PossiblePositions(color, fen, cap=most, rng=rng, backend=backend())
        self._likelihoods = Likelihoods(self._positions, engine)
        self._own = _pieces_of(board, color)
        self._guess = Guess(board, color)
        self._quiet = 0

    def __len__(self) -> int:
        """Return the number of positions known: those kept, or those followed by their likelihood if these are more."""
        return max(len(self._positions), len(self._likelihoods))

    @property
    def guess(self) -> Guess:
        """The one guess, for a player that has lost all possible positions."""
        return self._guess

    def limit(self, most: int) -> None:
        """Keep at most so many positions from now on."""
        self._positions.limit(most)

    def opponent_moved(self, capture: Square | None) -> None:
        """Record the opponent's turn, with the square on which it captured, if any."""
        self._likelihoods.opponent_moved(capture)
        self._positions.opponent_moved(capture)
        self._quiet = self._quiet + 1 if capture is None else 0
        if capture is not None:
            self._own.remove_piece_at(capture)
            self._own.castling_rights &= ~chess.BB_SQUARES[capture]
        self._guess.opponent_moved(self._own, capture)

    def ahead(self, stopped: Callable[[], bool]) -> Iterator[Board]:
        """Yield the likeliest positions after the opponent's next turn: :meth:`Likelihoods.ahead`."""
        for board in self._likelihoods.ahead(stopped):
            board.halfmove_clock = self._quiet + 1
            yield board

    def weigh(self, most: int, ends: float) -> None:
        """Weigh the positions by the opponent's last move: :meth:`Likelihoods.carry`."""
        self._likelihoods.carry(most, ends)

    def saw(self, cells: Collection[Cell]) -> None:
        """Record the result of the player's sense."""
        self._positions.saw(cells)
        self._likelihoods.saw(cells)
        self._guess.saw(cells)

    def moved(self, requested: Move | None, taken: Move | None, capture: Square | None) -> None:
        """Record the result of the player's move, after which the game goes on."""
        left = self._likelihoods.moving(requested, taken, capture)
        self._positions.player_moved(requested, taken, capture)
        self._likelihoods.moved(left)
        is_quiet = capture is None and (taken is None or self._own.piece_type_at(taken.from_square) != chess.PAWN)
        self._quiet = self._quiet + 1 if is_quiet else 0
        if taken is not None:
            self._own.turn = self._color
            self._own.push(taken)
            self._own.clear_stack()
        self._guess.moved(requested, taken, capture)

    def sample(self, count: int, danger: float = 1.0) -> list[tuple[Board, float]]:
        """Return different positions with their weights: so many, or all if there are fewer.

        A quarter of the places is for positions in which the opponent attacks the player's king, if there are so many:
        a player must know of a danger of one in a hundred. Half-move clocks count from the last capture or own pawn
        move: the opponent's are not known.

        If no position is left, return the guess, or nothing if that is no position of chess.

        :param danger: how many times its probability is the weight of a position with such an attack; the others weigh
            their probability.
        """
        likely = self._likelihoods.likely
        others = [each for each in self._positions.draw(max(count, DRAWN)) if each not in likely]
        shares = [*likely.values(), *([self._likelihoods.others / max(1, len(others))] * len(others))]
        boards = self._positions.boards([*likely, *others])
        if not boards:
            guessed = self._guess.legal_board()
            boards, shares = [] if guessed is None else [guessed], [1.0]
        for board in boards:
            board.halfmove_clock = self._quiet
        positions = list(zip(boards, shares, strict=False))
        attacked, safe = [], []
        for board, share in positions:
            if self._is_attacked(board):
                attacked.append((board, danger * share))
            else:
                safe.append((board, share))
        places = max(min(len(attacked), math.ceil(count * ATTACKED_SHARE), count - 1), count - len(safe))
        return _mixed(self._chosen(safe, count - places), self._chosen(attacked, places))

    def _chosen(self, positions: list[tuple[Board, float]], count: int) -> list[tuple[Board, float]]:
        """Return some of several positions, or all if there are fewer: two of three are the likeliest, the others are
        drawn by their probability, and share that of all that are left."""
        positions.sort(key=itemgetter(1), reverse=True)
        if len(positions) <= count:
            return positions
        certain, left = positions[: count * 2 // 3], positions[count * 2 // 3 :]
        keys = [math.log(1 - self._rng.random()) / max(1e-300, share) for _, share in left]
        drawn = nlargest(count - len(certain), range(len(left)), key=keys.__getitem__)
        whole = sum(share for _, share in left)
        return _mixed(certain, [(left[each][0], whole / len(drawn)) for each in drawn])

    def _is_attacked(self, board: Board) -> bool:
        king = board.king(self._color)
        return king is not None and board.is_attacked_by(not self._color, king)

    def bits(self, squares: Collection[Square]) -> dict[Square, float]:
        """Return the expected information of a sense of each square, in bits; 0 if no position is left.

        It is the logarithm of the factor by which a sense reduces the expected number of positions.

        :param squares: those allowed; only those with a whole window are returned, unless none has one.
        """
        inner = [square for square in SENSE_SQUARES if square in squares] or list(squares)
        drawn = self._positions.draw(DRAWN)
        if not len(drawn):
            return dict.fromkeys(inner, 0.0)
        pairs = drawn.pairs_alike([WINDOWS[square] for square in inner])
        return {
            square: 2 * math.log2(len(drawn)) - math.log2(alike) for square, alike in zip(inner, pairs, strict=True)
        }


def _mixed(first: list[_T], second: list[_T]) -> list[_T]:
    """Return the items of two lists, evenly mixed and in their order, so that few of them are a fair sample, too."""
    order = [((place + 0.5) / len(each), item) for each in (first, second) for place, item in enumerate(each)]
    return [item for _, item in sorted(order, key=itemgetter(0))]


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


def prepare(engine: Engine) -> None:
    """Load and compile the sets before a clock runs: that takes seconds, once in a process."""
    fen = "rnbqkbnr/ppp1pppp/8/3p4/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2"
    knowledge = Knowledge(chess.BLACK, fen, random.Random(1), 10, engine)  # fewer than White's moves
    knowledge.opponent_moved(None)
    knowledge.weigh(1, 0)
    knowledge.bits(SENSE_SQUARES)
    knowledge.saw([(chess.E4, chess.Piece.from_symbol("P"))])
    move = Move.from_uci("d5e4")
    knowledge.moved(move, move, chess.E4)
    knowledge.opponent_moved(None)
    knowledge.sample(1)


def _pieces_of(board: Board, color: Color) -> Board:
    """Return a board with one side's pieces and castling rights alone."""
    own = board.copy(stack=False)
    for square in chess.scan_forward(board.occupied_co[not color]):
        own.remove_piece_at(square)
    own.castling_rights &= chess.BB_RANK_1 if color else chess.BB_RANK_8
    own.ep_square = None
    return own
