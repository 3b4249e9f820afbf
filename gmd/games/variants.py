"""Which rules a game is played by."""

from __future__ import annotations

from gm_protocol.endings import Cause, Victory

from .chess import ChessGame
from .events import Created
from .game import Game
from .rbc import RbcGame


def make_game(created: Created) -> Game:
    """A new game, at its start position, by the rules of its variant."""
    return RbcGame(created) if created.options.variant == "rbc" else ChessGame(created)


def victory_in(variant: str) -> Victory:
    """What a victory by the rules is in a variant."""
    return Cause.KING_CAPTURE if variant == "rbc" else Cause.CHECKMATE
