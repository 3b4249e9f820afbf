"""The named strengths of the engine."""

from __future__ import annotations

from dataclasses import dataclass

from ..engine import Limit


@dataclass(frozen=True)
class Level:
    """A limit for each move, and by how much it may be worse than the best move, in hundredths of a pawn."""

    name: str
    limit: Limit
    margin: int

    def describe(self) -> str:
        """Return a description of the level, in words."""
        errs = f", and errs by up to {_counted(self.margin / 100, 'pawn', 'pawns')}" if self.margin else ""
        return f"{self.name}: {self._looks()}{errs}"

    def _looks(self) -> str:
        if self.limit.seconds:
            return f"thinks {self.limit.seconds:g} s a move"
        return f"looks {_counted(self.limit.depth or 0, 'ply', 'plies')} ahead"


def _counted(number: float, one: str, several: str) -> str:
    return f"{number:g} {one if number == 1 else several}"


LEVELS = {
    level.name: level
    for level in (
        Level("beginner", Limit(depth=1), 100),
        Level("novice", Limit(depth=2), 50),
        Level("casual", Limit(depth=3), 20),
        Level("club", Limit(seconds=1.0), 0),
        Level("expert", Limit(seconds=5.0), 0),
    )
}

DEFAULT_LEVEL = "casual"
