"""Copies of a batch and of the environments: they go on as the original does, and neither changes the other."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gm_env import BatchedRbc
from gm_env.gymnasium import RbcEnv, RbcVectorEnv
from gm_env.rbc_v0 import raw_env
from tests.env.test_batch import ATTRIBUTES, everything

pytestmark = pytest.mark.slow

WAYS: dict[str, Callable[[Any], Any]] = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda made: pickle.loads(pickle.dumps(made)),
}
ENVS = {name: way for name, way in WAYS.items() if name != "copy"}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("is_shown", [True, False])
def test_copy_of_a_batch_goes_on_like_the_original(way: str, is_shown: bool) -> None:
    batch = BatchedRbc(3, seed=1, max_turns=3)
    batch.sense(batch.sample_senses())
    if is_shown:  # buffers that exist are no business of the copy's either
        everything(batch)
    other = WAYS[way](batch)
    for _ in range(8):
        assert everything(other) == everything(batch)
        for each in (batch, other):
            each.move(each.sample_moves())
        assert everything(other) == everything(batch)
        for each in (batch, other):
            each.sense(each.sample_senses())


@pytest.mark.parametrize("way", WAYS)
def test_copy_and_original_do_not_change_each_other(way: str) -> None:
    batch = BatchedRbc(2, seed=1)
    other = WAYS[way](batch)
    before = everything(batch)
    other.sense(other.sample_senses())
    other.move(other.sample_moves())
    assert other.plies.tolist() == [1, 1]
    assert everything(batch) == before
    after = everything(other)
    batch.reset(7)
    assert everything(other) == after


@pytest.mark.parametrize("way", WAYS)
def test_arrays_of_a_copy_cannot_be_written(way: str) -> None:
    other = WAYS[way](BatchedRbc(2))
    for name in ATTRIBUTES:
        with pytest.raises(ValueError, match="read-only"):
            getattr(other, name)[:] = 0


def test_method_copies_a_batch_and_keeps_its_class() -> None:
    class Mine(BatchedRbc):
        pass

    batch = Mine(2, seed=3)
    other = batch.copy()
    assert type(other) is Mine
    assert other.sample_senses().tolist() == batch.sample_senses().tolist()


def play_single(way: Callable[[Any], Any], observation: str = "turn") -> None:
    env = RbcEnv(seat="random", observation=observation, max_turns=4)  # type: ignore[arg-type]
    _, info = env.reset(seed=1)
    for _ in range(3):
        _, _, _, _, info = env.step(np.flatnonzero(info["action_mask"])[0])
    other, over = way(env), False
    while not over:
        action = int(np.flatnonzero(info["action_mask"])[-1])
        one, two = (each.step(action) for each in (env, other))
        assert (one[0] == two[0]).all()
        assert one[1:4] == two[1:4]
        assert (one[4]["action_mask"] == two[4]["action_mask"]).all()
        over, info = one[2], one[4]


def play_histories(way: Callable[[Any], Any]) -> None:
    play_single(way, "history")


def play_vector(way: Callable[[Any], Any]) -> None:
    envs = RbcVectorEnv(3, max_turns=2)
    _, infos = envs.reset(seed=1)
    others = way(envs)
    for _ in range(15):
        actions = np.array([np.flatnonzero(mask)[-1] for mask in infos["action_mask"]])
        one, two = (each.step(actions) for each in (envs, others))
        for mine, its in zip(one[:4], two[:4], strict=True):
            assert (mine == its).all()
        infos = one[4]
        assert (infos["action_mask"] == two[4]["action_mask"]).all()


def play_pettingzoo(way: Callable[[Any], Any]) -> None:
    env = raw_env(max_turns=3)
    env.reset()
    env.step(4673 + 12)
    other = way(env)
    while env.agents:
        for agent in env.agents:
            for name, array in env.observe(agent).items():
                assert (other.observe(agent)[name] == array).all()
        assert other.agent_selection == env.agent_selection
        over = env.terminations[env.agent_selection]
        action = None if over else int(np.flatnonzero(env.observe(env.agent_selection)["action_mask"])[-1])
        env.step(action)
        other.step(action)
    assert not other.agents


@pytest.mark.parametrize("way", ENVS)
@pytest.mark.parametrize("play", [play_single, play_histories, play_vector, play_pettingzoo])
def test_copy_of_an_environment_plays_the_same_game(play: Callable[[Any], None], way: str) -> None:
    play(ENVS[way])
