"""The environment for PettingZoo: its library's tests, and what each agent observes."""

from __future__ import annotations

import warnings
from typing import Any

import chess
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tools import require_module

pettingzoo = require_module("pettingzoo")

with warnings.catch_warnings():  # it imports its own games, and pygame uses what is deprecated
    warnings.simplefilter("ignore")
    from pettingzoo.test import api_test, parallel_api_test, seed_test
from gymnasium.error import ResetNeeded  # noqa: E402
from pettingzoo.test.render_test import collect_render_results  # noqa: E402
from pettingzoo.test.state_test import test_state as check_states  # noqa: E402
from pettingzoo.test.state_test import test_state_space as check_state_space  # noqa: E402

from gm_env import HEADER_ROWS, PASS, IllegalAction, action_of  # noqa: E402
from gm_env import rbc_v0 as rbc  # noqa: E402
from gm_env.turns import ACTIONS, FIRST_SENSE  # noqa: E402

pytestmark = pytest.mark.slow

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


def test_parallel_api() -> None:
    parallel_api_test(rbc.parallel_env(fens=SHORT, max_turns=10), num_cycles=100)


def test_parallel_environment_takes_the_action_of_the_agent_to_act() -> None:
    env = rbc.parallel_env()
    env.reset()
    _, _, _, _, infos = env.step({"player_0": FIRST_SENSE, "player_1": PASS})
    assert infos["player_0"]["active_agent"] == "player_0"
    _, _, _, _, infos = env.step({"player_0": PASS, "player_1": 0})
    assert infos["player_0"]["active_agent"] == "player_1"


def test_spaces_draw_legal_actions() -> None:
    env = rbc.raw_env()
    env.reset()
    for agent in env.possible_agents:
        env.action_space(agent).seed(1)
    for _ in range(30):
        observation = env.observe(agent := env.agent_selection)
        for action in (env.action_space(agent).sample(observation["action_mask"]), env.action_space(agent).sample()):
            assert observation["action_mask"][action]
        env.step(int(action))


def test_human_sees_each_position(capsys: pytest.CaptureFixture[str]) -> None:
    env = rbc.raw_env(render_mode="human")
    env.reset()
    env.step(FIRST_SENSE)
    first, second = capsys.readouterr().out.strip().split("\n\n")
    assert "ply 1: White to sense" in first
    assert "ply 1: White to move" in second


def test_states() -> None:
    check_state_space(rbc.env())
    check_states(rbc.env(), num_cycles=10)


@pytest.mark.parametrize("mode", rbc.raw_env.metadata["render_modes"])
def test_render_modes(mode: str) -> None:
    for result in collect_render_results(rbc.env(render_mode=mode)):
        if mode == "human":
            assert result is None
        elif mode == "rgb_array":
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
    observed = {}
    for agent in env.agent_iter():
        observed[agent] = env.last()[:4]
        env.step(None)
    assert {agent: values[1:] for agent, values in observed.items()} == {
        "player_0": (1.0, True, False),
        "player_1": (-1.0, True, False),
    }
    assert env.agents == []


def test_illegal_action_loses_the_game_or_is_an_error() -> None:
    env, raw = rbc.env(), rbc.raw_env()
    for each in (env, raw):
        each.reset()
    env.step(PASS)
    assert env.rewards == {"player_0": -1.0, "player_1": 0}
    assert all(env.terminations.values())
    for agent in ("player_0", "player_1"):
        observation, reward, over, _, _ = env.last()
        assert (env.agent_selection, reward, over) == (agent, env.rewards[agent], True)
        assert np.flatnonzero(observation["action_mask"]).tolist() == [PASS]
        env.step(None)
    assert env.agents == []
    with pytest.raises(ResetNeeded, match="call reset"):
        env.step(None)
    env.reset()
    env.step(FIRST_SENSE)
    with pytest.raises(IllegalAction, match=f"does not allow {PASS}: White is to sense"):
        raw.step(PASS)
    raw.step(FIRST_SENSE)
    with pytest.raises(IllegalAction, match="does not allow 0: White is to move"):
        raw.step(0)
    with pytest.raises(TypeError, match="actions: their type is float64"):
        raw.step(0.5)
    assert raw.observe("player_0")["action_mask"].sum() > 1


#: Black's first turn: a sense, and a move that White cannot see or feel afterwards.
BLACK_TURNS = st.tuples(st.integers(FIRST_SENSE, ACTIONS - 1), st.sampled_from(["a7a6", "b8c6", "g8f6", "e7e5", None]))


@given(st.integers(chess.A1, chess.H3), st.lists(BLACK_TURNS, min_size=2, max_size=2))
def test_agent_is_not_told_what_the_other_does_unseen(sense: int, turns: list[tuple[int, str | None]]) -> None:
    """White senses on its own first four ranks after any of Black's turns, and observes the same."""
    observed: list[list[bytes]] = []
    for black_sense, black_move in turns:
        env = rbc.raw_env(render_mode="ansi")
        env.reset()
        observed.append([])
        reply = PASS if black_move is None else move(black_move, chess.BLACK)
        for action in (FIRST_SENSE, move("e2e3"), black_sense, reply, FIRST_SENSE + sense, PASS):
            env.step(action)
            observation = env.observe("player_0")
            observed[-1] += [observation["observation"].tobytes(), observation["action_mask"].tobytes()]
            if env.agent_selection == "player_0":
                observed[-1].append(env.render().encode())
    assert observed[0] == observed[1]


def test_history_is_all_that_an_agent_was_ever_shown() -> None:
    env = rbc.raw_env(observation="history", max_turns=2)
    env.reset()
    for agent in ("player_0", "player_1"):
        for action in (FIRST_SENSE + 12, PASS):
            env.step(action)
        rows = env.observe(agent)["observation"]
        assert env.observation_space(agent).contains(env.observe(agent))
        assert rows.shape == (HEADER_ROWS + 3, 14)
        assert rows[0, 8] == (agent == "player_0")
        assert rows[HEADER_ROWS:, 1].tolist() == [12, -1, -1]
    assert rbc.raw_env(observation="history", recall=5).observation_space("player_0")["observation"].shape == (13, 14)
    with pytest.raises(ValueError, match="observation: 'ever' is not one of turn, history"):
        rbc.raw_env(observation="ever")


@KNOWN_BY_NAME
def test_api_test_passes_with_histories() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # it takes rows of numbers for a picture
        api_test(rbc.raw_env(observation="history", max_turns=4), num_cycles=50)


@pytest.mark.parametrize("method", ["step", "observe", "last", "render"])
def test_use_before_reset_asks_for_a_reset(method: str) -> None:
    env = rbc.raw_env(render_mode="ansi")
    arguments = {"step": [FIRST_SENSE], "observe": ["player_0"]}.get(method, [])
    with pytest.raises(ResetNeeded, match="call reset"):
        getattr(env, method)(*arguments)
