"""An AEC environment for PettingZoo: both seats, one action at a time.

As in PettingZoo's ``classic.chess_v6`` the agents are ``player_0``, who has White, and ``player_1``, an observation has
``"observation"`` and ``"action_mask"``, and :func:`env` adds wrappers to :class:`raw_env`: an illegal action loses the
game there.
"""

from __future__ import annotations

from typing import Any, ClassVar

import chess
import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

from .batch import BatchedRbc
from .kernels.layout import NONE, OVER
from .legal_spaces import observed_space
from .observed import Shown, check_shown
from .rendering import RENDER_MODES, RenderView, check_rendering, draw
from .turns import ACTIONS, act, action_masks, usable

__all__ = ["env", "raw_env"]

WHITE, BLACK = "player_0", "player_1"
Observation = dict[str, NDArray[Any]]


def env(**options: Any) -> AECEnv[str, Observation, int | None]:
    """Return the environment with PettingZoo's usual wrappers; the options are those of :class:`raw_env`."""
    wrapped: Any = wrappers.TerminateIllegalWrapper(raw_env(**options), illegal_reward=-1)
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(wrapped))


class raw_env(AECEnv[str, Observation, int | None]):
    """A game of two agents. A turn is two actions of one agent in a row: a sense, then a move.

    **Actions**: ``Discrete(4738)``, numbered by :mod:`gm_env.turns`. ``observation["action_mask"]`` (int8[4738]) has
    those that are legal now, and ``infos[agent]["action_mask"]`` for the agent that is to act; zeros for an agent that
    waits, and the pass alone when the game is over. An illegal action raises :exc:`gm_env.IllegalAction` and changes
    nothing.

    **Observations**: ``observation["observation"]`` is what the agent observed: uint8[24, 8, 8], this turn
    (``BatchedRbc.observations``), or with ``observation="history"`` int16[8 + recall, 14], ever
    (``BatchedRbc.information_states``). :meth:`state` is the true position, for training critics.

    **Rewards**: 1 and -1 when a king was captured, and else 0. A game ends, ``terminated``, by the rules; also by the
    turn limit, which is one of them.

    **Rendering**: ``render_mode`` is ``"rgb_array"``, ``"ansi"`` or ``"svg"`` (a str). It shows what the agent that is
    to act observed; with ``render_view="truth"`` the true position.

    Nothing is random: seeds change nothing. Agents take turns, so there is no parallel environment; PettingZoo's
    ``turn_based_aec_to_parallel`` makes one of it, in which only the action of the agent to act counts.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "name": "rbc_v0",
        "render_modes": list(RENDER_MODES),
        "render_fps": 2,
        "is_parallelizable": False,  # agents take turns
    }

    def __init__(
        self,
        *,
        observation: Shown = "turn",
        max_turns: int | None = 80,
        render_mode: str | None = None,
        render_view: RenderView = "player",
        **options: Any,
    ) -> None:
        """:param max_turns: by default reconchess's 80.
        :param options: ``fens``, ``reversible_moves`` and ``recall`` as in :class:`gm_env.BatchedRbc`.
        :raises ValueError: an argument is wrong. The message names it.
        """
        super().__init__()
        check_rendering(render_mode, render_view)
        check_shown(observation)
        self._shown: Shown = observation
        self._batch = BatchedRbc(1, max_turns=max_turns, autoreset=False, **options)
        self.render_mode, self._render_view = render_mode, render_view
        self.possible_agents = [WHITE, BLACK]
        truth = self._batch.privileged_state()
        self.state_space = spaces.Box(0, 255, truth.shape[1:], np.uint8)
        self._action_spaces = {agent: spaces.Discrete(ACTIONS) for agent in self.possible_agents}
        self._observation_spaces = {agent: _observed(observation, self._batch.recall) for agent in self.possible_agents}

    def observation_space(self, agent: str) -> spaces.Dict:
        """Return the space of an agent's observations."""
        return self._observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
        """Return the space of an agent's actions."""
        return self._action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a game; there are no options."""
        self._batch.reset()
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self._select()

    def observe(self, agent: str) -> Observation:
        """Return what an agent observed, and its legal actions.

        :raises gymnasium.error.ResetNeeded: no game was begun.
        """
        self._check_begun()
        show = self._batch.observations if self._shown == "turn" else self._batch.information_states
        return {"observation": show(_color_of(agent))[0].copy(), "action_mask": self._mask(agent)}

    def state(self) -> NDArray[np.uint8]:
        """Return the true position, which no agent knows: uint8[19, 8, 8] (``gm_env.PRIVILEGED``), as White sees it."""
        truth: NDArray[np.uint8] = self._batch.privileged_state(chess.WHITE)[0].copy()
        return truth

    def step(self, action: int | None) -> None:
        """Take an action of the agent that is selected; None if its game is over.

        :raises gm_env.IllegalAction: the game does not allow it.
        :raises gymnasium.error.ResetNeeded: no game was begun.
        """
        self._check_begun()
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        act(self._batch, usable(np.asarray([action]), (1,)), np.array([True]))
        self._cumulative_rewards[agent] = 0
        if self._batch.phases[0] == OVER:
            self.rewards = {agent: self._reward(agent) for agent in self.agents}
            self.terminations = dict.fromkeys(self.agents, True)
        self._select()
        self._accumulate_rewards()

    def render(self) -> Any:
        """Return a picture, uint8[448, 448, 3], or text, as the render mode says; None without one.

        :raises gymnasium.error.ResetNeeded: no game was begun.
        """
        self._check_begun()
        return draw(self._batch, 0, _color_of(self.agent_selection), self.render_mode, self._render_view)

    def close(self) -> None:
        """Do nothing: there is nothing to close."""

    def last(self, observe: bool = True) -> Any:
        """Return what the agent that is selected observes, its rewards since it acted, its ends and its infos.

        :raises gymnasium.error.ResetNeeded: no game was begun.
        """
        self._check_begun()
        return super().last(observe)

    def _check_begun(self) -> None:
        if not hasattr(self, "agents"):
            raise ResetNeeded("no game was begun: call reset() first")

    def _select(self) -> None:
        self.agent_selection = WHITE if self._batch.colors[0] else BLACK
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self.infos[self.agent_selection]["action_mask"] = self._mask(self.agent_selection)

    def _mask(self, agent: str) -> NDArray[np.int8]:
        acts = self._batch.phases[0] == OVER or self._batch.colors[0] == _color_of(agent)
        return action_masks(self._batch)[0] if acts else np.zeros(ACTIONS, np.int8)

    def _reward(self, agent: str) -> float:
        winner = self._batch.winners[0]
        return 0.0 if winner == NONE else 1.0 if winner == _color_of(agent) else -1.0


def _color_of(agent: str) -> chess.Color:
    return agent == WHITE


def _observed(shown: Shown, recall: int) -> spaces.Dict:
    return spaces.Dict(
        {"observation": observed_space(shown, recall), "action_mask": spaces.Box(0, 1, (ACTIONS,), np.int8)}
    )
