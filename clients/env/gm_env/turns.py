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
from .kernels import observing, sampling, stepping
from .kernels.layout import MOVES, PASS, SENSES, TO_MOVE

__all__ = ["FIRST_SENSE", "ACTIONS", "action_masks"]

#: The number of the sense of square 0.
FIRST_SENSE = MOVES
#: How many actions there are: 4738.
ACTIONS = MOVES + SENSES


def action_masks(batch: BatchedRbc) -> NDArray[np.int8]:
    """Return the actions that the side to move of each game may take: a new int8[n, ACTIONS] of 0 and 1.

    A finished game ignores its actions; its mask has the move's pass alone, so that no mask is empty.
    """
    return write_masks(batch, np.zeros(batch.n, np.bool_), np.empty((batch.n, ACTIONS), np.uint8))


def write_masks(batch: BatchedRbc, closed: NDArray[np.bool_], masks: NDArray[np.uint8]) -> NDArray[np.int8]:
    """Write :func:`action_masks`.

    :param closed: bool[n], games that are over, whatever the batch says.
    :param masks: uint8[n, ACTIONS].
    """
    observing.draw_action_masks(batch._numbers, batch._planes, closed, masks)
    return masks.view(np.int8)


def draw_legal(batch: BatchedRbc, closed: NDArray[np.bool_], rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw from the actions that :func:`write_masks` writes, all alike: int64[n].

    The same generator draws the same ones on every platform.
    """
    drawn = np.empty(batch.n, np.int64)
    words = rng.integers(2**64, size=batch.n, dtype=np.uint64)
    sampling.draw_legal(words, batch._numbers, batch._planes, closed, batch._totals, drawn)
    return drawn


def usable(actions: NDArray[Any], shape: tuple[int, ...], name: str = "actions") -> NDArray[np.int64]:
    """Return actions as int64.

    :param shape: what their shape must be.
    :param name: what an error calls them.
    :raises TypeError: they are not integers.
    :raises ValueError: their shape is wrong.
    """
    return np.array(integers(name, actions, shape), np.int64, order="C")


def find_illegal(batch: BatchedRbc, actions: NDArray[np.int64], games: NDArray[np.bool_]) -> NDArray[np.bool_] | None:
    """Return which of these games are in progress and do not allow their action: bool[n]; None if all do."""
    illegal = np.empty(batch.n, np.bool_)
    found = stepping.mark_illegal(actions, games, batch._numbers, batch._planes, illegal)
    return illegal if found else None


def act(batch: BatchedRbc, actions: NDArray[np.int64], games: NDArray[np.bool_], **wording: str) -> None:
    """Take an action in each of these games: a sense or a move, as its phase is; none where it is over.

    :param actions: one for every game of the batch.
    :param games: bool[n].
    :param wording: of the error, ``name`` and ``then``: see ``BatchedRbc._illegal``.
    :raises IllegalAction: a game does not allow its action; the batch has not changed.
    """
    if (illegal := find_illegal(batch, actions, games)) is not None:
        game = int(np.flatnonzero(illegal)[0])
        allowed = f"a sense is a number from {FIRST_SENSE} to {ACTIONS - 1}"
        if batch.phases[game] == TO_MOVE:
            allowed = f"the action mask has the legal moves, and {PASS} passes"
        raise batch._illegal(game, int(actions[game]), allowed, **wording)
    act_legally(batch, actions, games)


def act_legally(batch: BatchedRbc, actions: NDArray[np.int64], games: NDArray[np.bool_]) -> None:
    """Do the same with actions that are known to be legal."""
    longest = stepping.act_all(
        actions,
        games,
        batch._state,
        batch._numbers,
        batch._records,
        batch._planes,
        batch._windows,
        batch._results,
        batch._rewards,
        batch._ended,
        *batch._limits,
    )
    batch._make_room(longest)
