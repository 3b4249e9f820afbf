"""The weights of the possible positions, for senses and for drawing the positions to search.

All positions that agree with the player's observations are possible, but not equally likely. An opponent moves its
pieces to good squares, and attacks kings; and a position in which the own king is attacked costs the game if missed.
"""

from __future__ import annotations

from collections.abc import Sequence

import chess
import numpy as np
from chess import Board, Color
from numpy.typing import NDArray

from gm_bots.minimax.evaluation import KING_WORTH, MATERIAL, WORTH

from .belief import CHANNELS
from .positions import Attacked, Channels, Weights


def attacked_in(boards: Sequence[Board], color: Color) -> Attacked:
    """Return in which positions the opponent attacks the player's king."""
    return np.array([_is_attacked(board, color) for board in boards], bool)


def weights_of(channels: Channels, attacked: Attacked, color: Color, danger: float, plausible: float) -> Weights:
    """Return the weight of each position to a player.

    :param channels: the positions, shape (positions, 64).
    :param attacked: in which of them the player's king is attacked.
    :param danger: the factor if the opponent attacks the player's king there.
    :param plausible: the factor for each pawn's value by which the opponent's pieces stand better, by the engine
        ``minimax``'s values of squares (for kings, those of the middle game). It is the effect of an opponent that
        prefers such moves every time. The pieces' own values do not count: which kinds of pieces the player has
        captured does not depend on that preference.
    """
    weights = np.ones(len(channels))
    if plausible != 1 and len(channels):
        placed = PLACED[color][channels, np.arange(64)].sum(axis=1)
        weights *= plausible ** ((placed - placed.max()) / 100)
    weights[attacked] *= danger
    return weights


def _is_attacked(board: Board, color: Color) -> bool:
    king = board.king(color)
    return king is not None and board.is_attacked_by(not color, king)


def _placed(color: Color) -> NDArray[np.float64]:
    """Return the value of each square to each piece of a colour, in hundredths of a pawn, shape (channels, 64)."""
    placed = np.zeros((CHANNELS, 64))
    sign = 1 if color else -1
    for piece_type in chess.PIECE_TYPES:
        is_king = piece_type == chess.KING
        worth = KING_WORTH[False][color] if is_king else WORTH[piece_type, color]
        placed[piece_type - 1] = sign * np.array(worth) - MATERIAL[piece_type]
    return placed


#: By the player's colour, the values for the opponent's pieces.
PLACED = {color: _placed(not color) for color in chess.COLORS}
