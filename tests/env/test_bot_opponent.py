"""Bots of gmd as opponents: what they are observed beside a server, games, failures, and what they leave behind."""

from __future__ import annotations

import random
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, ClassVar

import chess
import numpy as np
import pytest
import trio

import gmd
from gm_arena.bot import Bot, BotFailed, Bots, BotUnusable, Place
from gm_arena.opponent import BotOpponent
from gm_client.blocking import GameState, HistoryReply
from gm_client.trio_client import Turn
from gm_env import PASS
from gm_env import policies as ready_made
from gm_env.opponents import Opponent
from gm_env.turns import FIRST_SENSE
from gm_recon import WinReason
from tests.tools import require_module

require_module("gymnasium")
require_module("pettingzoo")

from gm_env import pettingzoo as rbc  # noqa: E402
from gm_env.gymnasium import RbcEnv, RbcVectorEnv  # noqa: E402

pytestmark = pytest.mark.slow

Act = Callable[["Scripted", Turn], Awaitable[None]]


class Scripted(Bot):
    """A bot that remembers what it observes, and acts by a function."""

    def __init__(self, act: Act) -> None:
        self.act, self.observed, self.closed = act, [], False  # type: ignore[var-annotated]
        self.rng = random.Random(3)
        self.history: Any = None

    async def begin(self, place: Place) -> None:
        self.place = place

    async def take_turn(self, turn: Turn) -> None:
        self.observed.append([dict(turn.state), turn.sense_actions, turn.move_actions])
        await self.act(self, turn)

    async def end(self, state: GameState, history: Callable[[], Awaitable[HistoryReply]]) -> None:
        self.observed.append(dict(state))
        self.history = (await history())["history"]

    async def aclose(self) -> None:
        self.closed = True


class ScriptedBots(Bots):
    """A factory of them, which remembers them."""

    name = "scripted"
    variants = frozenset({"rbc"})
    defaults: ClassVar[dict[str, Any]] = {}

    def __init__(self, act: Act) -> None:
        self.act, self.made = act, []  # type: ignore[var-annotated]

    async def start(self, nursery: trio.Nursery) -> Bot:
        self.made.append(Scripted(self.act))
        bot: Bot = self.made[-1]
        return bot


async def at_random(bot: Scripted, turn: Turn) -> None:
    """Sense and move, and remember the replies."""
    bot.observed.append(dict(await turn.sense(bot.rng.choice([*turn.sense_actions, chess.E4, None]))))
    bot.observed.append(dict(await turn.move(bot.rng.choice([*turn.move_actions, None]))))


def played(opponent: Opponent, *, seed: int = 1, n: int = 1, games: int = 1, **options: Any) -> list[tuple[float, int]]:
    """Play games at random against an opponent; return their rewards and reasons."""
    envs, found = RbcVectorEnv(n, opponent=opponent, **options), []
    envs.action_space.seed(seed)
    _, info = envs.reset(seed=seed)
    while len(found) < games:
        _, rewards, over, _, info = envs.step(envs.action_space.sample())
        found += [(float(rewards[game]), int(info["win_reason"][game])) for game in np.flatnonzero(over)]
    envs.close()
    return found


def square(number: int | None) -> str | None:
    return None if number is None else chess.square_name(number)


@pytest.mark.parametrize(("seat", "seed"), [("white", 1), ("black", 5)])
def test_bot_is_told_what_a_server_tells_it(seat: Any, seed: int) -> None:
    bots = ScriptedBots(at_random)
    played(BotOpponent(bots, failing="raise"), seat=seat, seed=seed, max_turns=30)
    (bot,) = bots.made
    observed, history, ids = iter(bot.observed), bot.history, {"white": 2, "black": 1}
    if seat == "white":
        ids = {"white": 1, "black": 2}
    with gmd.background_daemon() as daemon:
        players = {"player_white": ids["white"], "player_black": ids["black"]}
        made = daemon.ask("new_game", **players, variant="rbc", max_turns=30, clock=None)
        over = False
        for number in range(60):
            side, index = ("white", "black")[number % 2], number // 2
            of_side = "true" if side == "white" else "false"
            asks = {"game_id": made["game_id"], "player": ids[side], "brief": True}
            if ids[side] == 2:
                before = daemon.ask("state", **asks, actions=True)
                assert next(observed) == [before["state"], before["sense_actions"], before["move_actions"]]
            sensed = daemon.ask("sense", **asks, square=square(history["senses"][of_side][index]))
            moves = history["requested_moves"][of_side]
            moved = daemon.ask("move", **asks, move=moves[index] and moves[index]["value"])
            over = moved["state"]["phase"] == "over"
            if ids[side] == 2:
                assert next(observed) == sensed
                assert next(observed) == moved
            if over:
                break
        assert over
        assert next(observed) == daemon.ask("state", **{**asks, "player": 2})["state"]
        saved = daemon.ask("history", game_id=made["game_id"])["history"]
        assert {**saved, "white_name": None, "black_name": None} == history
    assert bot.closed


