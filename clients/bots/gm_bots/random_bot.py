"""``random``: a bot that senses and moves at random, in every variant; the least that any other bot must beat."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from typing import Any, ClassVar, get_args

import trio
from chess import Move, Square

from gm_arena.bot import Bot, Bots, Place
from gm_arena.player_bot import PlayerBots
from gm_client.blocking import GameState, HistoryReply
from gm_client.trio_client import Turn
from gm_protocol.endings import Cause, Ending
from gm_protocol.messages import Variant
from gm_protocol.state import side_of
from gm_recon import Player

from .options import only, whole


def make(**options: str) -> Bots:
    """Return the bots for the entry point.

    :param options: ``seed``, a number, which makes the moves of each of the bot's games and colours repeatable as
        long as the opponent's are.
    """
    only("random", options, "seed")
    return RandomBots(whole("random", options, "seed", 0, 2**63))


class RandomPlayer(Player):
    """A random mover in blind chess."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng

    def choose_sense(self, sense_actions: list[Square], move_actions: list[Move], seconds_left: float) -> Square:
        return self._rng.choice(sense_actions)

    def choose_move(self, move_actions: list[Move], seconds_left: float) -> Move | None:
        return self._rng.choice([*move_actions, None])


class RandomBots(PlayerBots):
    """The factory of random movers."""

    variants = frozenset(get_args(Variant))
    defaults: ClassVar[dict[str, Any]] = {"variant": "standard"}
    joins_late = True

    def __init__(self, seed: int | None = None) -> None:
        super().__init__("random", RandomPlayer, seed=seed, others=OpenRandomBots(seed))


class OpenRandomBots(Bots):
    """The factory of random movers in the variants other than blind chess."""

    name = "random"
    variants = frozenset(get_args(Variant)) - {"rbc"}
    defaults: ClassVar[dict[str, Any]] = {"variant": "standard"}

    def __init__(self, seed: int | None) -> None:
        self._seed, self._rng = seed, random.Random(seed)

    async def start(self, nursery: trio.Nursery) -> Bot:
        return RandomBot(random.Random(self._rng.getrandbits(64)), self._seed)


class RandomBot(Bot):
    """A random mover. It claims every draw that it may, since its games would be long."""

    def __init__(self, rng: random.Random, seed: int | None) -> None:
        self._rng, self._seed = rng, seed

    async def begin(self, place: Place) -> None:
        if place.seed is not None:  # the game's seed, so that the order in which games begin does not matter
            self._rng = random.Random(f"{self._seed} {place.seed} {place.seat}")

    async def take_turn(self, turn: Turn) -> None:
        if turn.state["draws"]:
            await turn.end_game(Ending.by(Cause.DRAW_CLAIM, side_of(turn.color)).termination)
            return
        await turn.move(self._rng.choice(turn.move_actions))

    async def end(self, state: GameState, history: Callable[[], Awaitable[HistoryReply]]) -> None:
        """Do nothing: there is nothing to keep."""

    async def aclose(self) -> None:
        """Do nothing: there is nothing to close."""
