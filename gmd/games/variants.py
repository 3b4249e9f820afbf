"""Which rules a game is played by."""

from __future__ import annotations

from .chess import ChessGame
from .events import Created
from .game import Game
from .rbc import RbcGame


def make_game(created: Created) -> Game:
    """A new game, at its start position, by the rules of its variant."""
    return RbcGame(created) if created.options.variant == "rbc" else ChessGame(created)
