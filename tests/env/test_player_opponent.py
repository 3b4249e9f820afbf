"""Players as opponents: the same games as in reconchess, clocks, failures, and their own bots."""

from __future__ import annotations

import json
import math
import random
from typing import Any

import chess
import numpy as np
import pytest
from chess import Move
from reconchess import GameHistory, LocalGame, Player, WinReason, play_local_game
from reconchess.bots.attacker_bot import AttackerBot
from reconchess.bots.random_bot import RandomBot
from reconchess.bots.trout_bot import TroutBot
from reconchess.history import GameHistoryEncoder

from gm_arena.stockfish import VARIABLE
from gm_env import PASS, action_of, sense_of
from gm_env import policies as ready_made
from gm_env.player_opponent import PlayerOpponent
from gm_env.turns import FIRST_SENSE
from tests.env.test_policies import differs
from tests.tools import require_module, require_tool

require_module("gymnasium")
require_module("pettingzoo")

from gm_env import rbc_v0 as rbc  # noqa: E402
from gm_env.gymnasium import RbcEnv, RbcVectorEnv  # noqa: E402

pytestmark = pytest.mark.slow

#: Moves that both players can go on making for ever.
SAFE = "4k3/p7/8/8/8/8/P7/4K3 w - - 0 1"


class Recorder(Player):  # type: ignore[misc]
    """A player that acts at random and remembers all that it observes."""

    def __init__(self, seed: int) -> None:
        self.rng, self.observed, self.acts = random.Random(seed), [], []  # type: ignore[var-annotated]
        self.saved: dict[str, Any] = {}

    def handle_game_start(self, color: chess.Color, board: chess.Board, opponent_name: str) -> None:
        self.observed.append((color, board.fen()))

    def handle_opponent_move_result(self, captured_my_piece: bool, capture_square: int | None) -> None:
        self.observed.append((captured_my_piece, capture_square))

    def choose_sense(self, sense_actions: list[int], move_actions: list[Move], seconds_left: float) -> int | None:
        self.observed.append((sense_actions.copy(), move_actions.copy(), seconds_left))
        square = self.rng.choice([*sense_actions, None])
        self.acts.append(square)
        return square

    def handle_sense_result(self, sense_result: list[Any]) -> None:
        self.observed.append(sense_result)

    def choose_move(self, move_actions: list[Move], seconds_left: float) -> Move | None:
        self.observed.append((move_actions.copy(), seconds_left))
        move = self.rng.choice([*move_actions, None])
        self.acts.append(move)
        return move

    def handle_move_result(
        self, requested_move: Move | None, taken_move: Move | None, captured: bool, capture_square: int | None
    ) -> None:
        self.observed.append((requested_move, taken_move, captured, capture_square))

    def handle_game_end(
        self, winner_color: chess.Color | None, win_reason: WinReason | None, game_history: GameHistory
    ) -> None:
        saved = json.loads(json.dumps(game_history, cls=GameHistoryEncoder))
        self.saved = {name: value for name, value in saved.items() if not name.endswith("_name")}
        self.observed.append((winner_color, win_reason))


@pytest.mark.parametrize("color", chess.COLORS)
@pytest.mark.parametrize("seed", range(3))
def test_player_is_told_what_reconchess_tells_it_in_the_same_order(seed: int, color: chess.Color) -> None:
    one, other = Recorder(seed), Recorder(100 + seed)
    game = LocalGame(seconds_per_player=None, full_turn_limit=80)
    play_local_game(*((one, other) if color else (other, one)), game=game)
    again: list[Recorder] = []

    def make() -> Recorder:
        again.append(Recorder(seed))
        return again[-1]

    env = RbcEnv(opponent=PlayerOpponent(make, seconds=None), seat="black" if color else "white", illegal="raise")
    env.reset(seed=1)
    for number, act in enumerate(other.acts):
        is_move = number % 2 == 1
        *_, over, _, info = env.step(action_of(act, not color) if is_move else FIRST_SENSE + sense_of(act, not color))
    assert over
    assert again[0].observed == one.observed
    assert again[0].saved == one.saved
    assert info["win_reason"] == game.get_win_reason().value


def test_player_acts_the_same_where_it_was_told_the_same() -> None:
    def make() -> PlayerOpponent:
        return PlayerOpponent(lambda: Recorder(3), seconds=None, failing="raise")

    assert not any(differs(seed, make) for seed in range(20))


@pytest.mark.parametrize("bot", [RandomBot, AttackerBot])
def test_reconchess_s_own_bots_play_in_many_games_at_once(bot: type) -> None:
    random.seed(5)
    opponent = PlayerOpponent(bot, failing="raise")
    envs, player = RbcVectorEnv(6, opponent=opponent, max_turns=30), ready_made.Actor(ready_made.Greedy(), seed=1)
    observed, info = envs.reset(seed=1)
    ended = 0
    for _ in range(150):
        observed, _, over, _, info = envs.step(player.act_all(observed, info["action_mask"]))
        ended += int(over.sum())
    envs.close()
    assert ended > 6


