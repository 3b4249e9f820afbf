"""The interfaces show a player the same in games that it cannot tell apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from chess import Color
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from gm_env import BatchedRbc
from gm_env.openspiel import observation_tensor
from gm_env.rendering import draw, scene_of
from gm_env.turns import action_masks
from tests.env.test_information import Show, drawn, first_difference
from tests.env.twins import Twins, numbered
from tests.tools import require_module

require_module("gymnasium")
require_module("pettingzoo")

from gm_env import rbc_v0 as rbc  # noqa: E402
from gm_env.gymnasium import Decisions, RbcVectorEnv  # noqa: E402

pytestmark = pytest.mark.slow

SEEDS = st.integers(0, 2**32)
#: Limits that no pair reaches.
OPTIONS = {"max_turns": None}


def shown(batch: BatchedRbc, game: int, viewer: Color) -> object:
    scene = scene_of(batch, game, viewer)  # every rendering is made of it
    mask = action_masks(batch)[game].tobytes() if batch.colors[game] == viewer else None
    return scene, mask, observation_tensor(batch, viewer)[game].tobytes()


@given(SEEDS)
def test_renderings_masks_and_openspiels_tensors_do_not_leak(seed: int) -> None:
    assert first_difference(drawn(seed), shown) is None


def true_picture(batch: BatchedRbc, game: int, viewer: Color) -> object:
    return draw(batch, game, viewer, "ansi", "truth")


def mask_of_any(batch: BatchedRbc, game: int, viewer: Color) -> object:
    return action_masks(batch)[game].tobytes()


@pytest.mark.parametrize("leak", [true_picture, mask_of_any])
def test_planted_leaks_are_found(leak: Show) -> None:
    assert any(first_difference(drawn(seed), leak) is not None for seed in range(40))


class Scripted:
    """An opponent that plays its part of both games of a pair."""

    def __init__(self, pair: Twins) -> None:
        self.pair, self.ply = pair, 0

    def __call__(self, decisions: Decisions) -> NDArray[np.int64]:
        color, half = not self.pair.viewer, 0 if decisions.is_sense else 1
        chosen = [self._act(game, color)[half] for game in decisions.games.tolist()]
        self.ply += half
        return np.array(chosen)

    def _act(self, game: int, color: Color) -> tuple[int, int]:
        turns = self.pair.acts[game]
        # After the last turn of the pair both games pass.
        return numbered(turns[self.ply], color) if self.ply < len(turns) else numbered((None, None), color)


def flat(shown: Any) -> list[bytes]:
    parts = list(shown.values()) if isinstance(shown, dict) else [shown]
    return [np.asarray(part).tobytes() for part in parts]


@given(SEEDS)
def test_vector_environment_does_not_leak(seed: int) -> None:
    pair = drawn(seed)
    opponent = Scripted(pair)
    seat: Any = "white" if pair.viewer else "black"
    envs = RbcVectorEnv(
        2, opponent=opponent, seat=seat, observation="history", fens=pair.fen, render_mode="ansi", **OPTIONS
    )
    results: list[Any] = [*envs.reset(seed=1)]
    ended = False
    while True:
        for result in results:
            for part in result.values() if isinstance(result, dict) else [result]:
                assert part[0].tobytes() == part[1].tobytes(), (opponent.ply, pair)
        pictures = envs.render()
        assert pictures is not None
        assert pictures[0] == pictures[1]
        if ended or opponent.ply >= len(pair.acts[0]):
            break
        for half in (0, 1):
            acts = [numbered(acts[opponent.ply], pair.viewer)[half] for acts in pair.acts]
            opponent.ply += half
            results += envs.step(np.array(acts))
        ended = bool(results[-3][0])


@given(SEEDS)
def test_pettingzoo_does_not_leak(seed: int) -> None:
    pair = drawn(seed)
    first, second = observed_in_pettingzoo(pair, pair.viewer)
    assert first == second


def test_opponent_in_pettingzoo_is_told_the_difference() -> None:
    observed = [observed_in_pettingzoo(pair, not pair.viewer) for pair in map(drawn, range(20))]
    assert sum(first != second for first, second in observed) > 10


def observed_in_pettingzoo(pair: Twins, viewer: Color) -> list[list[bytes]]:
    """Play both games of a pair; return all that an agent observes in each."""
    agent, observed = "player_0" if viewer else "player_1", []
    for acts in pair.acts:
        env = rbc.raw_env(fens=pair.fen, **OPTIONS)
        env.reset()
        observed.append(flat(env.observe(agent)))
        for act in acts:
            for action in numbered(act, env.agent_selection == "player_0"):
                env.step(action)
                observed[-1] += [*flat(env.observe(agent)), *flat(env.infos[agent])]
                observed[-1] += [*flat(env.rewards[agent]), *flat(env.terminations[agent])]
    return observed
