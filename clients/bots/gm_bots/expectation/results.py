"""The expected result of each move that a player may request in one position, from 0 (lost) to 1 (won).

Stockfish knows chess. What differs in blind chess is added here: a move may turn out otherwise than requested, a king
may be captured, and the opponent may overlook a check.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from math import log10
from typing import Protocol

import chess
from chess import Board, Move, Square

from gm_bots.unseen import Unseen
from gm_recon import ReconBoard

from .engine import MATE, Item, Scores, T

#: Expected results of requested moves, in their order.
Results = list[float]

WON = 1.0
#: The score in hundredths of a pawn that makes a win ten times as likely as a loss, as in Elo's formula.
TENFOLD = 400
#: The expected result of a mate, which the opponent may still escape or not notice; what each move until it costs, and
#: the most moves that cost it; and the bound of all other scores.
MATING, A_MOVE, MOST_MOVES, SAFE = 0.99, 0.0005, 16, 0.98
#: The most half-moves without a capture or a pawn move that Stockfish gets to know: with 100 it would see a draw.
MOST_QUIET = 80
#: The expected result where the opponent overlooks that it could capture the king.
OVERLOOKED = 0.5


class Engine(Protocol):
    """What is asked of :class:`~.engine.Stockfishes`."""

    @property
    def size(self) -> int: ...

    def scores(self, fen: str, depth: int, moves: Collection[str] = (), seconds: float | None = None) -> Scores: ...

    def score(self, fen: str, depth: int) -> int: ...

    def map(self, function: Callable[[Item], T], items: Sequence[Item]) -> list[T]: ...


class Judge:
    """Expected results in the positions of one turn. Each position is searched once.

    :ivar searched: the number of positions searched so far, in all turns.
    """

    def __init__(self, engine: Engine, depth: int, unseen: Unseen) -> None:
        """:param depth: the depth of the searches, in plies."""
        self._engine, self._depth, self._unseen = engine, depth, unseen
        self._requests: list[Move | None] = []
        self._known: dict[str, Results] = {}
        self.searched = 0

    def begin(self, requests: Sequence[Move | None]) -> None:
        """Begin a turn, in which the player may request these moves; None is a pass."""
        if list(requests) != self._requests:
            self._requests, self._known = list(requests), {}

    def results(self, board: Board, seconds: float | None = None) -> Results:
        """Return the expected result of each request in a position.

        :param seconds: the most that a search of it takes; None for no limit.
        """
        fen = fen_of(board)
        known = self._known.get(fen)
        if known is None:
            self.searched += 1
            known = self._known[fen] = self._judge(board, fen, seconds)
        return known

    def refined(self, board: Board, places: Sequence[int], depth: int, seconds: float | None = None) -> Results:
        """Return the expected results of some requests in a position, from a deeper search of these alone.

        :param places: their places among the requests.
        :param depth: the depth of the search, in plies.
        :param seconds: the most that the search takes; None for no limit.
        """
        known = self.results(board)
        truth = ReconBoard.of(board)
        made = [_made(truth, self._requests[place]) for place in places]
        moves = {move.uci() for move, _ in made if move is not None and board.is_legal(move)}
        if not moves or is_decided(board):
            return [known[place] for place in places]
        scores = self._engine.scores(fen_of(board), depth, sorted(moves), seconds)
        return [
            self._value(board, move, capture, scores) if move is not None and move.uci() in moves else known[place]
            for place, (move, capture) in zip(places, made, strict=True)
        ]

    def gives_check(self, request: Move | None, boards: Sequence[Board], weights: Sequence[float]) -> bool:
        """Return whether a request probably leads to an attack on the king that no capture betrays."""
        checks = 0.0
        for board, weight in zip(boards, weights, strict=True):
            move, capture = _made(ReconBoard.of(board), request)
            if move is not None and capture is None and board.gives_check(move):
                checks += weight
        return checks > sum(weights) / 2

    def forget(self) -> None:
        """End the turn."""
        self._requests, self._known = [], {}

    def _judge(self, board: Board, fen: str, seconds: float | None) -> Results:
        truth = ReconBoard.of(board)
        made = [_made(truth, request) for request in self._requests]
        passed = self._unscored(board, Move.null())
        if is_decided(board):
            king = board.king(not board.turn)
            return [WON if capture is not None and capture == king else passed for _, capture in made]
        scores = self._engine.scores(fen, self._depth, (), seconds)
        values: dict[Move | None, float] = {None: passed}
        for move, capture in made:
            if move is not None and move not in values:
                values[move] = self._value(board, move, capture, scores)
        return [values[move] for move, _ in made]

    def _value(self, board: Board, move: Move, capture: Square | None, scores: Scores) -> float:
        score = scores.get(move.uci())
        if score is None:
            return self._unscored(board, move)
        value = expected_result(score)
        # After a capture the opponent knows where the capturing piece stands.
        if capture is None and board.gives_check(move):
            value += self._unseen.probability * (WON - value)
        return value

    def _unscored(self, board: Board, move: Move) -> float:
        """Return the expected result of a move that chess does not allow: one after which the opponent can capture the
        king, castling out of check or through it, or the null move."""
        after = board.copy(stack=False)
        after.push(move)
        if is_decided(after):
            return self._unseen.probability * OVERLOOKED
        return WON - expected_result(self._engine.score(fen_of(after), max(1, self._depth - 1)))


def _made(truth: ReconBoard, request: Move | None) -> tuple[Move | None, Square | None]:
    """Return the move that a request leads to, if any, and the square on which it captures, if any."""
    return (None, None) if request is None else truth.revise(request)


def is_decided(board: Board) -> bool:
    """Return whether the side to move can capture the king: then it is no position of chess."""
    king = board.king(not board.turn)
    return king is None or board.is_attacked_by(board.turn, king)


def fen_of(board: Board) -> str:
    """Return a position for Stockfish, which prefers progress the more half-moves have passed without any."""
    en_passant = "-"
    if board.ep_square is not None and board.has_legal_en_passant():
        en_passant = chess.SQUARE_NAMES[board.ep_square]
    turn, quiet = "w" if board.turn else "b", min(board.halfmove_clock, MOST_QUIET)
    return f"{board.board_fen()} {turn} {board.castling_xfen()} {en_passant} {quiet} 1"


def expected_result(score: int) -> float:
    """Return the expected result of a score in hundredths of a pawn, or of a mate (:data:`~.engine.MATE`).

    A higher score has a higher result, so that a won game makes progress.
    """
    if abs(score) > MATE // 2:
        mating = MATING - A_MOVE * min(MOST_MOVES, MATE - abs(score))
        return mating if score > 0 else WON - mating
    return WON - SAFE + (2 * SAFE - WON) / (1 + 10 ** (-score / TENFOLD))


def score_of(result: float) -> float:
    """Return the score in pawns that has an expected result: the inverse of :func:`expected_result`."""
    share = min(0.999, max(0.001, (result - (WON - SAFE)) / (2 * SAFE - WON)))
    return TENFOLD / 100 * log10(share / (WON - share))