def test_trout_bot_plays_and_its_engines_are_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(require_tool("stockfish")))
    made: list[TroutBot] = []

    def make() -> TroutBot:
        made.append(TroutBot())
        return made[-1]

    env = RbcEnv(opponent=PlayerOpponent(make, failing="raise"), seat="white")
    for _ in range(2):
        _, info = env.reset(seed=1)
        for _ in range(2):
            _, _, over, _, info = env.step(int(np.flatnonzero(info["action_mask"])[0]))
            assert not over
    env.close()
    assert len(made) == 2
    for bot in made:
        assert bot.engine.protocol.returncode.result() == 0


def test_player_plays_in_pettingzoo() -> None:
    env = rbc.env(max_turns=10)
    players = {
        "player_0": ready_made.Actor(PlayerOpponent(RandomBot, failing="raise")),
        "player_1": ready_made.Actor(ready_made.Greedy()),
    }
    for _ in range(2):
        env.reset()
        for agent in env.agent_iter():
            observed, _, over, _, _ = env.last()
            env.step(None if over else players[agent].act(observed["observation"], observed["action_mask"]))
    for player in players.values():
        player.close()


class Failing(Recorder):
    """A player that raises an exception in one of its methods, from some turn on."""

    def __init__(self, method: str, turn: int = 1) -> None:
        super().__init__(1)
        self.calls, real = 0, getattr(self, method)

        def fail(*given: Any) -> Any:
            self.calls += 1
            if self.calls >= turn:
                raise KeyError("a bug of the player's")
            return real(*given)

        setattr(self, method, fail)

    def choose_sense(self, *given: Any) -> int | None:
        return chess.E4

    def choose_move(self, *given: Any) -> Move | None:
        return None


def outcome(env: RbcEnv) -> tuple[float, int, int]:
    """Pass until the game is over; return the reward, the reason, and the learner's actions."""
    _, info = env.reset(seed=1)
    for actions in range(1, 200):
        action = PASS if info["action_mask"][PASS] else FIRST_SENSE
        _, reward, over, _, info = env.step(action)
        if over:
            return float(reward), info["win_reason"], actions
    raise AssertionError("the game does not end")


LOST = 1.0, WinReason.RESIGN.value


@pytest.mark.parametrize(
    "method",
    ["choose_sense", "choose_move", "handle_sense_result", "handle_opponent_move_result", "handle_move_result"],
)
def test_player_that_raises_an_exception_loses_and_the_next_game_begins(method: str) -> None:
    env = RbcEnv(opponent=PlayerOpponent(lambda: Failing(method, 2)), seat="black", max_turns=20)
    for _ in range(2):
        with pytest.warns(RuntimeWarning, match=r"raised KeyError: \"a bug of the player's\"\. It loses the game\."):
            assert outcome(env)[:2] == LOST


def test_game_that_is_lost_before_the_learner_s_first_action_ends_with_that_action() -> None:
    env = RbcEnv(opponent=PlayerOpponent(lambda: Failing("choose_sense")), seat="black")
    with pytest.warns(RuntimeWarning, match="KeyError"):
        _, info = env.reset(seed=1)
    assert np.flatnonzero(info["action_mask"]).tolist() == [PASS]
    assert info["win_reason"] == 0
    _, reward, over, _, info = env.step(FIRST_SENSE)
    assert (reward, over, info["win_reason"], info["illegal_action"]) == (1.0, True, LOST[1], False)
    envs = RbcVectorEnv(3, opponent=PlayerOpponent(lambda: Failing("choose_sense")), seat="black")
    with pytest.warns(RuntimeWarning, match="KeyError"):
        envs.reset(seed=1)
    for _ in range(2):
        _, rewards, over, _, _ = envs.step(np.full(3, PASS))
        assert (rewards.tolist(), over.tolist()) == ([1.0] * 3, [True] * 3)
        with pytest.warns(RuntimeWarning, match="KeyError"):
            _, rewards, over, _, infos = envs.step(np.full(3, PASS))
        assert (rewards.tolist(), over.tolist()) == ([0.0] * 3, [False] * 3)
        assert infos["action_mask"].sum(1).tolist() == [1] * 3


def test_player_that_cannot_be_made_or_begin_loses() -> None:
    def make() -> Player:
        raise SystemExit("no engine")

    for failing in (make, lambda: Failing("handle_game_start")):
        with pytest.warns(RuntimeWarning, match="SystemExit: no engine|KeyError"):
            assert outcome(RbcEnv(opponent=PlayerOpponent(failing), seat="white"))[:2] == LOST


