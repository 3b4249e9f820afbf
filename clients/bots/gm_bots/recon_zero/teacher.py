"""Stockfish as a teacher: what it says of true positions, besides what the player's own search found.

The search asks the network about positions in which both sides see everything, as chess engines do. A search of a
hundred simulations knows little of them that the network did not tell it, so a network that learns from its own
searches improves slowly; an engine's scores of all moves are a far better lesson.

A search also asks about positions that good play never reaches: pieces left to be captured, attacks that lose a queen.
So each position that occurred is followed by some that did not, by moves drawn from good ones, captures and all others.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType

import chess
import numpy as np
from chess import Board, Move

from gm_arena.bot import BotFailed, BotUnusable
from gm_arena.stockfish import NOT_FOUND, stockfish
from gm_bots.expectation.engine import Stockfish
from gm_env.actions import FROM_TO_BY_PLANES, action_of
from gm_env.positions import written
from gm_recon import ReconBoard

from .lockstep.encoding import LATE, Floats, encode_all
from .replay import MOVES, Sample

#: The positions that it is asked about after each one of a game, each by a move from the one before.
FOLLOWED = 8

#: The hundredths of a pawn that are worth three quarters of a game. It is less than
#: :data:`.lockstep.judging.SCALE`, which holds for material alone: an engine's score includes what happens next.
SCALE = 1500.0
#: The difference in value that makes a move e times less likely: 0.05 is three quarters of a pawn in an equal position.
TEMPERATURE = 0.05
#: The same when a move is drawn that leads to another position, in hundredths of a pawn.
DRAWN = 150.0
#: How often that move is drawn from the engine's; otherwise how often from the captures.
FROM_ENGINE, FROM_CAPTURES = 0.5, 0.4
#: The engine's moves that it may be.
BEST = 20
#: The shares of moves are kept as whole numbers, as visits are.
WHOLE = 10_000

#: Moves with their scores in hundredths of a pawn, the best first.
Scores = list[tuple[Move, int]]


@dataclass(frozen=True)
class Teaching:
    """What a teacher is to say of games, which can be sent to another process.

    :ivar depth: the depth of its searches, in plies.
    :ivar seed: see :class:`Teacher`.
    """

    depth: int
    seed: str

    def lessons(self, games: Sequence[Sequence[Sample]]) -> list[list[Sample]]:
        """Return what there is to learn from the decisions of each game: these, and what the teacher says.

        :raises BotUnusable: Stockfish is not installed, or cannot be started.
        :raises BotFailed: it has ended.
        """
        with Teacher(self.depth, self.seed) as teacher:
            return [[each for sample in game for each in (sample, *teacher.lessons(sample))] for game in games]


class Teacher:
    """Stockfish, asked about positions. It is a context manager, which ends the program.

    The same samples in the same order have the same lessons, by one version of Stockfish.
    """

    def __init__(self, depth: int, seed: str) -> None:
        """Start the program.

        :param depth: the depth of its searches, in plies.
        :param seed: of the moves that lead to other positions.
        :raises BotUnusable: Stockfish is not installed, or cannot be started.
        """
        path = stockfish()
        if path is None:
            raise BotUnusable(f"--teacher asks {NOT_FOUND}, or give --teacher 0")
        self._depth, self._rng = depth, random.Random(seed)
        try:
            self._engine = Stockfish(path)
        except BotFailed as error:
            raise BotUnusable(str(error)) from None

    def __enter__(self) -> Teacher:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._engine.close()

    def lessons(self, sample: Sample) -> Iterator[Sample]:
        """Yield samples with the engine's moves and values: of the sample's position, and of some that may follow.

        There are fewer where the engine has no answer: a king can be captured, or the side to move has no legal move.

        :param sample: a decision in a true position. Its planes do not have the rights to castle, so a king and a rook
            at home have them.
        :raises BotFailed: the program has ended.
        """
        board = shown(sample.planes)
        for _ in range(1 + FOLLOWED):
            scores = self._scores(board)
            if not scores:
                return
            yield lesson(board, scores)
            board.push(self._drawn(board, scores))

    def _scores(self, board: Board) -> Scores:
        kings = all(board.king(color) is not None for color in chess.COLORS)
        if not kings or board.was_into_check():
            return []
        said = self._engine.scores(board.fen(), self._depth)
        return sorted(((Move.from_uci(move), score) for move, score in said.items()), key=lambda each: -each[1])

    def _drawn(self, board: Board, scores: Scores) -> Move:
        """Return a move to another position."""
        if self._rng.random() < FROM_ENGINE:
            best = scores[:BEST]
            weights = [math.exp((score - best[0][1]) / DRAWN) for _, score in best]
            return self._rng.choices([move for move, _ in best], weights)[0]
        moves = list(board.pseudo_legal_moves)
        captures = [move for move in moves if board.is_capture(move)]
        if captures and self._rng.random() < FROM_CAPTURES:
            return self._rng.choice(captures)
        return self._rng.choice(moves)


def lesson(board: Board, scores: Scores) -> Sample:
    """Return what there is to learn from an engine's scores of a position, at least one, the best first."""
    values = [math.tanh(score / SCALE) for _, score in scores[:MOVES]]
    weights = [math.exp((value - values[0]) / TEMPERATURE) for value in values]
    total = sum(weights)
    shares = {
        _number_of(move, board): round(WHOLE * weight / total)
        for (move, _), weight in zip(scores, weights, strict=False)
    }
    return Sample(planes_of(board), shares, values[0])


def _number_of(move: Move, board: Board) -> int:
    """Return a move's number by from, to and promotion."""
    is_pawn = int(board.piece_type_at(move.from_square) == chess.PAWN)
    return int(FROM_TO_BY_PLANES[is_pawn, action_of(move, board.turn)])


def planes_of(board: Board) -> Floats:
    """Return the planes of a position, (15, 8, 8)."""
    state, numbers = written(ReconBoard.of(board))
    planes: Floats = encode_all(np.array([state]), np.array([numbers]))[0]
    return planes


def shown(planes: Floats) -> Board:
    """Return the position of a sample as its side to move sees it, which is then White: the inverse of `planes_of`.

    The planes do not have the rights to castle. A king and a rook on their first squares have them.
    """
    board = Board(None)
    for color, first in ((chess.WHITE, 0), (chess.BLACK, 6)):
        for piece_type in chess.PIECE_TYPES:
            for square in planes[first + piece_type - 1].reshape(64).nonzero()[0].tolist():
                board.set_piece_at(square, chess.Piece(piece_type, color))
    board.turn, board.fullmove_number = chess.WHITE, max(1, round(float(planes[-1, 0, 0]) * LATE / 2))
    board.castling_rights = chess.BB_CORNERS
    board.castling_rights = board.clean_castling_rights()
    return board
