"""Opponents: policies that play the other seat of the games of :mod:`gm_env.gymnasium`."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .batch import BatchedRbc
from .kernels.layout import TO_SENSE
from .turns import FIRST_SENSE, act, action_masks, usable


class Decisions:
    """The decisions that wait for an opponent: all of them senses, or all of them moves.

    Everything here is what the opponent was told; row ``i`` of each array is the game ``games[i]``.

    :ivar games: int64[k], the games' places in the environment; always 0 in a single one.
    :ivar colors: int32[k], the opponent's colour: 1 is White, 0 is Black.
    :ivar is_sense: whether senses are due, and not moves.
    :ivar rng: the environment's generator of random numbers; draw from it, and its seed decides the games.
    """

    def __init__(self, batch: BatchedRbc, games: NDArray[np.int64], rng: np.random.Generator) -> None:
        """Show the sides to move of these games, which are in one phase."""
        self._batch, self.games, self.rng = batch, games, rng
        self.colors = batch.colors[games]
        self.is_sense = bool(batch.phases[games[0]] == TO_SENSE)

    def observations(self) -> NDArray[np.uint8]:
        """Return what the opponent was told this turn: uint8[k, 24, 8, 8] (``gm_env.OBSERVATION``)."""
        return self._batch.observations()[self.games]

    def information_states(self) -> NDArray[np.int16]:
        """Return all that the opponent was ever told: int16[k, recall, 14] (``gm_env.INFORMATION``)."""
        return self._batch.information_states()[self.games]

    def action_masks(self) -> NDArray[np.int8]:
        """Return the actions that it may take: int8[k, 4738] of 0 and 1 (:mod:`gm_env.turns`)."""
        return action_masks(self._batch)[self.games]

    def draw(self) -> NDArray[np.int64]:
        """Return random actions, each of a move's legal ones and the pass alike, or each of the 64 squares."""
        if self.is_sense:
            return self._batch.sample_senses()[self.games] + FIRST_SENSE
        return self._batch.sample_moves()[self.games]


class Opponent(Protocol):
    """A callable that decides for the other seat.

    It may have two methods more: ``begin(games, colors)`` is called when games begin in these places (int64[k]), in
    which the opponent has these colours (int32[k]), and ``close()`` with the environment's.
    """

    def __call__(self, decisions: Decisions) -> NDArray[Any]:
        """Return an action for each decision: integers, (k,), numbered as :mod:`gm_env.turns` says."""


def play_randomly(decisions: Decisions) -> NDArray[np.int64]:
    """Decide at random: an :class:`Opponent`."""
    return decisions.draw()


def answer(batch: BatchedRbc, waiting: NDArray[np.bool_], opponent: Opponent, rng: np.random.Generator) -> None:
    """Let the opponent act once in the games that wait for it, all of which are in one phase.

    :raises gm_env.IllegalAction: a game does not allow the opponent's action.
    :raises TypeError: the opponent's actions are not integers.
    :raises ValueError: their shape is wrong.
    """
    games = np.flatnonzero(waiting)
    if not games.size:
        return
    chosen = usable(opponent(Decisions(batch, games, rng)), games.shape, "the opponent's actions")
    actions = np.zeros(batch.n, np.int64)
    actions[games] = chosen
    try:
        act(batch, actions, waiting)
    except ValueError as error:
        error.add_note("The action is the opponent's.")
        raise
