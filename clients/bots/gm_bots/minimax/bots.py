"""``minimax`` as a bot: chess, and blind chess. Each game has an engine of its own, in a process of its own."""

from __future__ import annotations

import random
import shlex
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import chess.engine
import trio

from gm_arena.bot import Bot, Bots, Place
from gm_arena.uci_bot import Limits, UciBot, UciBots
from gm_client.blocking import GameState, HistoryReply
from gm_client.trio_client import Turn

from .recon_bot import ReconBot
from .settings import NAME, Settings
from .uci import SEED

#: -P: no file in the working directory replaces a module of ours.
COMMAND = shlex.join([sys.executable, "-P", "-m", "gm_bots.minimax"])


def make(**options: str) -> Bots:
    """Return the bots for the entry point.

    :param options: ``depth``, ``nodes`` and ``movetime`` (seconds, also with a clock) limit the search of a move;
        ``seed``, ``margin`` and ``hash`` are the engine's options of these names; ``check_extension=off`` removes the
        extra ply for a side in check.
    """
    settings = Settings.read(options)
    limits = Limits(seconds=settings.seconds, depth=settings.depth, nodes=settings.nodes)
    described = ",".join(f"{name}={value}" for name, value in options.items())
    return MinimaxBots(f"{NAME}:{described}" if described else NAME, settings.uci_options(), limits, settings.seed)


class MinimaxBots(Bots):
    """The factory of the bots, which starts the engine's command anew for every game.

    :param seed: the seed from which each game's own seed is derived; None, or 0, always plays the best moves, so that
        games repeat.
    """

    variants = frozenset({"standard", "rbc"})
    defaults: ClassVar[dict[str, Any]] = {"variant": "standard"}

    def __init__(self, name: str, options: dict[str, str], limits: Limits, seed: int | None = None) -> None:
        self.name, self._seed, self._rng = name, seed, random.Random(seed)
        self._engines = UciBots(COMMAND, options, limits)

    async def start(self, nursery: trio.Nursery) -> MinimaxBot:
        return MinimaxBot(
            await self._engines.start(nursery), Seed(self._seed, self._rng.getrandbits(64)) if self._seed else None
        )


@dataclass(frozen=True)
class Seed:
    """The seed of one bot.

    :ivar own: the seed given.
    :ivar chance: a number drawn from it, for games that have no seed of their own.
    """

    own: int
    chance: int

    def of(self, place: Place) -> int:
        """Return the engine's seed for one game; it does not depend on which of a match's games begins first."""
        game = self.chance if place.seed is None else f"{place.seed} {place.color}"
        return random.Random(f"{self.own} {game}").randint(1, SEED.most)


class MinimaxBot(Bot):
    """An engine that is given the board, or in blind chess a guess at it."""

    def __init__(self, engine: UciBot, seed: Seed | None = None) -> None:
        self._engine, self._seed = engine, seed
        self._player: Bot = engine

    @property
    def last_info(self) -> chess.engine.InfoDict:
        """The engine's report on its last move: see :class:`UciBot`."""
        return self._engine.last_info

    async def begin(self, place: Place) -> None:
        if place.variant == "rbc":
            self._player = ReconBot(self._engine)
        if self._seed is not None:
            self._engine.set_option("Seed", str(self._seed.of(place)))
        await self._player.begin(place)

    async def take_turn(self, turn: Turn) -> None:
        await self._player.take_turn(turn)
        self.score, self.depth = self._engine.score, self._engine.last_info.get("depth")

    async def end(self, state: GameState, history: Callable[[], Awaitable[HistoryReply]]) -> None:
        await self._player.end(state, history)

    async def aclose(self) -> None:
        await self._engine.aclose()
