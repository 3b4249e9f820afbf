"""Policies in a loop that hands them observations."""

from __future__ import annotations

from typing import Any

import chess
import numpy as np
from numpy.typing import NDArray

from ..games import check
from ..kernels.layout import PASS
from ..kernels.observing import OBSERVATION
from ..opponents import OUT_OF_TIME, RESIGN, Decisions, Opponent
from ..turns import ACTIONS, FIRST_SENSE, usable

_TO_SENSE, _WHITE, _TURNS = 20, 22, 23


class Actor:
    """A policy that acts by observations: in PettingZoo's loop, or as the learner of Gymnasium's environments::

        actor = Actor(Greedy(), seed=1)
        action = actor.act(observation["observation"], observation["action_mask"])  # of one game
        actions = actor.act_all(observations, infos["action_mask"])                 # of many

    The observations are those of one turn (``uint8[24, 8, 8]``). A game begins with the first sense of a seat, which an
    observation shows. A policy that resigns takes an action that is not legal: PettingZoo ends the game by that.
    """

    def __init__(self, policy: Opponent, seed: int = 0, *, fen: str = chess.STARTING_FEN) -> None:
        """:param seed: decides what is random.
        :param fen: where all games begin.
        """
        self._policy, self._rng, self._fen = policy, np.random.default_rng(seed), fen

    def act(self, observation: NDArray[Any], mask: NDArray[Any]) -> int:
        """Return the action for one game, which must always be the same.

        :param observation: uint8[24, 8, 8].
        :param mask: int8[4738].
        """
        return int(self.act_all(np.asarray(observation)[None], np.asarray(mask)[None])[0])

    def act_all(self, observations: NDArray[Any], masks: NDArray[Any]) -> NDArray[np.int64]:
        """Return an action for each of n games, some of which may be to sense and others to move.

        :param observations: uint8[n, 24, 8, 8].
        :param masks: int8[n, 4738]; a game whose mask has the move's pass alone is over, or passes.
        :raises ValueError: the shapes are wrong.
        """
        n = len(observations)
        wanted = (n, len(OBSERVATION), 8, 8), (n, ACTIONS)
        check(observations.shape == wanted[0], f"observations: their shape is {observations.shape}, not {wanted[0]}")
        check(masks.shape == wanted[1], f"masks: their shape is {masks.shape}; it must be {wanted[1]}")
        actions, acts = np.full(n, PASS, np.int64), masks.sum(1) > masks[:, PASS]
        begun = np.flatnonzero(acts & masks[:, FIRST_SENSE].astype(np.bool_) & (observations[:, _TURNS, 0, 0] == 0))
        if begun.size and (begin := getattr(self._policy, "begin", None)) is not None:
            begin(begun, observations[begun, _WHITE, 0, 0].astype(np.int32))
        for senses in (True, False):
            games = np.flatnonzero(acts & (masks[:, FIRST_SENSE] == senses))
            if games.size:
                observed = Observed(games, observations[games], masks[games], self._rng, self._fen)
                chosen = usable(self._policy(observed), games.shape, "the policy's actions")
                gives_up = (chosen == RESIGN) | (chosen == OUT_OF_TIME)
                actions[games] = np.where(gives_up, PASS if senses else FIRST_SENSE, chosen)
        return actions

    def close(self) -> None:
        """Close the policy, if it can be closed."""
        if (close := getattr(self._policy, "close", None)) is not None:
            close()


class Observed(Decisions):
    """Decisions by observations and masks."""

    def __init__(
        self,
        games: NDArray[np.int64],
        observations: NDArray[np.uint8],
        masks: NDArray[np.int8],
        rng: np.random.Generator,
        fen: str,
    ) -> None:
        self.games, self.rng, self._fen = games, rng, fen
        self.colors = observations[:, _WHITE, 0, 0].astype(np.int32)
        self.is_sense = bool(observations[0, _TO_SENSE, 0, 0])
        self._observations, self._masks = observations, masks

    def observations(self) -> NDArray[np.uint8]:
        """Return what the player observed this turn: uint8[k, 24, 8, 8]."""
        return self._observations

    def information_states(self) -> NDArray[np.int16]:
        """Raise a TypeError: an observation has one turn."""
        raise TypeError("information_states: the loop gives observations of one turn; use such a policy in Gymnasium")

    def start_fens(self) -> list[str]:
        """Return the positions in which the games began."""
        return [self._fen] * len(self.games)

    def action_masks(self) -> NDArray[np.int8]:
        """Return the actions that the player may take: int8[k, 4738]."""
        return self._masks

    def draw(self) -> NDArray[np.int64]:
        """Return random actions, each of a move's legal ones and the pass alike, or each of the 64 squares."""
        masks = self._masks.copy()
        masks[:, ACTIONS - 1] = 0
        drawn: NDArray[np.int64] = (masks * self.rng.random(masks.shape)).argmax(1)
        return drawn
