"""The environments for PettingZoo: both seats, one action at a time, by PettingZoo's two interfaces.

As in PettingZoo's ``classic.chess_v6`` the agents are ``player_0``, who has White, and ``player_1``, an observation has
``"observation"`` and ``"action_mask"``, and an illegal action loses the game in :func:`env`. In :func:`parallel_env`
only the action of the agent to act counts.
"""

from __future__ import annotations

from typing import Any, ClassVar

import chess
import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray
from pettingzoo import AECEnv
from pettingzoo.utils.conversions import turn_based_aec_to_parallel

from .batch import BatchedRbc
from .kernels.layout import NONE, OVER
from .legal_spaces import LegalActions, observed_space
from .observed import Illegal, Shown, check_illegal, check_shown
from .rendering import RENDER_MODES, RenderView, check_rendering, draw
from .turns import ACTIONS, act, draw_legal, find_illegal, usable, write_masks

__all__ = ["env", "parallel_env", "raw_env"]

WHITE, BLACK = "player_0", "player_1"
Observation = dict[str, NDArray[Any]]
_ALL = np.array([True])


def env(**options: Any) -> raw_env:
    """Return a :class:`raw_env` with ``illegal="lose"``; the options are its others.

    It does what PettingZoo's usual wrappers do, which would take most of the time.
    """
    return raw_env(illegal="lose", **options)


def parallel_env(**options: Any) -> Any:
    """Return :func:`env` as a ``ParallelEnv``: ``infos[agent]["active_agent"]`` is the agent to act."""
    return turn_based_aec_to_parallel(env(**options))


class raw_env(AECEnv[str, Observation, int | None]):
    """A game of two agents. A turn is two actions of one agent in a row: a sense, then a move.

    **Actions**: ``Discrete(4738)``, numbered by :mod:`gm_env.turns`. ``observation["action_mask"]`` (int8[4738]) has
    those that are legal now, and ``infos[agent]["action_mask"]`` for the agent that is to act; zeros for an agent that
    waits, and the pass alone when the game is over. An illegal action raises :exc:`gm_env.IllegalAction` and changes
    nothing; with ``illegal="lose"`` it ends the game, with a reward of -1 for the agent.

    **Observations**: ``observation["observation"]`` is what the agent observed: uint8[24, 8, 8], this turn
    (``BatchedRbc.observations``), or with ``observation="history"`` int16[8 + recall, 14], ever
    (``BatchedRbc.information_states``). :meth:`state` is the true position, for training critics.

    **Rewards**: 1 and -1 when a king was captured, and else 0. A game ends, ``terminated``, by the rules; also by the
    turn limit, which is one of them.

    **Rendering**: ``render_mode`` is ``"rgb_array"``, ``"ansi"`` or ``"svg"`` (a str), or ``"human"``, which prints the
    game at each reset and step. It shows what the agent that is to act observed; with ``render_view="truth"`` the true
    position.

    Nothing is random: seeds change nothing.
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
        illegal: Illegal = "raise",
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
        check_illegal(illegal)
        self._shown: Shown = observation
        self._may_forfeit, self._closed = illegal == "lose", np.array([False])
        self._batch = BatchedRbc(1, max_turns=max_turns, autoreset=False, **options)
        self.render_mode, self._render_view = render_mode, render_view
        self.possible_agents = [WHITE, BLACK]
        truth = self._batch.privileged_state()
        self.state_space = spaces.Box(0, 255, truth.shape[1:], np.uint8)
        self._action_spaces = {agent: LegalActions(self._draw) for agent in self.possible_agents}
        self._observation_spaces = {agent: _observed(observation, self._batch.recall) for agent in self.possible_agents}

    def observation_space(self, agent: str) -> spaces.Dict:
        """Return the space of an agent's observations."""
        return self._observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
        """Return the space of an agent's actions; without a mask it draws from those of the agent that is selected."""
        return self._action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a game; there are no options."""
        self._batch.reset()
        self._closed[0] = False
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
        return {"observation": show(_color_of(agent))[0], "action_mask": self._mask(agent)}

    def state(self) -> NDArray[np.uint8]:
        """Return the true position, which no agent knows: uint8[19, 8, 8] (``gm_env.PRIVILEGED``), as White sees it."""
        truth: NDArray[np.uint8] = self._batch.privileged_state(chess.WHITE)[0]
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
        actions = usable(np.asarray([action]), (1,))
        if self._may_forfeit and find_illegal(self._batch, actions, _ALL) is not None:
            self._closed[0] = True
        else:
            act(self._batch, actions, _ALL)
        self._cumulative_rewards[agent] = 0
        if self._closed[0] or self._batch.phases[0] == OVER:
            self.rewards = {each: self._reward(each) for each in self.agents}
            self.terminations = dict.fromkeys(self.agents, True)
        self._select()
        self._accumulate_rewards()

    def render(self) -> Any:
        """Return a picture, uint8[468, 468, 3], or text, as the render mode says; None without one.

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
        if not getattr(self, "agents", None):
            raise ResetNeeded("no game was begun, or both agents have taken note of its end: call reset() first")

    def _select(self) -> None:
        self.agent_selection = WHITE if self._batch.colors[0] else BLACK
        self._legal = write_masks(self._batch, self._closed, np.empty((1, ACTIONS), np.uint8))[0]
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self.infos[self.agent_selection]["action_mask"] = self._legal.copy()
        if self.render_mode == "human":
            self.render()

    def _mask(self, agent: str) -> NDArray[np.int8]:
        acts = agent == self.agent_selection or self.terminations[agent]
        return self._legal.copy() if acts else np.zeros(ACTIONS, np.int8)

    def _draw(self, rng: np.random.Generator) -> NDArray[np.int64]:
        return draw_legal(self._batch, self._closed, rng)

    def _reward(self, agent: str) -> float:
        if self._closed[0]:
            return -1.0 if agent == self.agent_selection else 0.0
        winner = self._batch.winners[0]
        return 0.0 if winner == NONE else 1.0 if winner == _color_of(agent) else -1.0


def _color_of(agent: str) -> chess.Color:
    return agent == WHITE


def _observed(shown: Shown, recall: int) -> spaces.Dict:
    return spaces.Dict(
        {"observation": observed_space(shown, recall), "action_mask": spaces.Box(0, 1, (ACTIONS,), np.int8)}
    )
