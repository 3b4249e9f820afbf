"""Stockfish for tests of expectation, which are skipped where it is not installed."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager

from gm_bots.expectation.engine import Scores, Stockfish
from tests.tools import require_tool


@contextmanager
def stockfish() -> Iterator[Stockfish]:
    """Run Stockfish; without it the test is skipped."""
    engine = Stockfish(str(require_tool("stockfish")))
    try:
        yield engine
    finally:
        engine.close()


class Counted:
    """Asks another engine, and remembers the positions whose moves it has scored."""

    def __init__(self, engine: Stockfish) -> None:
        self._engine, self.asked = engine, set[str]()

    def scores(self, fen: str, depth: int, moves: Collection[str] = ()) -> Scores:
        self.asked.add(fen)
        return self._engine.scores(fen, depth, moves)

    def score(self, fen: str, depth: int) -> int:
        return self._engine.score(fen, depth)


class Unasked:
    """Fails where an engine is asked, so that a test shows that it is not."""

    def scores(self, fen: str, depth: int, moves: Collection[str] = ()) -> Scores:
        raise AssertionError(f"Stockfish was asked about {fen}")

    def score(self, fen: str, depth: int) -> int:
        raise AssertionError(f"Stockfish was asked about {fen}")
