"""What happens to a game when its deadline comes."""

from __future__ import annotations

from .commands import Absent, CallOff, Command, Flag
from .game import Game


def when_due(game: Game) -> Command:
    """Return the command for a game whose deadline has come."""
    if game.lapsing:
        return CallOff(None)
    return Absent() if game.awaited else Flag()
