"""Environments for Gymnasium: a learner has one seat, and an opponent the other.

Importing this module registers ``gmd/RBC-v0``. ``gymnasium.make("gm_env.gymnasium:gmd/RBC-v0")`` imports it, too.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.envs.registration import EnvSpec
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from numpy.typing import NDArray

from .games import check
from .legal_spaces import LegalActions, LegalActionsOfAll, observed_space
from .observed import Illegal, Shown
from .one_seat import OneSeat, Seat, SeatRules
from .opponents import Decisions, Opponent, play_randomly
from .rendering import RENDER_MODES, RenderView, check_rendering, draw
from .turns import ACTIONS

__all__ = ["RbcEnv", "RbcVectorEnv", "Opponent", "Decisions", "play_randomly"]

Info = dict[str, Any]


class RbcEnv(gymnasium.Env[NDArray[Any], np.int64]):
    """A game as a Gymnasium environment. A turn is two steps: a sense, then a move, which the opponent answers.

    **Actions**: ``Discrete(4738)``, numbered by :mod:`gm_env.turns`. ``info["action_mask"]`` (int8[4738]) has those
    that are legal now, as has :meth:`action_masks`; ``action_space.sample()`` draws from them alone. An illegal action
    loses the game, and ``info["illegal_action"]`` is true then; with ``illegal="raise"`` it raises
    :exc:`gm_env.IllegalAction` and changes nothing.

    **Observations**: what the learner observed. With ``observation="turn"`` uint8[24, 8, 8]
    (``BatchedRbc.observations``), with ``"history"`` int16[8 + recall, 14], all that it has observed
    (``BatchedRbc.information_states``).

    **Rewards**: 1 for a win, -1 for a loss, and else 0. A game ends, ``terminated``, by the rules; also by the turn
    limit, which is one of them. ``info["win_reason"]`` is a value of ``gm_recon.WinReason`` then, and else 0.
    ``spec.max_episode_steps`` is two for each turn up to that limit; no game is truncated.

    **Rendering**: ``render_mode`` is ``"rgb_array"``, ``"ansi"`` or ``"svg"`` (a str), or ``"human"``, which prints the
    game at each reset and step. It shows what the learner observed; with ``render_view="truth"`` the true position.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 2}  # noqa: RUF012 - as its base
    _spec: EnvSpec | None = None

    def __init__(
        self,
        *,
        opponent: Opponent | None = None,
        seat: Seat = "random",
        observation: Shown = "turn",
        illegal: Illegal = "lose",
        copy: bool = True,
        max_turns: int | None = 80,
        render_mode: str | None = None,
        render_view: RenderView = "player",
        **options: Any,
    ) -> None:
        """:param opponent: by default :func:`gm_env.opponents.play_randomly`.
        :param seat: the learner's: ``"white"``, ``"black"``, or ``"random"``, which is drawn for each game.
        :param copy: False for observations and masks that are read-only, and overwritten by the next step: it saves
            making them.
        :param max_turns: by default reconchess's 80.
        :param options: ``fens``, ``reversible_moves`` and ``recall`` as in :class:`gm_env.BatchedRbc`.
        :raises TypeError: an argument has a wrong type. The message names it.
        :raises ValueError: an argument is wrong, likewise.
        """
        check_rendering(render_mode, render_view)
        rules = SeatRules(opponent, seat, observation, illegal)
        self._games = OneSeat(1, rules, {"max_turns": max_turns, **options}, copy=copy)
        self.render_mode, self._render_view = render_mode, render_view
        self.action_space = LegalActions(self._games.draw)
        self.observation_space = observed_space(observation, self._games.batch.recall)

    @property
    def spec(self) -> EnvSpec | None:
        """The specification that ``gymnasium.make`` sets, with the most steps of a game; None without a turn limit.

        In the registry it would be the same for every ``max_turns``.
        """
        return self._spec

    @spec.setter
    def spec(self, spec: EnvSpec | None) -> None:
        most = self._games.batch.max_turns
        if spec is not None and most is not None:
            spec = replace(spec, max_episode_steps=2 * int(most))
        self._spec = spec

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[NDArray[Any], Info]:
        """Begin a game and play up to the learner's first turn; there are no options."""
        super().reset(seed=seed)
        self._games.begin(self.np_random)
        if self.render_mode == "human":
            self.render()
        return self._games.observations()[0], self._info()

    def step(self, action: np.int64 | int) -> tuple[NDArray[Any], float, bool, bool, Info]:
        """Take an action, and play up to the learner's next decision.

        :raises gm_env.IllegalAction: the game does not allow it, and ``illegal="raise"``; or the opponent's is illegal.
        :raises gymnasium.error.ResetNeeded: the game is over or not begun, or an error of the opponent stopped it.
        """
        _check_ready(self._games)
        if self._games.over[0]:
            raise ResetNeeded("the game is over: call reset() first")
        reward = float(self._games.step(np.asarray([action]))[0])
        if self.render_mode == "human":
            self.render()
        return self._games.observations()[0], reward, bool(self._games.over[0]), False, self._info()

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the legal actions, bool[4738], where ``sb3_contrib.MaskablePPO`` looks for them.

        :raises gymnasium.error.ResetNeeded: as in :meth:`step`, but not when the game is over.
        """
        _check_ready(self._games)
        legal: NDArray[np.bool_] = self._games.masks()[0].astype(np.bool_)
        return legal

    def render(self) -> Any:
        """Return a picture, uint8[468, 468, 3], or text, as the render mode says; None without one."""
        return draw(self._games.batch, 0, bool(self._games.seats[0]), self.render_mode, self._render_view)

    def close(self) -> None:
        """Close the opponent, if it can be closed."""
        self._games.close()

    def _info(self) -> Info:
        games = self._games
        reason, illegal = int(games.reasons[0]), bool(games.forfeited[0])
        return {"action_mask": games.masks()[0], "win_reason": reason, "illegal_action": illegal}


class RbcVectorEnv(VectorEnv[NDArray[Any], NDArray[Any], NDArray[Any]]):
    """``num_envs`` games of :class:`RbcEnv` that are stepped together by one batch, and take the same arguments.

    A finished game begins anew in the next step, ignoring its action (``AutoresetMode.NEXT_STEP``); from then on it may
    be to sense while others are to move. ``info["action_mask"]`` is int8[num_envs, 4738]; that of a finished game has
    one action, so that no mask is empty. ``info["win_reason"]`` is int32[num_envs] and ``info["illegal_action"]``
    bool[num_envs]; with ``illegal="raise"`` an illegal action is an error that names the game, and no game has changed.
    :meth:`reset` takes one seed.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012
        **RbcEnv.metadata,
        "render_modes": [mode for mode in RENDER_MODES if mode != "human"],
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self,
        num_envs: int = 1,
        *,
        opponent: Opponent | None = None,
        seat: Seat = "random",
        observation: Shown = "turn",
        illegal: Illegal = "lose",
        copy: bool = True,
        max_turns: int | None = 80,
        render_mode: str | None = None,
        render_view: RenderView = "player",
        **options: Any,
    ) -> None:
        """Make the environment: see :class:`RbcEnv`; many games are not rendered for a human."""
        check_rendering(render_mode, render_view, self.metadata["render_modes"])
        rules = SeatRules(opponent, seat, observation, illegal)
        self._games = OneSeat(num_envs, rules, {"max_turns": max_turns, **options}, copy=copy)
        self.num_envs, self.render_mode, self._render_view = num_envs, render_mode, render_view
        self.single_action_space = spaces.Discrete(ACTIONS)
        self.action_space = LegalActionsOfAll(num_envs, self._games.draw)
        self._all, self._never = np.ones(num_envs, np.bool_), np.zeros(num_envs, np.bool_)
        self.single_observation_space = observed_space(observation, self._games.batch.recall)
        self.observation_space = gymnasium.vector.utils.batch_space(self.single_observation_space, num_envs)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[NDArray[Any], Info]:
        """Begin games and play up to the learner's first turns.

        :param options: ``"reset_mask"``, bool[num_envs], begins these games alone, as in Gymnasium's own vector
            environments; there are no others. The observations and infos are those of all games.
        :raises TypeError: the mask is not an array of bool.
        :raises ValueError: the mask has a wrong shape, or chooses no game.
        :raises gymnasium.error.ResetNeeded: as in :meth:`step`, and the mask leaves games out.
        """
        mask = None if options is None else _usable_mask(options.get("reset_mask"), self.num_envs)
        if mask is not None and not mask.all():
            _check_ready(self._games)
        super().reset(seed=seed)
        self._games.begin(self.np_random, mask)
        return self._games.observations(), self._infos()

    def step(
        self, actions: NDArray[Any]
    ) -> tuple[NDArray[Any], NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], Info]:
        """Take an action in each game, and play up to the learner's next decisions.

        :param actions: integers, (num_envs,).
        :raises gm_env.IllegalAction: as in :meth:`RbcEnv.step`.
        :raises gymnasium.error.ResetNeeded: no games were begun, or an error of the opponent stopped them.
        :raises TypeError: the actions are not integers.
        :raises ValueError: their shape is wrong.
        """
        _check_ready(self._games)
        rewards, games = self._games.step(actions).copy(), self._games
        return games.observations(), rewards, games.over.copy(), self._never.copy(), self._infos()

    def render(self) -> tuple[Any, ...] | None:
        """Return what :meth:`RbcEnv.render` does, of each game; None without a render mode."""
        if self.render_mode is None:
            return None
        batch, seats = self._games.batch, self._games.seats.tolist()
        return tuple(draw(batch, game, seat, self.render_mode, self._render_view) for game, seat in enumerate(seats))

    def close_extras(self, **kwargs: Any) -> None:
        """Close the opponent, if it can be closed."""
        self._games.close()

    def _infos(self) -> Info:
        games = self._games
        infos: Info = {
            "action_mask": games.masks(),
            "win_reason": games.reasons.copy(),
            "illegal_action": games.forfeited.copy(),
        }
        return infos | {f"_{name}": self._all.copy() for name in infos}


def _usable_mask(mask: Any, n: int) -> NDArray[np.bool_] | None:
    if mask is None:
        return None
    name = 'options["reset_mask"]'
    if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_:
        raise TypeError(f"{name}: {mask!r} is not an array of bool")
    check(mask.shape == (n,), f"{name}: its shape is {mask.shape}; it must be ({n},)")
    check(bool(mask.any()), f"{name}: it chooses no game; leave it out to begin all of them")
    return mask.copy()


def _check_ready(games: OneSeat) -> None:
    if not games.ready:
        raise ResetNeeded("no game waits for the learner: call reset() first, also after an error of the opponent")


if "gmd/RBC-v0" not in gymnasium.registry:  # a module may be imported anew
    gymnasium.register(
        "gmd/RBC-v0",
        entry_point="gm_env.gymnasium:RbcEnv",
        vector_entry_point="gm_env.gymnasium:RbcVectorEnv",
    )
