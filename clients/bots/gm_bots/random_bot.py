"""``random``: a bot that senses and moves at random, in every variant; the least that any other bot must beat."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from typing import Any, ClassVar, get_args

import trio

from gm_arena.bot import Bot, Bots, Place
from gm_client.blocking import GameState, HistoryReply
from gm_client.trio_client import Turn
from gm_protocol.endings import Cause, Ending
from gm_protocol.messages import Variant
from gm_protocol.state import side_of

from .options import only, whole


def make(**options: str) -> Bots:
    """Return the bots for the entry point.

    :param options: ``seed``, a number, which makes the moves of each of the bot's games and colours repeatable as
        long as the opponent's are.
    """
    only("random", options, "seed")
    return RandomBots(whole("random", options, "seed", 0, 2**63))


class RandomBots(Bots):
    """The factory of random movers."""

    name = "random"
    variants = frozenset(get_args(Variant))
    defaults: ClassVar[dict[str, Any]] = {"variant": "standard"}

    def __init__(self, seed: int | None = None) -> None:
        self._seed, self._rng = seed, random.Random(seed)

    async def start(self, nursery: trio.Nursery) -> Bot:
        return RandomBot(random.Random(self._rng.getrandbits(64)), self._seed)


class RandomBot(Bot):
    """A random mover. It claims every draw that it may, since its games would be long."""

    def __init__(self, rng: random.Random, seed: int | None = None) -> None:
        self._rng, self._seed = rng, seed

    async def begin(self, place: Place) -> None:
        if place.seed is not None:  # the game's seed, so that the order in which games begin does not matter
            self._rng = random.Random(f"{self._seed} {place.seed} {place.seat}")

    async def take_turn(self, turn: Turn) -> None:
        if turn.state["draws"]:
            await turn.end_game(Ending.by(Cause.DRAW_CLAIM, side_of(turn.color)).termination)
            return
        if turn.sense_actions:
            await turn.sense(self._rng.choice(turn.sense_actions))
        may_pass = "last_result" in turn.state  # in variants where a move may fail
        await turn.move(self._rng.choice([*turn.move_actions, None] if may_pass else turn.move_actions))

    async def end(self, state: GameState, history: Callable[[], Awaitable[HistoryReply]]) -> None:
        """Do nothing: there is nothing to keep."""

    async def aclose(self) -> None:
        """Do nothing: there is nothing to close."""
