"""Possible positions as arrays: the contents of each square."""

from __future__ import annotations

from collections.abc import Sequence

import chess
import numpy as np
from chess import Board, Color
from numpy.typing import NDArray

from .belief import CHANNELS, EMPTY, Belief

#: For each position and square, a channel of the belief.
Channels = NDArray[np.uint8]
#: For each position, whether the player's king is attacked.
Attacked = NDArray[np.bool_]
#: One number for each position. They need not sum to 1.
Weights = NDArray[np.float64]


def channels_of(boards: Sequence[Board], color: Color) -> Channels:
    """Return the opponent's piece on each square, in each of the positions: shape (positions, 64)."""
    channels = np.full((len(boards), 64), EMPTY, np.uint8)
    for channel, pieces in enumerate(("pawns", "knights", "bishops", "rooks", "queens", "kings")):
        held = [getattr(board, pieces) & board.occupied_co[not color] for board in boards]
        octets = np.array(held, "<u8").view(np.uint8).reshape(-1, 8)
        channels[np.unpackbits(octets, axis=1, bitorder="little").astype(bool)] = channel
    return channels


def belief_of(channels: Channels, weights: Weights | None = None) -> Belief:
    """Return how often each square holds which piece, over at least one position.

    :param weights: the weight of each position; None if all are equal.
    """
    shares = np.full(len(channels), 1 / len(channels)) if weights is None else weights / weights.sum()
    belief = np.stack([shares @ (channels == channel) for channel in range(CHANNELS)])
    belief /= belief.sum(axis=0)
    return belief.reshape(CHANNELS, 8, 8)


def windows(channels: Channels) -> dict[chess.Square, NDArray[np.int64]]:
    """Return the result of a sense of each square with a whole window, as a number for each position."""
    grid = channels.reshape(-1, 8, 8).astype(np.int64)
    rows = (grid[:, :, :-2] * CHANNELS + grid[:, :, 1:-1]) * CHANNELS + grid[:, :, 2:]
    shown = (rows[:, :-2] * CHANNELS**3 + rows[:, 1:-1]) * CHANNELS**3 + rows[:, 2:]
    return {chess.square(file + 1, rank + 1): shown[:, rank, file] for rank in range(6) for file in range(6)}
