"""The policies to start from: how well they play, in every interface, and that they know what they observed alone."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import chess
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from gm_env import OVER, BatchedRbc, action_of, move_of, square_of
from gm_env.opponents import Decisions, Opponent
from gm_env.policies import Actor, Attacker, Greedy, play_randomly
from gm_env.policies.attacker import LINES
from gm_env.turns import ACTIONS, FIRST_SENSE
from gm_recon import ReconGame
from tests.env.twins import Twins, next_acts, numbered
from tests.tools import require_module

require_module("gymnasium")
require_module("pettingzoo")

from gm_env import rbc_v0 as rbc  # noqa: E402
from gm_env.gymnasium import RbcEnv, RbcVectorEnv  # noqa: E402

pytestmark = pytest.mark.slow

Make = Callable[[], Opponent]
POLICIES: dict[str, Make] = {"random": lambda: play_randomly, "attacker": Attacker, "greedy": Greedy}
#: A queen's game against a king: Black's queen may be taken on d8, its rook on a5 by a cheaper piece, too.
TAKE = "3qk3/8/8/r7/8/1N6/8/R2QK3 w - - 0 1"


def results(policy: Opponent, opponent: Opponent, steps: int, **options: Any) -> list[int]:
    """Return the rewards of the games that a policy plays in 32 places."""
    envs, actor = RbcVectorEnv(32, opponent=opponent, **options), Actor(policy, seed=1)
    observed, info = envs.reset(seed=1)
    found: list[int] = []
    for _ in range(steps):
        observed, rewards, over, _, info = envs.step(actor.act_all(observed, info["action_mask"]))
        found += rewards[over].astype(int).tolist()
    return found


@pytest.mark.parametrize("better", ["attacker", "greedy"])
def test_policy_wins_nearly_all_games_against_a_random_one(better: str) -> None:
    as_learner = results(POLICIES[better](), play_randomly, 100)
    as_opponent = results(play_randomly, POLICIES[better](), 100)
    won = as_learner.count(1) + as_opponent.count(-1)
    assert won > 0.9 * (len(as_learner) + len(as_opponent))


@pytest.mark.parametrize("name", POLICIES)
def test_same_seed_gives_the_same_games(name: str) -> None:
    def play(seed: int) -> list[bytes]:
        envs = RbcVectorEnv(4, opponent=POLICIES[name](), max_turns=15)
        actor = Actor(POLICIES[name](), seed)
        observed, info = envs.reset(seed=seed)
        return [(observed := step(envs, actor, observed, info)).tobytes() for _ in range(60)]

    def step(envs: RbcVectorEnv, actor: Actor, observed: NDArray[Any], info: dict[str, Any]) -> NDArray[Any]:
        observed, _, _, _, new = envs.step(actor.act_all(observed, info["action_mask"]))
        info.update(new)
        return observed

    assert play(3) == play(3)
    assert play(3) != play(4)


@pytest.mark.parametrize("name", POLICIES)
def test_policies_play_in_pettingzoo_and_in_a_single_environment(name: str) -> None:
    env = rbc.env(max_turns=20)
    actors = {agent: Actor(POLICIES[name](), seed) for seed, agent in enumerate(env.possible_agents)}
    for _ in range(2):
        env.reset()
        turns = 0
        for agent in env.agent_iter():
            observed, _, over, _, _ = env.last()
            env.step(None if over else actors[agent].act(observed["observation"], observed["action_mask"]))
            turns += 1
        assert turns > 6
    single, actor = RbcEnv(opponent=POLICIES[name](), max_turns=20, illegal="raise"), Actor(POLICIES[name]())
    for _ in range(2):
        observation, info = single.reset(seed=1)
        ended = False
        while not ended:
            observation, _, ended, _, info = single.step(actor.act(observation, info["action_mask"]))


def test_attacker_s_lines_are_moves_that_its_own_pieces_allow() -> None:
    for line in LINES:
        for color in chess.COLORS:
            game = ReconGame()
            for text in line.split():
                move = chess.Move.from_uci(text)
                if not color:
                    game.sense(None)
                    game.move(None)
                    move = chess.Move(chess.square_mirror(move.from_square), chess.square_mirror(move.to_square))
                game.sense(None)
                _, taken, _ = game.move(move)
                assert taken == move
                if color and not game.is_over():
                    game.sense(None)
                    game.move(None)
            assert game.winner == color


def test_greedy_takes_the_most_valuable_piece_that_it_saw_with_the_least_valuable_of_its_own() -> None:
    greedy, rng = Greedy(), np.random.default_rng(1)
    batch = BatchedRbc(3, fens=TAKE)
    games = np.arange(3)
    greedy.begin(games, batch.colors)
    greedy(Decisions(batch, games, rng))
    batch.sense(np.array([chess.D7, chess.B6, chess.H3]))
    moves = [move_of(int(move), chess.WHITE, 0) for move in greedy(Decisions(batch, games, rng))]
    assert moves[:2] == [chess.Move.from_uci("d1d8"), chess.Move.from_uci("b3a5")]
    assert moves[2] not in moves[:2]


def test_greedy_senses_where_it_lost_a_piece_and_takes_back() -> None:
    batch, greedy, rng = BatchedRbc(1, fens="4k3/p7/8/1p6/P7/8/8/R3K3 b - - 0 1"), Greedy(), np.random.default_rng(1)
    greedy.begin(np.array([0]), np.array([1]))
    batch.sense(np.array([0]))
    batch.move(batch_move(batch, "b5a4"))
    sensed = int(greedy(Decisions(batch, np.array([0]), rng))[0]) - FIRST_SENSE
    assert chess.square_distance(sensed, chess.A4) <= 1
    batch.sense(np.array([chess.H1]))  # it does not look there, and remembers that something must be there
    assert move_of(int(greedy(Decisions(batch, np.array([0]), rng))[0]), chess.WHITE, 0) == chess.Move.from_uci("a1a4")


def batch_move(batch: BatchedRbc, uci: str) -> NDArray[np.int64]:
    return np.array([action_of(chess.Move.from_uci(uci), bool(batch.colors[0]))])


def test_actor_refuses_other_shapes_and_policies_that_need_more() -> None:
    actor = Actor(lambda decisions: decisions.information_states()[:, 0, 0])
    with pytest.raises(ValueError, match=r"observations: their shape is \(2, 3\), not \(2, 24, 8, 8\)"):
        actor.act_all(np.zeros((2, 3)), np.zeros((2, ACTIONS)))
    with pytest.raises(ValueError, match=r"masks: their shape is \(1, 5\); it must be \(1, 4738\)"):
        actor.act(np.zeros((24, 8, 8)), np.zeros(5))
    observed, info = RbcEnv().reset(seed=1)
    with pytest.raises(TypeError, match="observations of one turn"):
        actor.act(observed, info["action_mask"])


# --- A policy acts the same in games that it cannot tell apart ---------------------------------------------------


def differs(seed: int, make: Make) -> bool:
    """Play two games as long as they are the same to a policy; return whether it acts differently in them."""
    rng = random.Random(seed)
    pair = Twins(rng.random() < 0.5, chess.STARTING_FEN, (ReconGame(), ReconGame()))
    batches = [BatchedRbc(1, 5) for _ in pair.games]
    policies, rngs = [make() for _ in batches], [np.random.default_rng(7) for _ in batches]
    for policy in policies:
        if (begin := getattr(policy, "begin", None)) is not None:
            begin(np.array([0]), np.array([int(pair.viewer)]))
    for _ in range(24):
        if any(batch.phases[0] == OVER for batch in batches):
            return False
        is_viewer = bool(batches[0].colors[0]) == pair.viewer
        acts = None if is_viewer else next_acts(rng, pair)
        if not is_viewer and acts is None:
            return False
        for half in (True, False):
            if is_viewer:
                observed = [Decisions(batch, np.array([0]), own) for batch, own in zip(batches, rngs, strict=True)]
                first, second = (int(policy(one)[0]) for policy, one in zip(policies, observed, strict=True))
                if first != second:
                    return True
                apply(batches, pair, (first, second), half)
                if len({batch.information_string(0, pair.viewer) for batch in batches}) == 2:
                    return False  # its own action has shown it a difference
            else:
                assert acts is not None
                apply(batches, pair, tuple(numbered(act, not pair.viewer)[not half] for act in acts), half)
    return False


def apply(batches: list[BatchedRbc], pair: Twins, actions: Any, is_sense: bool) -> None:
    """Take an action in both games, in the batches and in ``gm_recon``."""
    for batch, game, action in zip(batches, pair.games, actions, strict=True):
        color = game.turn
        if is_sense:
            batch.sense(np.array([action - FIRST_SENSE]))
            game.sense(square_of(action - FIRST_SENSE, color))
        else:
            game.move(move_of(action, color, batch.board(0).pawns))
            batch.move(np.array([action]))


@pytest.mark.parametrize("name", POLICIES)
@given(st.integers(0, 2**32))
def test_policy_acts_the_same_where_it_was_told_the_same(name: str, seed: int) -> None:
    assert not differs(seed, POLICIES[name])


def test_policy_that_reads_the_true_position_is_caught() -> None:
    def cheat(decisions: Decisions) -> NDArray[np.int64]:
        truth = decisions._batch.privileged_state()[decisions.games]
        legal = np.flatnonzero(decisions.action_masks()[0])
        return legal[[int(truth[0].astype(int).sum(0).ravel() @ np.arange(64)) % len(legal)]]

    assert any(differs(seed, lambda: cheat) for seed in range(30))
