"""``options={"reset_mask": ...}`` of the vector environment, as Gymnasium's own take it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.tools import require_module

require_module("gymnasium")

from gm_env.gymnasium import RbcVectorEnv  # noqa: E402


def stepped(envs: RbcVectorEnv, steps: int) -> None:
    """Take legal actions at random."""
    for _ in range(steps):
        envs.step(envs.action_space.sample())


def begun(**options: Any) -> RbcVectorEnv:
    """Return four environments whose games are under way."""
    envs = RbcVectorEnv(4, seat="white", **options)
    envs.reset(seed=3)
    envs.action_space.seed(3)
    stepped(envs, 6)
    return envs


def test_masked_games_begin_and_the_others_go_on() -> None:
    envs = begun()
    batch = envs._games.batch
    before = envs._games.observations()
    plies, fens = batch.plies.copy(), [batch.board(game).fen() for game in range(4)]
    mask = np.array([True, False, False, True])
    observations, infos = envs.reset(options={"reset_mask": mask})
    assert (observations[~mask] == before[~mask]).all()
    assert batch.plies.tolist() == [0, *plies[1:3], 0]
    assert [batch.board(game).fen() for game in (1, 2)] == fens[1:3]
    assert infos["action_mask"].shape == (4, 4738)
    stepped(envs, 20)


def test_game_lost_by_an_illegal_action_begins_by_the_mask() -> None:
    envs = begun()
    actions = envs.action_space.sample()
    actions[2] = 4737 if envs._games.masks()[2, 4737] == 0 else 0
    *_, terminated, _, infos = envs.step(actions)
    assert (terminated[2], infos["illegal_action"][2]) == (True, True)
    _, infos = envs.reset(options={"reset_mask": np.array([False, False, True, False])})
    assert not infos["illegal_action"].any()
    assert not envs._games.over[2]
    assert envs._games.batch.plies[2] == 0


def test_seed_decides_the_masked_games() -> None:
    mask = np.array([False, True, True, False])
    seen = []
    for steps in (0, 4):
        envs = begun(opponent=None)
        stepped(envs, steps)
        envs._games.seats[:] = True
        envs.reset(seed=9, options={"reset_mask": mask})
        envs.action_space.seed(1)
        seen.append(envs._games.batch._state[1:3, 13:15].tolist())
    assert seen[0] == seen[1]


@pytest.mark.parametrize(
    ("mask", "error", "message"),
    [
        ([True] * 4, TypeError, "is not an array of bool"),
        (np.ones(4, np.int64), TypeError, "is not an array of bool"),
        (np.ones(3, np.bool_), ValueError, r"its shape is \(3,\); it must be \(4,\)"),
        (np.zeros(4, np.bool_), ValueError, "it chooses no game"),
    ],
)
def test_mask_that_is_no_use_is_refused_and_nothing_changes(mask: Any, error: type[Exception], message: str) -> None:
    envs = begun()
    before = envs._games.batch._state.tobytes()
    with pytest.raises(error, match=message):
        envs.reset(seed=1, options={"reset_mask": mask})
    assert envs._games.batch._state.tobytes() == before
