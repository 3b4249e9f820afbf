"""The environment for PettingZoo: its library's tests, and what each agent is told."""

from __future__ import annotations

import warnings
from typing import Any

import chess
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tools import require_module

pettingzoo = require_module("pettingzoo")

with warnings.catch_warnings():  # it imports its own games, and pygame uses what is deprecated
    warnings.simplefilter("ignore")
    from pettingzoo.test import api_test, parallel_api_test, seed_test
from pettingzoo.test.render_test import collect_render_results  # noqa: E402
from pettingzoo.test.state_test import test_state as check_states  # noqa: E402
from pettingzoo.test.state_test import test_state_space as check_state_space  # noqa: E402
from pettingzoo.utils.conversions import turn_based_aec_to_parallel  # noqa: E402

from gm_env import PASS, IllegalAction, action_of  # noqa: E402
from gm_env import pettingzoo as rbc  # noqa: E402
from gm_env.turns import ACTIONS, FIRST_SENSE  # noqa: E402

SHORT = "4k3/8/8/R7/r7/8/8/4K3 w - - 0 1"
#: api_test wants to see no dictionary but from environments that it knows by name, such as its own chess.
KNOWN_BY_NAME = pytest.mark.filterwarnings(
    "ignore:Observation space for each agent probably should be", "ignore:Observation is not a NumPy array"
)


def move(uci: str, color: chess.Color = chess.WHITE) -> int:
    return action_of(chess.Move.from_uci(uci), color)


@KNOWN_BY_NAME
@pytest.mark.parametrize("make", [rbc.env, rbc.raw_env])
def test_api(make: Any) -> None:
    api_test(make(), num_cycles=200)
    api_test(make(fens=SHORT, max_turns=10), num_cycles=200)


def test_seeds() -> None:
    seed_test(rbc.env, num_cycles=200)


def test_parallel_api_of_the_turn_based_conversion() -> None:
    parallel_api_test(turn_based_aec_to_parallel(rbc.env(fens=SHORT, max_turns=10)), num_cycles=100)


def test_states() -> None:
    check_state_space(rbc.env())
    check_states(rbc.env(), num_cycles=10)


@pytest.mark.parametrize("mode", rbc.raw_env.metadata["render_modes"])
def test_render_modes(mode: str) -> None:
    for result in collect_render_results(rbc.env(render_mode=mode)):
        if mode == "rgb_array":
            assert (result.dtype, result.shape[2]) == (np.uint8, 3)
        else:
            assert isinstance(result, str)


def test_agents_are_those_of_classic_chess_and_take_two_actions_a_turn() -> None:
    env = rbc.env()
    env.reset()
    chosen = []
    for action in (FIRST_SENSE + chess.E7, move("e2e4"), FIRST_SENSE + chess.E7, move("e7e5", chess.BLACK)):
        chosen.append(env.agent_selection)
        observation, reward, ended, truncated, info = env.last()
        assert (reward, ended, truncated) == (0, False, False)
        assert np.array_equal(observation["action_mask"], info["action_mask"])
        assert observation["action_mask"][action]
        env.step(action)
    assert chosen == ["player_0", "player_0", "player_1", "player_1"]
    assert env.state().shape == (19, 8, 8)


def test_waiting_agent_has_no_actions() -> None:
    env = rbc.raw_env()
    env.reset()
    assert not env.observe("player_1")["action_mask"].any()
    assert "action_mask" not in env.infos["player_1"]


def test_capture_of_the_king_ends_the_game_for_both() -> None:
    env = rbc.env(fens="8/8/8/8/8/8/8/Rk1K4 w - - 0 1")
    env.reset()
    env.step(FIRST_SENSE)
    env.step(move("a1b1"))
    assert env.terminations == {"player_0": True, "player_1": True}
    assert env.rewards == {"player_0": 1.0, "player_1": -1.0}
    told = {}
    for agent in env.agent_iter():
        told[agent] = env.last()[:4]
        env.step(None)
    assert {agent: values[1:] for agent, values in told.items()} == {
        "player_0": (1.0, True, False),
        "player_1": (-1.0, True, False),
    }
    assert env.agents == []


def test_illegal_action_loses_with_wrappers_and_is_an_error_without() -> None:
    wrapped, raw = rbc.env(), rbc.raw_env()
    for env in (wrapped, raw):
        env.reset()
    wrapped.step(PASS)
    assert wrapped.rewards == {"player_0": -1.0, "player_1": 0}
    assert all(wrapped.terminations.values())
    with pytest.raises(IllegalAction, match=f"does not allow {PASS}: White is to sense"):
        raw.step(PASS)
    raw.step(FIRST_SENSE)
    with pytest.raises(IllegalAction, match="does not allow 0: White is to move"):
        raw.step(0)
    with pytest.raises(TypeError, match="actions: their type is float64"):
        raw.step(0.5)
    assert raw.observe("player_0")["action_mask"].sum() > 1


def test_options_are_checked() -> None:
    with pytest.raises(ValueError, match="render_mode: 'human' is none of rgb_array, ansi, svg"):
        rbc.env(render_mode="human")
    with pytest.raises(ValueError, match="render_view: 'both' is not"):
        rbc.env(render_view="both")
    with pytest.raises(ValueError, match="max_turns: 0 is not from 1"):
        rbc.env(max_turns=0)


#: Black's first turn: a sense, and a move that White cannot see or feel afterwards.
BLACK_TURNS = st.tuples(st.integers(FIRST_SENSE, ACTIONS - 1), st.sampled_from(["a7a6", "b8c6", "g8f6", "e7e5", None]))


@settings(deadline=None, max_examples=25)
@given(st.integers(chess.A1, chess.H3), st.lists(BLACK_TURNS, min_size=2, max_size=2))
def test_agent_is_not_told_what_the_other_does_unseen(sense: int, turns: list[tuple[int, str | None]]) -> None:
    """White senses on its own first four ranks after any of Black's turns, and is told the same."""
    told: list[list[bytes]] = []
    for black_sense, black_move in turns:
        env = rbc.raw_env(render_mode="ansi")
        env.reset()
        told.append([])
        reply = PASS if black_move is None else move(black_move, chess.BLACK)
        for action in (FIRST_SENSE, move("e2e3"), black_sense, reply, FIRST_SENSE + sense, PASS):
            env.step(action)
            observation = env.observe("player_0")
            told[-1] += [observation["observation"].tobytes(), observation["action_mask"].tobytes()]
            if env.agent_selection == "player_0":
                told[-1].append(env.render().encode())
    assert told[0] == told[1]
