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

from gm_bots.minimax.evaluation import KING_WORTH, MATERIAL, WORTH

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
        squares' worth to the engine ``minimax`` (for kings, that of the middle game). It is what comes of an opponent
        that prefers such moves each time. What a piece is worth on any square does not count: of which kind those are
        that the player has captured, no preference tells.
    """
    weights = np.ones(len(channels))
    if plausible != 1 and len(channels):
        placed = _PLACED[color][channels, np.arange(64)].sum(axis=1)
        weights *= plausible ** ((placed - placed.max()) / 100)
    weights[attacked] *= danger
    return weights


def _is_attacked(board: Board, color: Color) -> bool:
    king = board.king(color)
    return king is not None and board.is_attacked_by(not color, king)


def _placed(color: Color) -> NDArray[np.float64]:
    """How well each piece of a colour stands on each square, in hundredths of a pawn, shape (channels, 64)."""
    placed = np.zeros((CHANNELS, 64))
    sign = 1 if color else -1
    for piece_type in chess.PIECE_TYPES:
        is_king = piece_type == chess.KING
        worth = KING_WORTH[False][color] if is_king else WORTH[piece_type, color]
        placed[piece_type - 1] = sign * np.array(worth) - MATERIAL[piece_type]
    return placed


#: For a player of each colour, the opponent's pieces.
_PLACED = {color: _placed(not color) for color in chess.COLORS}
