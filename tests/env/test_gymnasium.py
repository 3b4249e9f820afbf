"""The environments for Gymnasium: their library's checks, resets, masks, opponents and bad input."""

from __future__ import annotations

import hashlib
import random
import re
from typing import Any

import chess
import numpy as np
import pytest
from numpy.typing import NDArray

from gm_recon import WinReason
from tests.tools import require_module

gymnasium = require_module("gymnasium")

from gymnasium.error import ResetNeeded  # noqa: E402
from gymnasium.utils.env_checker import check_env  # noqa: E402

from gm_env import HEADER_ROWS, PASS, IllegalAction, action_of  # noqa: E402
from gm_env.gymnasium import Decisions, RbcEnv, RbcVectorEnv  # noqa: E402
from gm_env.turns import ACTIONS, FIRST_SENSE  # noqa: E402

pytestmark = pytest.mark.slow

#: Random games from here are short: the kings meet the rooks soon.
SHORT = "4k3/8/8/R7/r7/8/8/4K3 w - - 0 1"
#: White captures the king at once with d1e1... or loses its own.
KINGS_IN_REACH = "8/8/8/8/8/8/8/Rk1K4 w - - 0 1"


def first_legal(decisions: Decisions) -> NDArray[np.int64]:
    """Decide for the legal action of the lowest number: an opponent that is not random."""
    return decisions.action_masks().argmax(1)


def choose(rng: random.Random, mask: NDArray[np.int8]) -> int:
    return rng.choice(np.flatnonzero(mask).tolist())


def make(**options: Any) -> Any:
    return gymnasium.make("gm_env.gymnasium:gmd/RBC-v0", **options)


@pytest.mark.parametrize(
    "options",
    [{}, {"seat": "white"}, {"seat": "black", "observation": "history"}, {"opponent": first_legal, "fens": SHORT}],
)
def test_single_environment_passes_the_checks_of_gymnasium(options: dict[str, Any]) -> None:
    check_env(make(**options).unwrapped)


@pytest.mark.parametrize("seat", ["white", "black"])
def test_specification_has_the_most_steps_of_a_game_and_no_game_is_truncated(seat: str) -> None:
    env = gymnasium.wrappers.TimeAwareObservation(make(seat=seat, max_turns=3), flatten=False, normalize_time=True)
    seen, _ = env.reset(seed=1)
    for step in range(6):
        assert seen["time"] == np.float32(step / 6)
        seen, _, over, truncated, _ = env.step(FIRST_SENSE if step % 2 == 0 else PASS)
        assert (over, truncated) == (step == 5, False)
    assert seen in env.observation_space


@pytest.mark.parametrize(
    ("options", "most"), [({}, 160), ({"max_turns": np.int8(90)}, 180), ({"max_turns": None}, None)]
)
def test_most_steps_follow_from_the_turn_limit(options: dict[str, Any], most: int | None) -> None:
    env = make(**options)
    assert env.spec.max_episode_steps == most
    assert gymnasium.make(env.spec).spec.max_episode_steps == most


def test_observations_of_whole_games_are_in_the_space() -> None:
    for observation in ("turn", "history"):
        env, rng = make(observation=observation, fens=SHORT, max_turns=20), random.Random(1)
        for seed in range(5):
            seen, info = env.reset(seed=seed)
            ended = False
            while not ended:
                assert seen in env.observation_space
                seen, _, ended, _, info = env.step(choose(rng, info["action_mask"]))
            assert seen in env.observation_space