@pytest.mark.parametrize("bot", ["random:seed=3", "minimax:depth=1"])
def test_bots_play_in_many_games_and_the_environment_s_seed_decides_them(bot: str) -> None:
    def play(seed: int) -> list[tuple[float, int]]:
        return played(BotOpponent(bot, failing="raise"), seed=seed, n=4, games=4, max_turns=8)

    assert play(1) == play(1)


def test_reconchess_bot_in_a_process_plays_and_ends_with_the_environment() -> None:
    require_module("reconchess")
    before = threading.active_count()
    opponent = BotOpponent("reconchess:reconchess.bots.attacker_bot", failing="raise")
    assert len(played(opponent, games=2, n=2, max_turns=12)) >= 2
    assert threading.active_count() <= before


def test_bot_plays_in_pettingzoo() -> None:
    env = rbc.env(max_turns=8)
    bot = ready_made.Player(BotOpponent("random:seed=1", failing="raise"))
    players = {"player_0": ready_made.Player(ready_made.Greedy()), "player_1": bot}
    for _ in range(2):
        env.reset()
        for agent in env.agent_iter():
            observed, _, over, _, _ = env.last()
            env.step(None if over else players[agent].act(observed["observation"], observed["action_mask"]))
    bot.close()


async def raises(bot: Scripted, turn: Turn) -> None:
    raise KeyError("a bug of the bot's")


async def moves_illegally(bot: Scripted, turn: Turn) -> None:
    await turn.move("e1e8")


async def writes_no_move(bot: Scripted, turn: Turn) -> None:
    await turn.move("check")


async def senses_twice(bot: Scripted, turn: Turn) -> None:
    await turn.sense("e4")
    await turn.sense("e5")


async def senses_nowhere(bot: Scripted, turn: Turn) -> None:
    await turn.sense("i9")


async def moves_twice(bot: Scripted, turn: Turn) -> None:
    await turn.move(None)
    await turn.move(None)


async def does_nothing(bot: Scripted, turn: Turn) -> None:
    await turn.sense("e4")


async def claims_a_draw(bot: Scripted, turn: Turn) -> None:
    await turn.end_game("draw_repetition")


FAILURES = [
    (raises, "a bug of the bot's"),
    (moves_illegally, "move 'e1e8' is not in move_actions"),
    (writes_no_move, "move 'check' is not in move_actions"),
    (senses_twice, "sense 'e5' is not possible: the bot has sensed in this turn"),
    (senses_nowhere, "sense 'i9' is not possible: there is no such square"),
    (moves_twice, "it has acted after its turn"),
    (does_nothing, "it has made no move in its turn"),
    (claims_a_draw, "end_game 'draw_repetition' is not possible: only a resignation is"),
]


@pytest.mark.parametrize(("act", "message"), FAILURES, ids=lambda given: getattr(given, "__name__", ""))
def test_bot_that_fails_loses_its_game_and_the_next_begins(act: Act, message: str) -> None:
    bots = ScriptedBots(act)
    with pytest.warns(RuntimeWarning, match=rf"scripted has failed: .*{message}.* It loses the game"):
        assert played(BotOpponent(bots), games=2, seat="black") == [(1.0, WinReason.RESIGN.value)] * 2
    assert all(bot.closed for bot in bots.made)
    with pytest.raises((BotFailed, KeyError), match=message):
        played(BotOpponent(ScriptedBots(act), failing="raise"), seat="white")


def test_bot_may_resign_and_is_told_of_the_end() -> None:
    async def resign(bot: Scripted, turn: Turn) -> None:
        await turn.resign()

    bots = ScriptedBots(resign)
    assert played(BotOpponent(bots, failing="raise"), seat="white") == [(1.0, WinReason.RESIGN.value)]
    (bot,) = bots.made
    assert (bot.observed[-1]["termination"], bot.observed[-1]["result"], bot.closed) == (
        "resignation_black",
        "1-0",
        True,
    )
    assert bot.history["win_reason"] == {"type": "WinReason", "value": "RESIGN"}


def test_bot_may_move_without_a_sense() -> None:
    async def only_move(bot: Scripted, turn: Turn) -> None:
        await turn.move(turn.move_actions[0])

    bots = ScriptedBots(only_move)
    played(BotOpponent(bots, failing="raise"), max_turns=5)
    (bot,) = bots.made
    assert set(bot.history["senses"]["true" if bot.place.color else "false"]) == {None}


def test_game_that_is_given_up_closes_its_bot() -> None:
    bots = ScriptedBots(at_random)
    env = RbcEnv(opponent=BotOpponent(bots, failing="raise"), seat="black")
    for _ in range(2):
        env.reset(seed=1)
        env.step(FIRST_SENSE)
        env.step(PASS)
    env.close()
    assert [bot.closed for bot in bots.made] == [True, True]
    assert [bot.history for bot in bots.made] == [None, None]
    env.close()


def test_bot_that_plays_no_rbc_or_is_unknown_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BotUnusable, match="plays chess960, crazyhouse, standard, and not RBC"):
        BotOpponent("uci:stockfish")
    with pytest.raises(BotUnusable, match="'nobody' is not a bot"):
        BotOpponent("nobody")
