"""The network's input: 15 planes of 8 x 8, as the player sees the board, its own first rank first.

| planes | what |
|---|---|
| 0 to 5 | the player's own pawns, knights, bishops, rooks, queens and king: 1 where one stands |
| 6 to 12 | the belief: the same for the opponent, and squares without its pieces |
| 13 | 1 if the player is to move |
| 14 | twice the number of the move, divided by 200; at most 1 |

For Black the board is mirrored, as the moves are in :mod:`.actions`.

A network of form 2 is also shown what these planes say about attacks, for the kinds of pieces in the same order: in
planes 15 to 20 half the number of the player's own of each kind that attack a square, in 21 to 26 of the opponent's
(:mod:`.lockstep.encoding`).
"""

from __future__ import annotations

import chess
import numpy as np
from chess import Board, Color
from numpy.typing import NDArray

from .belief import CHANNELS, Belief

PLANES = 6 + CHANNELS + 2
SHAPE = (PLANES, 8, 8)
#: The planes of attacks, and what a plane has for each piece that attacks a square.
ATTACKS, AN_ATTACK = 12, 0.5
#: The half-moves at which the plane of the move number is 1. Most games of blind chess end sooner.
LATE = 200

Planes = NDArray[np.float32]


def encode(own: Board, color: Color, belief: Belief) -> Planes:
    """Return the planes of a player's knowledge.

    :param own: a board with the player's pieces, the turn and the number of the move; other pieces are ignored.
    """
    planes = np.zeros(SHAPE, np.float32)
    _own_planes(own, color, planes[:6])
    planes[6 : 6 + CHANNELS] = belief
    planes[-2] = own.turn == color
    planes[-1] = min(2 * own.fullmove_number, LATE) / LATE
    return planes if color else np.ascontiguousarray(planes[:, ::-1])


def _own_planes(own: Board, color: Color, planes: Planes) -> None:
    masks = [own.pieces_mask(piece_type, color) for piece_type in chess.PIECE_TYPES]
    octets = np.array(masks, "<u8").view(np.uint8).reshape(6, 8)
    planes[:] = np.unpackbits(octets, axis=1, bitorder="little").reshape(6, 8, 8)
