"""Stockfish for tests of expectation, which are skipped where it is not installed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager

import chess

from gm_bots.expectation.engine import Item, Scores, Stockfishes, T
from tests.tools import require_tool


@contextmanager
def stockfish() -> Iterator[Stockfishes]:
    """Run Stockfish; without it the test is skipped."""
    engine = Stockfishes(str(require_tool("stockfish")), 1)
    try:
        yield engine
    finally:
        engine.close()


class _One:
    size = 1

    def map(self, function: Callable[[Item], T], items: Sequence[Item]) -> list[T]:
        return list(map(function, items))


class Counted(_One):
    """Asks another engine, and remembers the positions whose moves it has scored."""

    def __init__(self, engine: Stockfishes) -> None:
        self._engine, self.asked = engine, set[str]()

    def scores(self, fen: str, depth: int, moves: Collection[str] = (), seconds: float | None = None) -> Scores:
        self.asked.add(fen)
        return self._engine.scores(fen, depth, moves, seconds)

    def score(self, fen: str, depth: int) -> int:
        return self._engine.score(fen, depth)


class Unasked(_One):
    """Fails where an engine is asked, so that a test shows that it is not."""

    def scores(self, fen: str, depth: int, moves: Collection[str] = (), seconds: float | None = None) -> Scores:
        raise AssertionError(f"Stockfish was asked about {fen}")

    def score(self, fen: str, depth: int) -> int:
        raise AssertionError(f"Stockfish was asked about {fen}")


class Even(_One):
    """Says that no move has a score, so that all are equally likely."""

    def scores(self, fen: str, depth: int, moves: Collection[str] = (), seconds: float | None = None) -> Scores:
        return {}

    def score(self, fen: str, depth: int) -> int:
        return 0


class Scored(_One):
    """Gives each legal move a score, by its depth and its name in UCI, and remembers the depths.

    :ivar depths: those of the searches of some moves only, in their order.
    :ivar limits: the seconds that the other searches may take; None for no limit.
    """

    def __init__(self, score_of: Callable[[int, str], int]) -> None:
        self._score_of, self.depths, self.limits = score_of, list[int](), list[float | None]()

    def scores(self, fen: str, depth: int, moves: Collection[str] = (), seconds: float | None = None) -> Scores:
        if moves:
            self.depths.append(depth)
        else:
            self.limits.append(seconds)
        return {uci: self._score_of(depth, uci) for uci in moves or map(chess.Move.uci, chess.Board(fen).legal_moves)}

    def score(self, fen: str, depth: int) -> int:
        return 0
