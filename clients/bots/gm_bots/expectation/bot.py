"""``expectation`` as a bot: a player for every game, which thinks in a thread of its own within the clock."""

from __future__ import annotations

import random
import time
from collections.abc import Awaitable, Callable
from typing import Any, ClassVar, TypeVar

import chess
import trio

from gm_arena.bot import Bot, BotFailed, Bots, Place
from gm_bots.turn_time import Overruns, seconds_for
from gm_client.blocking import GameState, HistoryReply
from gm_client.rbc import read_move, read_sense, read_square
from gm_client.trio_client import Turn

from .engine import Stockfish
from .knowledge import most_kept, prepare
from .player import Player
from .settings import Given

T = TypeVar("T")

#: Seconds in which Stockfish must be ready: it loads a network, on a busy machine.
START_SECONDS = 60.0


class ExpectationBots(Bots):
    """The factory of the bots, each with a Stockfish of its own.

    :ivar given: the options.
    """

    variants = frozenset({"rbc"})
    defaults: ClassVar[dict[str, Any]] = {"variant": "rbc"}
    joins_late = False  # its knowledge comes from every turn from the first on

    def __init__(self, name: str, given: Given) -> None:
        """:param name: the bot's name, with its options."""
        self.name, self.given = name, given
        self._rng = random.Random(given.seed)

    async def start(self, nursery: trio.Nursery) -> ExpectationBot:
        await _think(prepare)
        with trio.move_on_after(START_SECONDS):
            engine = await _think(lambda: Stockfish(self.given.stockfish))
            return ExpectationBot(engine, random.Random(self._rng.getrandbits(64)), self.given)
        raise BotFailed(f"Stockfish was not ready in {START_SECONDS:g} seconds", fault="stall")


class ExpectationBot(Bot):
    """The bot in one game."""

    def __init__(self, engine: Stockfish, rng: random.Random, given: Given) -> None:
        self._engine, self._rng, self._given = engine, rng, given
        self._ply = -1
        self._overruns = Overruns()
        self._player: Player
        self._place: Place

    async def begin(self, place: Place) -> None:
        rng = self._rng if place.seed is None else random.Random(f"{self._given.seed} {place.seed} {place.seat}")
        self._place = place
        most = most_kept((place.options.get("clock") or {}).get("initial"))
        self._player = await _think(
            lambda: Player(place.color, self._engine, self._given.settings, rng, most=most, fen=place.start_fen)
        )

    async def take_turn(self, turn: Turn) -> None:
        player, began = self._player, time.monotonic()
        if turn.state["ply_index"] and turn.ply != self._ply:
            capture = read_square(turn.state.get("opponent_capture"))
            await _think(lambda: player.opponent_moved(capture))
        self._ply = turn.ply
        seconds = seconds_for(turn.state, self._place.options, self._given.seconds, self._overruns)
        actions = [chess.Move.from_uci(uci) for uci in turn.move_actions]
        if turn.sense_actions:  # otherwise it was done before the connection was lost
            await self._sense(turn, actions, seconds)
        if turn.state["phase"] != "over":
            await self._move(turn, actions, None if seconds is None else seconds - (time.monotonic() - began))

    async def _sense(self, turn: Turn, actions: list[chess.Move], seconds: float | None) -> None:
        squares = [chess.parse_square(name) for name in turn.sense_actions]
        square = await _think(lambda: self._player.choose_sense(squares, actions, seconds))
        sensed = await turn.sense(chess.square_name(square))
        cells = read_sense(sensed["sense_result"])
        await _think(lambda: self._player.saw(cells))

    async def _move(self, turn: Turn, actions: list[chess.Move], seconds: float | None) -> None:
        player = self._player
        move = await _think(lambda: player.choose_move(actions, seconds))
        self.score = None if player.score is None else f"{100 * player.score:+.0f}"
        reply = await turn.move(None if move is None else move.uci())
        if reply["state"]["phase"] != "over":
            requested, taken = read_move(reply["requested_move"]), read_move(reply["taken_move"])
            capture = read_square(reply["capture_square"])
            await _think(lambda: player.moved(requested, taken, capture))

    async def end(self, state: GameState, history: Callable[[], Awaitable[HistoryReply]]) -> None:
        """Do nothing: there is nothing to keep."""

    async def aclose(self) -> None:
        self._engine.close()


async def _think(work: Callable[[], T]) -> T:
    return await trio.to_thread.run_sync(work, abandon_on_cancel=True)
