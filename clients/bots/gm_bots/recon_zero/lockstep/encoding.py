"""The network's input: planes of 8 x 8 squares, as the player sees the board, its own first rank first.

| planes | what |
|---|---|
| 0 to 5 | the player's own pawns, knights, bishops, rooks, queens and king: 1 where one stands |
| 6 to 12 | the same for the opponent, and squares without its pieces |
| 13 | 1, as the player is to move |
| 14 | twice the number of the move, divided by 200; at most 1 |
| 15 to 20 | for each kind of the player's pieces, half the number of those that attack a square |
| 21 to 26 | the same for the opponent's |

For Black the board is mirrored, a1 to a8, so that what a network learns as White holds for Black, too. The last twelve
follow from the others, and samples are kept without them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gm_env.kernels.jit import lowest
from gm_env.kernels.layout import FULLMOVES, OPPONENT
from gm_env.kernels.rules import ONE, Numbers, Words, pieces_of

from .attacks import attacked_by
from .compiled import kernel
from .trees import Indexes

Floats = NDArray[np.float32]

#: The planes of a sample, and those of the attacks.
PLANES, ATTACKS = 15, 12
#: What a plane of attacks has for each piece that attacks a square.
AN_ATTACK = 0.5
#: The half-moves at which the plane of the move number is 1. Most games of blind chess end sooner.
LATE = 200


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


def with_attacks(planes: Floats) -> Floats:
    """Return planes with those of the attacks, (positions, 27, 8, 8).

    :param planes: (positions, 15, 8, 8); a square has a piece if its plane has at least a half.
    """
    count = len(planes)
    squares = np.ascontiguousarray(planes[:, :ATTACKS].reshape(count, ATTACKS, 64) >= 0.5)
    states = np.packbits(squares, axis=2, bitorder="little").view("<u8").reshape(count, ATTACKS)
    shown = np.empty((count, 64, PLANES + ATTACKS), np.float32)
    shown[:, :, :PLANES] = planes.reshape(count, PLANES, 64).transpose(0, 2, 1)
    encode_attacks(states.astype(np.uint64), np.arange(count), shown)
    return np.ascontiguousarray(shown.transpose(0, 2, 1)).reshape(count, PLANES + ATTACKS, 8, 8)


@kernel
def encode_attacks(states: Words, nodes: Indexes, planes: Floats) -> None:
    """Write the planes of the attacks in some positions, (nodes, squares, planes), after the others."""
    for index in range(nodes.size):
        node = nodes[index]
        occupied = pieces_of(states, node, 0) | pieces_of(states, node, OPPONENT)
        for square in range(64):
            for plane in range(PLANES, PLANES + ATTACKS):
                planes[index, square, plane] = 0
        for column in range(ATTACKS):
            pieces = states[node, column]
            while pieces:
                square = int(lowest(pieces))
                targets = attacked_by(column % OPPONENT, column - column % OPPONENT, square, occupied)
                while targets:
                    planes[index, int(lowest(targets)), PLANES + column] += AN_ATTACK
                    targets &= targets - ONE
                pieces &= pieces - ONE
