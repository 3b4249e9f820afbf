"""How strong the engine plays, by name."""

from __future__ import annotations

from dataclasses import dataclass

from ..engine import Limit


@dataclass(frozen=True)
class Level:
    """A limit for each move, and how much worse than the best a move may be, in hundredths of a pawn."""

    name: str
    limit: Limit
    margin: int

    def describe(self) -> str:
        """What it does, in words."""
        looks = (
            f"thinks {self.limit.seconds:g} s a move" if self.limit.seconds else f"looks {self.limit.depth} plies ahead"
        )
        return f"{self.name}: {looks}" + (f", and errs by up to {self.margin / 100:g} pawns" if self.margin else "")


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
