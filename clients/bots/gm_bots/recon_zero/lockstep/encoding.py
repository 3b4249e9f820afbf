"""The network's input for many positions at once: see :mod:`..encoder`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gm_env.kernels.jit import lowest
from gm_env.kernels.layout import FULLMOVES, OPPONENT
from gm_env.kernels.rules import ONE, Numbers, Words

from ..encoder import LATE, PLANES
from .compiled import kernel
from .trees import Indexes

Floats = NDArray[np.float32]


def encode_all(states: Words, numbers: Numbers) -> Floats:
    """Return the planes of positions in which nothing is hidden, (positions, 15, 8, 8)."""
    nodes = np.arange(len(states))
    planes = np.empty((len(states), 64, PLANES), np.float32)
    encode(states, numbers, nodes, planes)
    return np.ascontiguousarray(planes.transpose(0, 2, 1)).reshape(-1, PLANES, 8, 8)


@kernel
def encode(states: Words, numbers: Numbers, nodes: Indexes, planes: Floats) -> None:
    """Write the planes of some positions, (nodes, squares, planes)."""
    for index in range(nodes.size):
        node = nodes[index]
        number = min(2.0 * numbers[node, FULLMOVES], LATE) / LATE
        for square in range(64):
            for plane in range(PLANES):
                planes[index, square, plane] = 0
            planes[index, square, 12] = planes[index, square, 13] = 1
            planes[index, square, 14] = number
        for column in range(12):
            pieces = states[node, column]
            while pieces:
                square = int(lowest(pieces))
                planes[index, square, column] = 1
                if column >= OPPONENT:
                    planes[index, square, 12] = 0
                pieces &= pieces - ONE
