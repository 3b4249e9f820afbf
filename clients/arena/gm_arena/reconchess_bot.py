"""Bots in files and modules that are players, with a process for each game (:mod:`gm_arena.reconchess_host`)."""

from __future__ import annotations

import json
import sys
from collections.abc import Awaitable, Callable
from typing import Any, ClassVar

import trio

from gm_client.blocking import GameState, HistoryReply, PlayerNames
from gm_client.trio_client import Turn
from gm_recon import Player

from .bot import Bot, BotFailed, Bots, Place
from .process import BotProcess


class ReconchessBots(Bots):
    """A factory of the player in a file or a module: see :func:`gm_arena.reconchess_host.load`."""

    variants = frozenset({"rbc"})
    defaults: ClassVar[dict[str, Any]] = {"variant": "rbc"}
    joins_late = False  # it relies on having seen every turn from the first on

    def __init__(self, source: str, *, max_memory: int | None = None) -> None:
        self.name = self._source = source
        self._max_memory = max_memory

    def player(self) -> Player:
        """Return a new player in this process, for a game without a server.

        :raises BotUnusable: there is none of this name.
        """
        from .reconchess_host import load

        return load(self._source)()

    async def start(self, nursery: trio.Nursery) -> Bot:
        # -P: no file in the working directory replaces a module of ours; -u: output is not buffered
        command = [sys.executable, "-P", "-u", "-m", "gm_arena.reconchess_host", self._source]
        process = await BotProcess.start(command, self._source, nursery, max_memory=self._max_memory)
        bot = ReconchessBot(process)
        try:
            self.name = await bot.loaded()
        except BaseException:
            await process.aclose()
            raise
        return bot


class ReconchessBot(Bot):
    """The parent's end of a bot's process."""

    def __init__(self, process: BotProcess) -> None:
        self._process = process
        self._names = PlayerNames(white=None, black=None)

    async def loaded(self) -> str:
        """Return the name of the bot's class, once it is loaded."""
        name: str = (await self._receive())["loaded"]
        self._process.label = name
        return name

    async def begin(self, place: Place) -> None:
        self._process.label += f" in game {place.game_id}"
        self._names = place.names
        self._send(begin={"color": place.seat, "fen": place.start_fen, "opponent": place.opponent_name})
        await self._receive()

    async def take_turn(self, turn: Turn) -> None:
        if not turn.sense_actions:
            raise BotFailed("its seat has sensed already; a reconchess bot must play the whole turn")
        self._send(turn={"state": turn.state, "senses": turn.sense_actions, "moves": turn.move_actions})
        while "done" not in (message := await self._receive()):
            if "sense" in message:
                await turn.sense(message["sense"])
                self._send(sensed={"state": turn.state, "result": turn.reply["sense_result"]})
            else:
                self._send(moved=await turn.move(message["move"]))

    async def end(self, state: GameState, history: Callable[[], Awaitable[HistoryReply]]) -> None:
        saved = (await history())["history"]
        assert saved is not None  # a game of blind chess has one
        self._send(end=saved | {f"{color}_name": name for color, name in self._names.items() if name})
        await self._receive()

    async def aclose(self) -> None:
        await self._process.aclose()

    def _send(self, **message: Any) -> None:
        self._process.send(json.dumps(message) + "\n")

    async def _receive(self) -> dict[str, Any]:
        message: dict[str, Any] = json.loads(await self._process.receive())
        if "failed" in message:
            what = f"{self._process.label} {message['failed']}"
            raise BotFailed(what, message.get("details", ""), fault=message["fault"])
        if "missing" in message:
            raise BotFailed(message["missing"])
        return message
