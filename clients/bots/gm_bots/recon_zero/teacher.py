"""Stockfish as a teacher: what it says of true positions, instead of what the player's own search found.

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
from chess import Board, Move

from gm_arena.bot import BotFailed, BotUnusable
from gm_arena.stockfish import VARIABLE, stockfish
from gm_bots.expectation.engine import Stockfish

from .actions import index_of
from .belief import certain
from .encoder import LATE, Planes, encode
from .replay import MOVES, Sample

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
    :ivar followed: see :class:`Teacher`.
    :ivar seed: see :class:`Teacher`.
    :ivar own_searches: whether the decisions themselves are learnt, too.
    """

    depth: int
    followed: int
    seed: str
    own_searches: bool = False

    def lessons(self, games: Sequence[Sequence[Sample]]) -> list[list[Sample]]:
        """Return what there is to learn from the decisions of each game.

        :raises BotUnusable: Stockfish is not installed, or cannot be started.
        :raises BotFailed: it has ended.
        """
        with Teacher(self.depth, self.followed, self.seed) as teacher:
            return [[lesson for sample in game for lesson in self._lessons(teacher, sample)] for game in games]

    def _lessons(self, teacher: Teacher, sample: Sample) -> Iterator[Sample]:
        if self.own_searches:
            yield sample
        yield from teacher.lessons(sample)


class Teacher:
    """Stockfish, asked about positions. It is a context manager, which ends the program.

    The same samples in the same order have the same lessons, by one version of Stockfish.
    """

    def __init__(self, depth: int, followed: int, seed: str) -> None:
        """Start the program.

        :param depth: the depth of its searches, in plies.
        :param followed: the positions to ask about after each one given, each by a move from the one before.
        :param seed: of the moves that lead to these.
        :raises BotUnusable: Stockfish is not installed, or cannot be started.
        """
        path = stockfish()
        if path is None:
            raise BotUnusable(
                "--teacher asks Stockfish, which was not found: install it (on Debian: apt install stockfish), or set "
                f"{VARIABLE} to the path of the program"
            )
        self._depth, self._followed, self._rng = depth, followed, random.Random(seed)
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
        for follows in range(1 + self._followed):
            scores = self._scores(board)
            if not scores:
                return
            yield lesson(board, scores, sample.outcome if follows % 2 == 0 else -sample.outcome)
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


def lesson(board: Board, scores: Scores, outcome: float) -> Sample:
    """Return what there is to learn from an engine's scores of a position.

    :param scores: the best first; at least one.
    :param outcome: how the game ended for the side to move.
    """
    values = [math.tanh(score / SCALE) for _, score in scores[:MOVES]]
    weights = [math.exp((value - values[0]) / TEMPERATURE) for value in values]
    total = sum(weights)
    shares = {
        index_of(move, board.turn): round(WHOLE * weight / total)
        for (move, _), weight in zip(scores, weights, strict=False)
    }
    return Sample(encode(board, board.turn, certain(board, board.turn)), shares, outcome, values[0])


def shown(planes: Planes) -> Board:
    """Return the position of a sample as its side to move sees it, which is then White: the inverse of ``encode``.

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
