"""The weights of the possible positions, for senses and for drawing the positions to search.

All positions that agree with the player's observations are possible, but not equally likely
(:mod:`.lockstep.weighted`); and a position in which the own king is attacked costs the game if missed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from chess import Board, Color

from .positions import Attacked, Weights


def attacked_in(boards: Sequence[Board], color: Color) -> Attacked:
    """Return in which positions the opponent attacks the player's king."""
    return np.array([_is_attacked(board, color) for board in boards], bool)


def weights_of(likely: Weights, attacked: Attacked, danger: float) -> Weights:
    """Return the weight of each position to a player.

    :param likely: how likely each is.
    :param attacked: in which of them the player's king is attacked.
    :param danger: the factor where it is.
    """
    weights: Weights = likely * np.where(attacked, danger, 1.0)
    return weights


def _is_attacked(board: Board, color: Color) -> bool:
    king = board.king(color)
    return king is not None and board.is_attacked_by(not color, king)