def test_turn_is_a_sense_then_a_move_which_the_opponent_answers() -> None:
    env = RbcEnv(seat="white", opponent=first_legal)
    _, info = env.reset(seed=1)
    assert np.flatnonzero(info["action_mask"]).tolist() == list(range(FIRST_SENSE, ACTIONS))
    seen, reward, *ended, info = env.step(FIRST_SENSE + chess.E7)
    assert seen[12].sum() == 9
    assert seen[6, 6].tolist() == [0, 0, 0, 1, 1, 1, 0, 0]
    assert (reward, ended) == (0.0, [False, False])
    assert info["action_mask"][action_of(chess.Move.from_uci("e2e4"), chess.WHITE)] == 1
    assert info["action_mask"][FIRST_SENSE:].sum() == 0
    seen, *_, info = env.step(action_of(chess.Move.from_uci("e2e4"), chess.WHITE))
    assert [seen[plane].any() for plane in (20, 21)] == [True, False], "to sense again: the opponent has moved"
    assert info["action_mask"][FIRST_SENSE:].all()


@pytest.mark.parametrize(("seat", "reward"), [("white", 1.0), ("black", -1.0)])
def test_capture_of_a_king_is_rewarded_from_the_learners_view(seat: Any, reward: float) -> None:
    capture = action_of(chess.Move.from_uci("a1b1"), chess.WHITE)

    def white(decisions: Decisions) -> NDArray[np.int64]:
        return np.array([FIRST_SENSE if decisions.is_sense else capture])

    if seat == "black":
        env = RbcEnv(seat=seat, fens=KINGS_IN_REACH.replace(" w ", " b ").replace("Rk1K4", "Rk2K3"), opponent=white)
        env.reset(seed=1)
        env.step(FIRST_SENSE)
        _, rewarded, ended, _, info = env.step(PASS)
    else:
        env = RbcEnv(seat=seat, fens=KINGS_IN_REACH)
        env.reset(seed=1)
        env.step(FIRST_SENSE)
        _, rewarded, ended, _, info = env.step(capture)
    assert (rewarded, ended, info["win_reason"]) == (reward, True, WinReason.KING_CAPTURE.value)
    with pytest.raises(ResetNeeded, match="call reset"):
        env.step(FIRST_SENSE)


@pytest.mark.parametrize(("seat", "observation"), [("white", "turn"), ("black", "history")])
def test_vector_environment_plays_as_single_ones(seat: Any, observation: Any) -> None:
    options: dict[str, Any] = {"opponent": first_legal, "fens": SHORT, "max_turns": 12}
    options |= {"seat": seat, "observation": observation}
    n, steps = 5, 120
    envs = RbcVectorEnv(n, **options)
    singles, rngs = [RbcEnv(**options) for _ in range(n)], [random.Random(i) for i in range(n)]
    seen, info = envs.reset(seed=1)
    shown = [env.reset(seed=1) for env in singles]
    over, ends = np.zeros(n, np.bool_), 0
    for _ in range(steps):
        for i, (observation_of_one, info_of_one) in enumerate(shown):
            assert np.array_equal(seen[i], observation_of_one)
            assert np.array_equal(info["action_mask"][i], info_of_one["action_mask"])
            assert info["win_reason"][i] == info_of_one["win_reason"]
        actions = [choose(rng, mask) for rng, mask in zip(rngs, info["action_mask"], strict=True)]
        seen, rewards, ended, truncated, info = envs.step(np.array(actions))
        for i, env in enumerate(singles):
            if over[i]:
                shown[i], expected = env.reset(), (0.0, False)
            else:
                observed, reward, is_over, _, info_of_one = env.step(actions[i])
                shown[i], expected = (observed, info_of_one), (reward, is_over)
            assert (rewards[i], ended[i], truncated[i]) == (*expected, False)
        over, ends = ended, ends + int(ended.sum())
    assert ends >= n, "games began anew"


def test_vector_environment_is_registered_and_resets_in_the_next_step() -> None:
    envs = gymnasium.make_vec("gm_env.gymnasium:gmd/RBC-v0", num_envs=8, fens=SHORT, max_turns=3)
    assert isinstance(envs, RbcVectorEnv)
    assert envs.metadata["autoreset_mode"] is gymnasium.vector.AutoresetMode.NEXT_STEP
    wrapped = gymnasium.wrappers.vector.RecordEpisodeStatistics(envs)
    envs.action_space.seed(3)
    wrapped.reset(seed=3)
    counted = 0
    for _ in range(40):
        seen, _, ended, _, info = wrapped.step(envs.action_space.sample())
        assert seen in envs.observation_space
        assert (info["action_mask"].sum(1)[ended] == 1).all()
        counted += int(ended.sum())
    assert wrapped.episode_count == counted > 8


