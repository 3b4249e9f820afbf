"""``options={"reset_mask": ...}`` of the vector environment, as Gymnasium's own take it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.tools import require_module

require_module("gymnasium")

from gm_env.gymnasium import RbcVectorEnv  # noqa: E402
from gm_env.turns import FIRST_SENSE  # noqa: E402

pytestmark = pytest.mark.slow

#: The plane of an observation with the number of turns that the player has completed.
TURNS_COMPLETED = 23


def stepped(envs: RbcVectorEnv, steps: int) -> None:
    """Take legal actions at random."""
    for _ in range(steps):
        envs.step(envs.action_space.sample())


def begun() -> Any:
    """Return four environments whose games are under way."""
    envs: Any = RbcVectorEnv(4, seat="white", render_mode="ansi", render_view="truth")
    envs.reset(seed=3)
    envs.action_space.seed(3)
    stepped(envs, 6)
    return envs


def test_masked_games_begin_and_the_others_go_on() -> None:
    envs, fresh = begun(), RbcVectorEnv(4, seat="white").reset(seed=3)[0]
    before = envs.render()
    mask = np.array([True, False, False, True])
    observations, infos = envs.reset(options={"reset_mask": mask})
    assert (observations[mask] == fresh[mask]).all()
    assert observations[:, TURNS_COMPLETED, 0, 0].tolist() == [0, 3, 3, 0]
    assert envs.render()[1:3] == before[1:3]
    assert infos["action_mask"].shape == (4, 4738)
    stepped(envs, 20)


def test_game_lost_by_an_illegal_action_begins_by_the_mask() -> None:
    envs = begun()
    actions = envs.action_space.sample()
    actions[2] = 4737 if actions[2] < FIRST_SENSE else 0
    *_, terminated, _, infos = envs.step(actions)
    assert (terminated[2], infos["illegal_action"][2]) == (True, True)
    observations, infos = envs.reset(options={"reset_mask": np.array([False, False, True, False])})
    assert not infos["illegal_action"].any()
    assert observations[2, TURNS_COMPLETED, 0, 0] == 0
    assert not envs.step(envs.action_space.sample())[2][2]


def test_seed_decides_the_masked_games() -> None:
    mask, seen = np.array([False, True, True, False]), []
    for steps in (0, 4):
        envs = begun()
        stepped(envs, steps)
        envs.reset(seed=9, options={"reset_mask": mask})
        for action in (FIRST_SENSE, 4672, FIRST_SENSE, 4672):
            envs.step(np.full(4, action))
        seen.append(envs.render()[1:3])
    assert seen[0] == seen[1]


@pytest.mark.parametrize(
    ("mask", "error", "message"),
    [
        ([True] * 4, TypeError, "is not an array of bool"),
        (np.ones(3, np.bool_), ValueError, r"its shape is \(3,\); it must be \(4,\)"),
        (np.zeros(4, np.bool_), ValueError, "it chooses no game"),
    ],
)
def test_mask_that_is_no_use_is_refused_and_nothing_changes(mask: Any, error: type[Exception], message: str) -> None:
    envs = begun()
    before = envs.render()
    with pytest.raises(error, match=message):
        envs.reset(seed=1, options={"reset_mask": mask})
    assert envs.render() == before
