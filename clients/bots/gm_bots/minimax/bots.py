"""``minimax`` as a bot: blind chess as a player, and chess by the engine, in a process of its own for each game."""

from __future__ import annotations

import random
import shlex
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import trio

from gm_arena.bot import Bot, Bots, Place
from gm_arena.player_bot import PlayerBots
from gm_arena.uci_bot import Limits, UciBot, UciBots
from gm_client.blocking import GameState, HistoryReply
from gm_client.trio_client import Turn

from .player import Minimax
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
    described = ",".join(f"{name}={value}" for name, value in options.items())
    return MinimaxBots(f"{NAME}:{described}" if described else NAME, Settings.read(options))


class MinimaxBots(PlayerBots):
    """The factory of the bots.

    The seed given is that from which each game's own seed is derived; None, or 0, always plays the best moves, so that
    games repeat.
    """

    variants = frozenset({"standard", "rbc"})
    defaults: ClassVar[dict[str, Any]] = {"variant": "standard"}
    joins_late = True

    def __init__(self, name: str, settings: Settings) -> None:
        super().__init__(name, lambda rng: Minimax(settings, rng), seed=settings.seed, others=ChessBots(name, settings))


class ChessBots(Bots):
    """The factory of the bots for chess, which starts the engine's command anew for every game."""

    variants = frozenset({"standard"})
    defaults: ClassVar[dict[str, Any]] = {"variant": "standard"}

    def __init__(self, name: str, settings: Settings) -> None:
        self.name, self._seed, self._rng = name, settings.seed, random.Random(settings.seed)
        limits = Limits(seconds=settings.seconds, depth=settings.depth, nodes=settings.nodes)
        self._engines = UciBots(COMMAND, settings.uci_options(), limits)

    async def start(self, nursery: trio.Nursery) -> ChessBot:
        chance = self._rng.getrandbits(64)
        return ChessBot(await self._engines.start(nursery), Seed(self._seed, chance) if self._seed else None)


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


class ChessBot(Bot):
    """An engine in one game of chess."""

    def __init__(self, engine: UciBot, seed: Seed | None) -> None:
        self._engine, self._seed = engine, seed

    async def begin(self, place: Place) -> None:
        if self._seed is not None:
            self._engine.set_option("Seed", str(self._seed.of(place)))
        await self._engine.begin(place)

    async def take_turn(self, turn: Turn) -> None:
        await self._engine.take_turn(turn)
        self.score, self.depth = self._engine.score, self._engine.depth

    async def end(self, state: GameState, history: Callable[[], Awaitable[HistoryReply]]) -> None:
        await self._engine.end(state, history)

    async def aclose(self) -> None:
        await self._engine.aclose()