def test_seed_decides_the_games_and_reset_without_one_goes_on() -> None:
    def play(envs: RbcVectorEnv, seed: int | None) -> list[bytes]:
        seen = [envs.reset(seed=seed)[0].tobytes()]
        for _ in range(30):
            seen.append(envs.step(envs.action_space.sample())[0].tobytes())
        return seen

    first, second = RbcVectorEnv(4), RbcVectorEnv(4)
    for envs in (first, second):
        envs.action_space.seed(9)
    games = [play(first, 5), play(first, None)]
    assert games == [play(second, 5), play(second, None)]
    assert games[0] != games[1]


def test_returned_arrays_are_not_overwritten() -> None:
    envs = RbcVectorEnv(4)
    returned = [*envs.reset(seed=1), *envs.step(envs.action_space.sample())]
    kept = [np.copy(part["action_mask"] if isinstance(part, dict) else part) for part in returned]
    for _ in range(20):
        envs.step(envs.action_space.sample())
    for part, copy in zip(returned, kept, strict=True):
        assert np.array_equal(part["action_mask"] if isinstance(part, dict) else part, copy)


@pytest.mark.parametrize(
    ("actions", "game"),
    [
        ([FIRST_SENSE, FIRST_SENSE, PASS], 2),  # a pass is no sense
        ([FIRST_SENSE, 0, FIRST_SENSE], 1),
        ([ACTIONS, FIRST_SENSE, FIRST_SENSE], 0),
        ([FIRST_SENSE, -1, FIRST_SENSE], 1),  # the environment skips no game
        ([FIRST_SENSE, -5, FIRST_SENSE], 1),
    ],
)
def test_illegal_action_is_an_error_that_names_the_game_and_changes_none(actions: list[int], game: int) -> None:
    envs = RbcVectorEnv(3, opponent=first_legal, seat="white", illegal="raise")
    before, _ = envs.reset(seed=1)
    with pytest.raises(IllegalAction, match=f"game {game} does not allow {actions[game]}: White is to sense") as error:
        envs.step(np.array(actions))
    assert (error.value.game, error.value.action) == (game, actions[game])
    after, *_, then = envs.step(np.full(3, FIRST_SENSE + chess.A1))
    assert np.array_equal(before[:, :6], after[:, :6])
    assert after[:, 21].all()
    with pytest.raises(IllegalAction, match="game 1 does not allow 4673: White is to move"):
        envs.step(np.array([PASS, FIRST_SENSE, PASS]))
    assert then["action_mask"][:, PASS].all()


def test_illegal_action_loses_the_game_alone() -> None:
    envs, single = (
        kind(opponent=first_legal, seat="white", **n) for kind, n in ((RbcVectorEnv, {"num_envs": 3}), (RbcEnv, {}))
    )
    envs.reset(seed=1)
    envs.step(np.full(3, FIRST_SENSE + chess.E2))
    _, rewards, ended, _, info = envs.step(np.array([PASS, FIRST_SENSE, PASS]))
    assert rewards.tolist() == [0, -1, 0]
    assert ended.tolist() == info["illegal_action"].tolist() == [False, True, False]
    assert np.flatnonzero(info["action_mask"][1]).tolist() == [PASS]
    seen, rewards, ended, _, info = envs.step(np.array([FIRST_SENSE, 0, FIRST_SENSE]))
    assert (rewards.any(), ended.any(), info["illegal_action"].any()) == (False, False, False)
    assert seen[:, 23, 0, 0].tolist() == [1, 0, 1], "turns completed: the second game is a new one"
    assert seen[:, 20, 0, 0].tolist() == [0, 1, 0]
    single.reset(seed=1)
    _, reward, over, _, info = single.step(0)
    assert (reward, over, info["illegal_action"]) == (-1.0, True, True)
    with pytest.raises(ResetNeeded):
        single.step(0)


