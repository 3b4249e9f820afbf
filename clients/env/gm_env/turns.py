"""One number for every action of a turn, the sense and the move, as learners with one set of actions need it.

An action is a move by planes (0 to 4671), a move's pass (4672), or :data:`FIRST_SENSE` plus a sense: 4673 to 4736 for
the squares, 4737 for a sense's pass. Like all numbers here they mean the board as the player sees it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .arguments import integers
from .batch import BatchedRbc
from .kernels import stepping
from .kernels.layout import MOVES, OVER, PASS, SENSES, SKIP, TO_MOVE, TO_SENSE

__all__ = ["FIRST_SENSE", "ACTIONS", "action_masks"]

#: The number of the sense of square 0.
FIRST_SENSE = MOVES
#: How many actions there are: 4738.
ACTIONS = MOVES + SENSES


def action_masks(batch: BatchedRbc) -> NDArray[np.int8]:
    """Return the actions that the side to move of each game may take: a new int8[n, ACTIONS] of 0 and 1.

    A finished game ignores its actions; its mask has the move's pass alone, so that no mask is empty.
    """
    masks = np.empty((batch.n, ACTIONS), np.uint8)
    moves, to_move = batch.masks(), batch.phases == TO_MOVE
    np.multiply(moves, to_move.astype(np.uint8)[:, None], out=masks[:, :MOVES])
    masks[:, MOVES:] = (batch.phases == TO_SENSE)[:, None]
    masks[batch.phases == OVER, PASS] = 1
    return masks.view(np.int8)


def usable(actions: NDArray[Any], shape: tuple[int, ...], name: str = "actions") -> NDArray[np.int64]:
    """Return actions as int64.

    :param shape: what their shape must be.
    :param name: what an error calls them.
    :raises TypeError: they are not integers.
    :raises ValueError: their shape is wrong.
    """
    return integers(name, actions, shape).astype(np.int64)


def find_illegal(batch: BatchedRbc, actions: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which games are in progress and do not allow their action: bool[n]."""
    illegal = np.empty(batch.n, np.bool_)
    stepping.mark_illegal(np.ascontiguousarray(actions, np.int64), batch._numbers, batch._planes, illegal)
    return illegal


def act(batch: BatchedRbc, actions: NDArray[np.int64], games: NDArray[np.bool_], **wording: str) -> None:
    """Take an action in each of these games: a sense or a move, as its phase is; none where it is over.

    :param actions: one for every game of the batch.
    :param games: bool[n].
    :param wording: of the error, ``name`` and ``then``: see ``BatchedRbc._illegal``.
    :raises IllegalAction: a game does not allow its action; the batch has not changed.
    """
    illegal = np.flatnonzero(games & find_illegal(batch, actions))
    if illegal.size:
        game = int(illegal[0])
        allowed = f"a sense is a number from {FIRST_SENSE} to {ACTIONS - 1}"
        if batch.phases[game] == TO_MOVE:
            allowed = f"the action mask has the legal moves, and {PASS} passes"
        raise batch._illegal(game, int(actions[game]), allowed, **wording)
    to_sense, to_move = games & (batch.phases == TO_SENSE), games & (batch.phases == TO_MOVE)
    if to_sense.any():
        batch.sense(np.where(to_sense, actions - FIRST_SENSE, SKIP))
    if to_move.any():
        batch.move(np.where(to_move, actions, SKIP))
