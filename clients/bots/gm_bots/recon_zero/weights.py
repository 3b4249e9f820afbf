"""How much each possible position counts, for the sense and in drawing those that are searched.

All that fit what the player was told are possible, but not alike. An opponent brings its pieces to where they stand
well, and attacks kings; and a position in which the own king is attacked costs the game if it is overlooked.
"""

from __future__ import annotations

from collections.abc import Sequence

import chess
import numpy as np
from chess import Board, Color
from numpy.typing import NDArray

from gm_bots.minimax.evaluation import KING_WORTH, WORTH

from .belief import CHANNELS
from .positions import Attacked, Channels, Weights


def attacked_in(boards: Sequence[Board], color: Color) -> Attacked:
    """In which positions the opponent attacks the player's king."""
    return np.array([_is_attacked(board, color) for board in boards], bool)


def weights_of(channels: Channels, attacked: Attacked, color: Color, danger: float, plausible: float) -> Weights:
    """How much each position counts to a player.

    :param channels: the positions, shape (positions, 64).
    :param attacked: in which of them the player's king is.
    :param danger: how many times as much if the opponent attacks the player's king there.
    :param plausible: how many times as much for each pawn's worth by which the opponent's pieces stand better, by the
        squares' worth to the engine ``minimax``. It is what comes of an opponent that prefers such moves each time.
    """
    weights = np.ones(len(channels))
    if plausible != 1 and len(channels):
        placed = _WORTH[color][channels, np.arange(64)].sum(axis=1)
        weights *= plausible ** ((placed - placed.max()) / 100)
    weights[attacked] *= danger
    return weights


def _is_attacked(board: Board, color: Color) -> bool:
    king = board.king(color)
    return king is not None and board.is_attacked_by(not color, king)


def _worth_to(color: Color) -> NDArray[np.float64]:
    """What each piece of a colour is worth to it on each square, in hundredths of a pawn, shape (channels, 64)."""
    worth = np.zeros((CHANNELS, 64))
    for piece_type in chess.PIECE_TYPES:
        is_king = piece_type == chess.KING
        worth[piece_type - 1] = KING_WORTH[False][color] if is_king else WORTH[piece_type, color]
    return worth if color else -worth


#: To a player of each colour, of the opponent's pieces.
_WORTH = {color: _worth_to(not color) for color in chess.COLORS}