def test_actions_of_a_wrong_type_or_shape_are_refused() -> None:
    envs = RbcVectorEnv(2)
    envs.reset(seed=1)
    with pytest.raises(TypeError, match="actions: their type is float64"):
        envs.step(np.full(2, 1.0))
    with pytest.raises(ValueError, match=r"actions: their shape is \(3,\); it must be \(2,\)"):
        envs.step(np.full(3, FIRST_SENSE))
    with pytest.raises(ValueError, match="illegal: 'pass' is not one of lose, raise"):
        RbcEnv(illegal="pass")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="seat: 'red' is not"):
        RbcEnv(seat="red")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="observation: 'all' is not"):
        RbcEnv(observation="all")  # type: ignore[arg-type]
    for opponent in ("random", Recorder):
        with pytest.raises(TypeError, match=re.escape(f"opponent: {opponent!r} is no policy; pass one, such as")):
            RbcEnv(opponent=opponent)  # type: ignore[arg-type]


def test_spaces_draw_legal_actions_and_obey_a_mask() -> None:
    env, envs = RbcEnv(), RbcVectorEnv(4)
    for space in (env.action_space, envs.action_space):
        space.seed(1)
    _, info = env.reset(seed=1)
    _, infos = envs.reset(seed=1)
    for _ in range(60):
        action, actions = env.action_space.sample(), envs.action_space.sample()
        assert info["action_mask"][action]
        assert env.action_masks()[action]
        assert infos["action_mask"][np.arange(4), actions].all()
        *_, ended, _, info = env.step(action)
        if ended:
            _, info = env.reset()
        *_, infos = envs.step(actions)
    only = np.zeros(ACTIONS, np.int8)
    only[7] = 1
    assert env.action_space.sample(only) == 7
    assert envs.action_space.sample((only,) * 4).tolist() == [7] * 4


class Recorder:
    """An opponent that remembers what it observed."""

    def __init__(self) -> None:
        self.begun: list[tuple[list[int], list[int]]] = []
        self.decided: list[tuple[bool, list[int], list[int]]] = []
        self.is_closed = False

    def begin(self, games: NDArray[np.int64], colors: NDArray[np.int32]) -> None:
        self.begun.append((games.tolist(), colors.tolist()))

    def __call__(self, decisions: Decisions) -> NDArray[np.int64]:
        self.decided.append((decisions.is_sense, decisions.games.tolist(), decisions.colors.tolist()))
        masks, seen, recalled = decisions.action_masks(), decisions.observations(), decisions.information_states()
        assert masks.shape == (len(decisions.games), ACTIONS)
        assert (seen[:, 22, 0, 0] == decisions.colors).all(), "the opponent's view"
        assert seen[:, 20 if decisions.is_sense else 21].all()
        assert len(recalled) == len(decisions.games)
        return masks.argmax(1)

    def close(self) -> None:
        self.is_closed = True


def test_opponent_hears_of_games_and_decides_in_its_own_view() -> None:
    opponent = Recorder()
    envs = RbcVectorEnv(3, opponent=opponent, seat="white", max_turns=1)
    envs.reset(seed=1)
    assert opponent.begun == [([0, 1, 2], [0, 0, 0])]
    envs.step(np.full(3, FIRST_SENSE))
    assert opponent.decided == []
    *_, ended, _, _ = envs.step(np.full(3, PASS))
    assert opponent.decided == [(True, [0, 1, 2], [0] * 3), (False, [0, 1, 2], [0] * 3)]
    assert ended.all()
    envs.step(np.zeros(3, np.int64))
    assert opponent.begun[1:] == [([0, 1, 2], [0, 0, 0])]
    envs.close()
    assert opponent.is_closed