@pytest.mark.parametrize("method", ["handle_game_start", "choose_move", "handle_game_end"])
def test_player_is_closed_once_wherever_it_fails(method: str) -> None:
    closed: list[str] = []

    def make() -> Failing:
        player = Failing(method)
        vars(player)["close"] = lambda: closed.append(method)
        return player

    env = RbcEnv(opponent=PlayerOpponent(make), seat="white", fens=SAFE, max_turns=3)
    with pytest.warns(RuntimeWarning, match="a bug of the player's"):
        outcome(env)
    env.close()
    assert closed == [method]


@pytest.mark.parametrize(
    ("method", "answer", "message"),
    [
        ("choose_sense", 64, "square: 64 is not a square"),
        ("choose_sense", "e4", "square: 'e4' is not a square"),
        ("choose_move", Move.null(), "0000 is not among the move actions"),
        ("choose_move", Move.from_uci("e1e8"), "e1e8 is not among the move actions"),
        ("choose_move", "e2e4", "requested: 'e2e4' is not a chess.Move"),
    ],
)
def test_player_that_answers_nonsense_loses(method: str, answer: Any, message: str) -> None:
    def make() -> Recorder:
        player = Recorder(1)
        setattr(player, method, lambda *given: answer)
        return player

    with pytest.warns(RuntimeWarning, match=message):
        assert outcome(RbcEnv(opponent=PlayerOpponent(make), seat="white"))[:2] == LOST


def test_exception_leaves_the_environment_if_it_is_asked_to() -> None:
    env = RbcEnv(opponent=PlayerOpponent(lambda: Failing("choose_move", 2), failing="raise"), seat="white")
    with pytest.raises(KeyError, match="a bug of the player's"):
        outcome(env)
    with pytest.raises(KeyError, match="a bug of the player's"):
        outcome(env)


def test_failure_after_the_end_of_a_game_changes_no_result() -> None:
    env = RbcEnv(opponent=PlayerOpponent(lambda: Failing("handle_game_end")), seat="white", fens=SAFE, max_turns=3)
    with pytest.warns(RuntimeWarning, match=r"a bug of the player's\"\. The game was over\."):
        assert outcome(env)[:2] == (0.0, WinReason.TURN_LIMIT.value)


class Clock:
    """A clock that players advance."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


class Slow(Recorder):
    """A player that takes two seconds for a sense and three for a move."""

    def __init__(self, clock: Clock, seen: list[float]) -> None:
        super().__init__(1)
        self.clock, self.seen = clock, seen

    def choose_sense(self, sense_actions: list[int], move_actions: list[Move], seconds_left: float) -> int | None:
        self.seen.append(seconds_left)
        self.clock.seconds += 2
        return None

    def choose_move(self, move_actions: list[Move], seconds_left: float) -> Move | None:
        self.seen.append(seconds_left)
        self.clock.seconds += 3
        return None


def slow(seconds: float | None, increment: float, fen: str = SAFE) -> tuple[tuple[float, int, int], list[float]]:
    clock, seen = Clock(), []  # type: ignore[var-annotated]
    opponent = PlayerOpponent(lambda: Slow(clock, seen), seconds=seconds, increment=increment, now=clock)
    return outcome(RbcEnv(opponent=opponent, seat="white", fens=fen, max_turns=5)), seen


def test_player_has_a_clock_and_loses_by_it() -> None:
    assert slow(12.0, 1.0) == ((1.0, WinReason.TIMEOUT.value, 6), [12.0, 10.0, 8.0, 6.0, 4.0, 2.0])
    assert slow(6.0, 5.0)[0][:2] == (0.0, WinReason.TURN_LIMIT.value)
    assert slow(None, 0.0) == ((0.0, WinReason.TURN_LIMIT.value, 10), [math.inf] * 10)


def test_player_of_a_game_that_is_given_up_is_told_so() -> None:
    made: list[Recorder] = []

    def make() -> Recorder:
        made.append(Recorder(len(made)))
        return made[-1]

    env = RbcEnv(opponent=PlayerOpponent(make), seat="black")
    for _ in range(2):
        env.reset(seed=1)
    env.close()
    env.close()
    assert [player.observed[-1] for player in made] == [(None, None)] * 2
    assert sum(entry == (None, None) for entry in made[0].observed) == 1


def test_illegal_action_of_the_learner_is_its_resignation() -> None:
    player = Recorder(1)
    env = RbcEnv(opponent=PlayerOpponent(lambda: player), seat="white")
    env.reset(seed=1)
    env.step(FIRST_SENSE)
    _, reward, over, _, info = env.step(FIRST_SENSE)
    assert (reward, over, info["win_reason"], info["illegal_action"]) == (-1.0, True, 0, True)
    assert player.observed == []  # it had no turn yet
