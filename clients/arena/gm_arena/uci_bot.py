"""UCI engines, each game's a process of its own, by python-chess's ``chess.engine``."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import chess
import chess.engine
import trio

from gm_client.blocking import GameState
from gm_client.trio_client import Turn

from .boards import BoardBot
from .bot import BotFailed, Bots, BotUnusable, Place

T = TypeVar("T")

#: Seconds of thought for a move where there is no clock and nothing else is said.
DEFAULT_MOVE_SECONDS = 1.0

#: Seconds in which an engine may end by itself.
QUIT_SECONDS = 2.0

#: python-chess's calls block, each for as long as an engine thinks: so each bot has a thread while it does.
_THREADS = trio.CapacityLimiter(1_000)


@dataclass(frozen=True)
class Limits:
    """What an engine's thought ends by. Seconds hold where the game has no clock, the others always."""

    seconds: float | None = None
    depth: int | None = None
    nodes: int | None = None

    def of(self, state: GameState, options: Mapping[str, Any]) -> chess.engine.Limit:
        """For one move."""
        limit = chess.engine.Limit(depth=self.depth, nodes=self.nodes)
        clock, kind = state["clock"], options.get("clock")
        if clock is None or kind is None:
            counted = self.depth is not None or self.nodes is not None
            limit.time = self.seconds or (None if counted else DEFAULT_MOVE_SECONDS)
            return limit
        limit.white_clock, limit.black_clock = clock["white"], clock["black"]
        if "initial" in kind:
            limit.white_inc = limit.black_inc = kind.get("increment", 0)
        else:  # so much for this move, and what is left of it is lost
            limit.remaining_moves = 1
        return limit


class UciBots(Bots):
    """An engine's command, which is started anew for every game."""

    defaults: ClassVar[dict[str, Any]] = {"variant": "standard", "draws": "automatic"}

    def __init__(self, command: str, options: Mapping[str, str] | None = None, limits: Limits | None = None) -> None:
        try:
            self._command = shlex.split(command)
        except ValueError as error:
            raise BotUnusable(f"uci:{command}: {error}") from None
        if not self._command:
            raise BotUnusable("uci: needs a command, such as uci:stockfish")
        self.name = command
        self.variants = frozenset({"standard", "chess960", "crazyhouse"})
        self._options, self._limits = dict(options or {}), limits or Limits()

    async def start(self, nursery: trio.Nursery) -> UciBot:
        engine = await trio.to_thread.run_sync(self._start, limiter=_THREADS)  # python-chess gives it ten seconds
        return UciBot(engine, self._limits)

    def _start(self) -> chess.engine.SimpleEngine:
        try:
            engine = chess.engine.SimpleEngine.popen_uci(self._command, setpgrp=True)
        except (OSError, chess.engine.EngineError, TimeoutError) as error:
            raise BotFailed(f"{self._command[0]!r} cannot be started as a UCI engine: {_reason(error)}") from None
        try:
            engine.configure(self._options)
            self.name = engine.id.get("name", self.name)
            self.variants = frozenset(_variants(engine))
        except (chess.engine.EngineError, TimeoutError) as error:
            engine.close()
            raise BotFailed(f"{self.name}: {_reason(error)}") from None
        return engine


class UciBot(BoardBot):
    """An engine in one game.

    :ivar last_info: what the engine said of its last move: ``depth``, ``nodes``, ``pv``, and as ``score`` a
        ``chess.engine.PovScore``; of these what it said at all.
    """

    def __init__(self, engine: chess.engine.SimpleEngine, limits: Limits) -> None:
        self._engine, self._limits = engine, limits
        self._place: Place
        self.last_info: chess.engine.InfoDict = {}

    async def begin(self, place: Place) -> None:
        await super().begin(place)
        self._place = place

    async def choose(self, turn: Turn, board: chess.Board) -> None:
        result = await self.think(turn.state, board)
        if result.resigned:
            await turn.resign()
        else:
            await self.move(turn, result.move, offer_draw=result.draw_offered)

    async def think(self, state: GameState, board: chess.Board) -> chess.engine.PlayResult:
        """What the engine would do on a board, in the time that a game leaves it.

        :raises BotFailed: it fails.
        """
        limit = self._limits.of(state, self._place.options)
        try:
            result = await _in_thread(
                lambda: self._engine.play(board, limit, game=self._place.game_id, info=chess.engine.INFO_ALL)
            )
        except (chess.engine.EngineError, TimeoutError) as error:
            raise BotFailed(f"the engine failed in {board.fen()}: {_reason(error)}") from None
        self.last_info = result.info
        return result

    async def aclose(self) -> None:
        try:
            with trio.move_on_after(QUIT_SECONDS):
                await _in_thread(self._engine.quit)
        except (chess.engine.EngineError, TimeoutError):
            pass  # it has ended already, and not well
        finally:
            self._engine.close()  # which ends the process, and whatever waits for it


def _variants(engine: chess.engine.SimpleEngine) -> set[str]:
    """What an engine says that it plays."""
    options = engine.options
    variants = {"standard"}
    if "UCI_Chess960" in options:
        variants.add("chess960")
    if "UCI_Variant" in options and "crazyhouse" in (options["UCI_Variant"].var or []):
        variants.add("crazyhouse")
    return variants


async def _in_thread(call: Callable[[], T]) -> T:
    """What a call gives that blocks. Where this is cancelled it is left to itself: closing the engine ends it."""
    return await trio.to_thread.run_sync(call, abandon_on_cancel=True, limiter=_THREADS)


def _reason(error: BaseException) -> str:
    return getattr(error, "strerror", None) or str(error) or "no answer in time"