def test_illegal_action_of_the_opponent_is_said_to_be_its() -> None:
    env = RbcEnv(seat="black", opponent=lambda decisions: np.array([0]))
    message = (
        "the opponent's actions: game 0 does not allow 0: White is to sense; a sense is a number from 4673 to 4737. "
    )
    with pytest.raises(IllegalAction) as error:
        env.reset(seed=1)
    assert str(error.value) == message + "The learner has acted, and the games cannot go on: call reset()"
    env = RbcEnv(seat="black", opponent=lambda decisions: np.array([0.5]))
    with pytest.raises(TypeError, match="the opponent's actions: their type is float64"):
        env.reset(seed=1)


class FailsOnce:
    """Draws at random, but its third decision is illegal, or an error."""

    def __init__(self, error: Exception | None) -> None:
        self.calls, self.error = 0, error

    def __call__(self, decisions: Decisions) -> NDArray[np.int64]:
        self.calls += 1
        if self.calls != 3:
            return decisions.draw()
        if self.error is not None:
            raise self.error
        return np.zeros(decisions.games.size, np.int64)


@pytest.mark.parametrize("error", [None, KeyError("mine")])
@pytest.mark.parametrize("n", [0, 3])
def test_no_step_follows_an_error_of_the_opponent_until_reset(error: Exception | None, n: int) -> None:
    env: Any = (
        RbcVectorEnv(n, seat="white", opponent=FailsOnce(error))
        if n
        else RbcEnv(seat="white", opponent=FailsOnce(error))
    )

    def actions(action: int) -> Any:
        return np.full(n, action) if n else action

    env.reset(seed=1)
    for action in (FIRST_SENSE, PASS, FIRST_SENSE):
        env.step(actions(action))
    with pytest.raises(type(error) if error else IllegalAction):
        env.step(actions(PASS))
    with pytest.raises(ResetNeeded, match="call reset"):
        env.step(actions(FIRST_SENSE))
    if n:
        with pytest.raises(ResetNeeded, match="call reset"):
            env.reset(options={"reset_mask": np.array([True, False, False])})
    else:
        with pytest.raises(ResetNeeded, match="call reset"):
            env.action_masks()
    _, infos = env.reset(seed=1)
    assert infos["action_mask"].any()
    assert not np.any(env.step(actions(FIRST_SENSE))[2])


def test_illegal_action_of_the_learner_that_raises_lets_the_game_go_on() -> None:
    env = RbcEnv(seat="white", illegal="raise")
    env.reset(seed=1)
    with pytest.raises(IllegalAction, match="No game has changed"):
        env.step(0)
    env.step(FIRST_SENSE)


@pytest.mark.parametrize("make", [RbcEnv, RbcVectorEnv])
def test_step_before_reset_asks_for_a_reset(make: Any) -> None:
    env = make(seat="white")
    with pytest.raises(ResetNeeded, match="call reset"):
        env.step(FIRST_SENSE if make is RbcEnv else np.array([FIRST_SENSE]))


@pytest.mark.parametrize("forfeits", [False, True])
def test_random_opponent_of_a_game_does_not_depend_on_the_other_games(forfeits: bool) -> None:
    def played(n: int) -> list[str]:
        envs, boards = RbcVectorEnv(n, seat="white", render_mode="ansi", render_view="truth"), []
        _, infos = envs.reset(seed=1)
        for step in range(24):
            actions = np.array([np.flatnonzero(mask)[-1 if step % 3 else 0] for mask in infos["action_mask"]])
            if forfeits and step == 3 and n > 1:
                actions[1] = 0  # from here on game 1 is out of step
            infos = envs.step(actions)[4]
            boards.append(str(envs.render()[0]))  # type: ignore[index]
        return boards

    assert played(3) == played(1)


