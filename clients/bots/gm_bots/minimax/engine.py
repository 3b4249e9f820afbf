"""The engine's interface for other code: ``search(board, limit)``."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import chess
from chess import Move

from .features import ALL, Features
from .generation import legal_moves
from .limits import Limit, OutOfTime, Watch
from .position import Position, decode, encode
from .scores import INFINITY, MATE_IN_SIGHT, mated, moves_to_mate, plies_to_mate
from .search import Line, Search
from .table import DEFAULT_MEBIBYTES, EXACT, TranspositionTable

__all__ = ["Limit", "Options", "Result", "search"]


@dataclass(frozen=True)
class Options:
    """The options of a search.

    :ivar seed: seeds the choice among moves of nearly the same score; None always chooses the best.
    :ivar margin: by how much a chosen move may be worse than the best, in hundredths of a pawn, where there is a seed.
    :ivar hash_mebibytes: the most mebibytes of the transposition table.
    """

    seed: int | None = None
    margin: int = 20
    hash_mebibytes: int = DEFAULT_MEBIBYTES
    features: Features = ALL


@dataclass(frozen=True)
class Result:
    """The result of a search, or of one of its iterations.

    :ivar score: the score for the side to move, in hundredths of a pawn; :mod:`scores` defines the scores of mates.
    :ivar move: None where there is no legal move.
    :ivar pv: the expected moves of both sides, ``move`` first; it may end before an announced mate, where the table
        has answered.
    :ivar depth: the depth of the last finished iteration, in half-moves.
    :ivar seldepth: the greatest distance from the root that was reached.
    """

    score: int
    move: Move | None
    pv: list[Move]
    nodes: int
    depth: int
    seldepth: int
    seconds: float

    @property
    def mate(self) -> int | None:
        """The moves until the side to move mates; negative if it is mated; None if no mate is seen."""
        return moves_to_mate(self.score)


def search(
    board: chess.Board,
    limit: Limit,
    options: Options | None = None,
    *,
    moves: Iterable[Move] | None = None,
    stopped: Callable[[], bool] = lambda: False,
    found: Callable[[Result], object] = lambda result: None,
) -> Result:
    """Search for the best move, one half-move deeper each time, until the limit is reached.

    Nothing is kept from one search to the next: for a depth or a number of nodes, the result depends on the arguments
    alone.

    :param board: the position with its moves, from which repetitions are counted. It is not changed.
    :param moves: the moves to choose from; None for all legal moves.
    :param stopped: called every few milliseconds; returns whether to end at once.
    :param found: called with the result of each iteration.
    :raises ValueError: :class:`Position` does not accept the board, or a move is not legal.
    """
    position = Position(board)
    return _Deepening(position, _root_moves(position, moves), limit, options or Options(), stopped).run(found)


def _root_moves(position: Position, moves: Iterable[Move] | None) -> list[int]:
    legal = legal_moves(position)
    if moves is None:
        return legal
    wanted = set(map(encode, moves))
    for move in wanted.difference(legal):
        raise ValueError(f"{decode(move)} is not legal here")
    return [move for move in legal if move in wanted]


@dataclass
class _Root:
    """The moves of the root, the best one first, with their scores where known."""

    moves: list[int]
    scores: dict[int, int] = field(default_factory=dict)

    def to_front(self, move: int) -> None:
        self.moves.remove(move)
        self.moves.insert(0, move)


class _Deepening:
    """Iterative deepening of one search."""

    def __init__(
        self, position: Position, moves: list[int], limit: Limit, options: Options, stopped: Callable[[], bool]
    ) -> None:
        self._position, self._limit, self._options = position, limit, options
        self._made_before = position.made
        self._watch = Watch(limit, stopped)
        self._table = TranspositionTable(options.hash_mebibytes)
        self._search = Search(position, options.features, self._table, self._watch)
        self._root = _Root(moves)
        # A move that only has to be shown no better than the best needs no true score; a move to choose from needs one.
        self._window = 0 if options.seed is None else max(0, options.margin) + 1
        self._best: tuple[int, Line] = (0, tuple(self._root.moves[:1]))

    def run(self, found: Callable[[Result], object]) -> Result:
        if not self._root.moves:
            return self._result(0, mated(0) if self._position.in_check() else 0)
        finished = 0
        for depth in range(1, self._limit.max_depth + 1):
            try:
                self._iterate(depth)
            except OutOfTime:
                self._take_back()
                break
            finished = depth
            found(self._result(depth))
            if self._is_settled(depth) or not self._watch.allows_another():
                break
        return self._varied(finished) if self._window else self._result(finished)

    def _iterate(self, depth: int) -> None:
        """Search all moves of the root. Results before a limit is reached count, since the best move came first."""
        search, position, root = self._search, self._position, self._root
        in_check = position.in_check()
        below = depth - 1 + (in_check and self._options.features.check_extension)
        best, scores = -INFINITY, dict[int, int]()
        for move in list(root.moves):
            alpha = max(best - self._window, -INFINITY) if self._options.features.alpha_beta else -INFINITY
            position.make(move)
            score = -search.negamax(below, -INFINITY, -alpha, 1)
            position.unmake()
            scores[move] = score
            if score > best:
                best = score
                root.to_front(move)
                self._best = (score, (move, *search.lines[1]))
        root.scores = scores

    def _take_back(self) -> None:
        """Take back all moves to the root, from wherever the search was cancelled."""
        while self._position.made > self._made_before:
            self._position.unmake()

    def _is_settled(self, depth: int) -> bool:
        """Return whether a deeper search can find nothing better: no shorter mate, for either side, can be hidden."""
        plies = plies_to_mate(self._best[0])
        return plies is not None and plies <= depth

    def _varied(self, depth: int) -> Result:
        """Return one of the moves nearly as good as the best, chosen by the seed. With a mate in sight it is the best.

        The last finished iteration counts; a better move that an unfinished one has found is taken as it is.
        """
        scores, best = self._root.scores, self._best[1][0]
        highest = max(scores.values(), default=0)
        if abs(self._best[0]) >= MATE_IN_SIGHT or scores.get(best) != highest:
            return self._result(depth)
        near = sorted(move for move, score in scores.items() if score > highest - self._window)
        move = random.Random(f"{self._options.seed} {self._position.key}").choice(near)
        return self._result(depth) if move == best else self._result(depth, scores[move], (move,))

    def _result(self, depth: int, score: int | None = None, line: Line | None = None) -> Result:
        best, best_line = self._best
        pv = [decode(move) for move in self._lengthened(best_line if line is None else line)]
        search = self._search
        return Result(
            best if score is None else score, pv[0] if pv else None, pv, search.nodes, depth, search.deepest,
            self._watch.seconds,
        )  # fmt: skip

    def _lengthened(self, line: Line) -> Line:
        """Return a line extended by the table's moves: where the table answered, the search has none."""
        position, seen = self._position, set[int]()
        for move in line:
            position.make(move)
        while position.key not in seen and (entry := self._table.get(position.key)) and entry[1] == EXACT:
            seen.add(position.key)
            if entry[3] not in legal_moves(position):
                break
            position.make(entry[3])
            line = (*line, entry[3])
        self._take_back()
        return line
