"""Bots as opponents by their names; failures and clocks are those of any player (``test_player_opponent.py``)."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import trio
from chess import Move, Square

from gm_arena.bot import Bot, Bots, BotUnusable
from gm_arena.opponent import BotOpponent
from gm_arena.player_bot import PlayerBots
from gm_arena.specs import players_of
from gm_env import policies as ready_made
from gm_env.opponents import Opponent
from gm_recon import Player, play_local
from tests.tools import require_module, require_tool

require_module("gymnasium")
require_module("pettingzoo")

from gm_env import rbc_v0 as rbc  # noqa: E402
from gm_env.gymnasium import RbcVectorEnv  # noqa: E402

pytestmark = pytest.mark.slow


def played(opponent: Opponent, *, n: int = 1, games: int = 1, **options: Any) -> list[tuple[float, int]]:
    """Play games at random against an opponent; return their rewards and reasons."""
    envs, found = RbcVectorEnv(n, opponent=opponent, **options), []
    envs.action_space.seed(1)
    _, info = envs.reset(seed=1)
    while len(found) < games:
        _, rewards, over, _, info = envs.step(envs.action_space.sample())
        found += [(float(rewards[game]), int(info["win_reason"][game])) for game in np.flatnonzero(over)]
    envs.close()
    return found


@pytest.mark.parametrize("bot", ["random:seed=3", "minimax:depth=1,seed=3"])
def test_bot_with_a_seed_plays_the_same_games_again(bot: str) -> None:
    games = [played(BotOpponent(bot, failing="raise"), n=4, games=4, max_turns=8) for _ in range(2)]
    assert games[0] == games[1]


def test_bot_written_for_reconchess_plays() -> None:
    require_module("reconchess")
    opponent = BotOpponent("reconchess:reconchess.bots.attacker_bot", failing="raise")
    assert len(played(opponent, games=2, n=2, max_turns=12)) >= 2


def test_bot_plays_in_pettingzoo() -> None:
    env = rbc.env(max_turns=8)
    bot = ready_made.Actor(BotOpponent("random:seed=1", failing="raise"))
    players = {"player_0": ready_made.Actor(ready_made.Greedy()), "player_1": bot}
    for _ in range(2):
        env.reset()
        for agent in env.agent_iter():
            observed, _, over, _, _ = env.last()
            env.step(None if over else players[agent].act(observed["observation"], observed["action_mask"]))
    bot.close()


class Closing(Player):
    """A player that holds something."""

    open = 0

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        Closing.open += 1

    def choose_sense(self, sense_actions: list[Square], move_actions: list[Move], seconds_left: float) -> None:
        return None

    def choose_move(self, move_actions: list[Move], seconds_left: float) -> Move | None:
        return self._rng.choice(move_actions)

    def close(self) -> None:
        Closing.open -= 1


def test_players_are_closed_after_their_games_and_with_the_environment() -> None:
    played(BotOpponent(PlayerBots("closing", Closing), failing="raise"), n=3, games=3, max_turns=4)
    assert Closing.open == 0


class OtherBots(Bots):
    """Bots of RBC that are no players."""

    name = "other"
    variants = frozenset({"rbc"})
    defaults: ClassVar[dict[str, Any]] = {}

    async def start(self, nursery: trio.Nursery) -> Bot:
        raise NotImplementedError


def test_bot_that_plays_no_rbc_or_is_no_player_or_is_unknown_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BotUnusable, match="plays chess960, crazyhouse, standard, and not RBC"):
        BotOpponent("uci:stockfish")
    with pytest.raises(BotUnusable, match=r"other is no gm_recon\.Player, and plays on a server only"):
        BotOpponent(OtherBots())
    with pytest.raises(BotUnusable, match="'nobody' is not a bot"):
        BotOpponent("nobody")


@contextmanager
def two(spec: str) -> Iterator[tuple[Player, Player]]:
    make = players_of(spec)
    players = make(), make()
    yield players
    for player in players:
        getattr(player, "close", lambda: None)()


@pytest.mark.parametrize("spec", ["random:seed=1", "expectation:positions=4,depth=1,refined=2,seed=1"])
def test_players_by_name_play_without_a_server(spec: str) -> None:
    if spec.startswith("expectation"):
        require_tool("stockfish")
    records = []
    for _ in range(2):
        with two(spec) as players:
            records.append(play_local(*players, seconds=None, max_turns=4))
    assert records[0] == records[1]
    assert len(records[0].turns) > 2