def test_decisions_cannot_be_used_after_their_call() -> None:
    kept: list[Decisions] = []

    def opponent(decisions: Decisions) -> NDArray[np.int64]:
        kept.append(decisions)
        return decisions.draw()

    env = RbcEnv(seat="white", opponent=opponent)
    env.reset(seed=1)
    env.step(FIRST_SENSE)
    env.step(PASS)
    assert [decisions.is_sense for decisions in kept] == [True, False]
    for decisions in kept:
        assert not decisions.observations()[0, 22].any()  # of Black, as ever
        assert decisions.information_states()[0, 0, 8] == 0
        for ask in (decisions.action_masks, decisions.draw):
            with pytest.raises(RuntimeError, match="they no longer wait"):
                ask()


def test_change_of_a_mask_in_the_infos_does_not_change_what_is_legal() -> None:
    env = RbcEnv(seat="white")
    _, info = env.reset(seed=1)
    info["action_mask"][:] = 0
    info["action_mask"][7] = 1
    assert env.action_space.sample() >= FIRST_SENSE
    envs = RbcVectorEnv(2, seat="white")
    _, infos = envs.reset(seed=1)
    infos["action_mask"][:] = 0
    infos["action_mask"][:, 7] = 1
    assert (envs.action_space.sample() >= FIRST_SENSE).all()


@pytest.mark.parametrize("seat", ["white", "black"])
def test_history_of_the_whole_game_is_in_its_last_observation(seat: Any) -> None:
    env = RbcEnv(seat=seat, observation="history", max_turns=3)
    observation, _ = env.reset(seed=1)
    assert observation.shape == (HEADER_ROWS + 4, 14)
    for turn in range(3):
        env.step(FIRST_SENSE + 10 + turn)
        observation, _, over, _, info = env.step(PASS)
    assert over
    assert info["win_reason"] == WinReason.TURN_LIMIT.value
    assert observation[HEADER_ROWS:, 1].tolist() == [10, 11, 12, -1]


def test_random_seats_are_both_colours_and_first_observations_tell_them_apart() -> None:
    (turns, _), (histories, _) = (RbcVectorEnv(64, observation=kind).reset(seed=3) for kind in ("turn", "history"))
    assert (histories[:, 0, 8] == turns[:, 22, 0, 0]).all()
    assert 16 < histories[:, 0, 8].sum() < 48


def test_human_sees_each_position_of_a_single_game(capsys: pytest.CaptureFixture[str]) -> None:
    env = RbcEnv(seat="white", render_mode="human")
    env.reset(seed=1)
    env.step(FIRST_SENSE)
    first, second = capsys.readouterr().out.strip().split("\n\n")
    assert "ply 1: White to sense" in first
    assert "ply 1: White to move" in second
    with pytest.raises(ValueError, match="render_mode: 'human' is none of rgb_array, ansi, svg"):
        RbcVectorEnv(2, render_mode="human")


def test_arrays_without_copies_are_read_only_and_overwritten() -> None:
    envs, others = RbcVectorEnv(3, copy=False), RbcVectorEnv(3)
    for each in (envs, others):
        each.action_space.seed(2)
    kept, info = envs.reset(seed=1)
    others.reset(seed=1)
    for _ in range(40):
        seen, *_, infos = envs.step(envs.action_space.sample())
        expected, *_, of_others = others.step(others.action_space.sample())
        assert np.array_equal(seen, expected)
        assert np.array_equal(infos["action_mask"], of_others["action_mask"])
    assert np.shares_memory(kept, seen)
    assert np.shares_memory(info["action_mask"], infos["action_mask"])
    for array in (kept, infos["action_mask"]):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_seeds_give_these_games_on_every_machine() -> None:
    """The digest of games of one seed: random numbers are integers, and made by counting (:mod:`gm_env.kernels`)."""
    envs, digest = RbcVectorEnv(16), hashlib.sha256()
    envs.action_space.seed(2)
    digest.update(envs.reset(seed=1)[0].tobytes())
    for _ in range(300):
        observed, rewards, ended, _, infos = envs.step(envs.action_space.sample())
        for part in (observed, rewards.astype("<f8"), ended, infos["action_mask"]):
            digest.update(part.tobytes())
    assert digest.hexdigest()[:16] == "81a5f77d649b20b9"
