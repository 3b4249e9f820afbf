"""Bots that speak CodinGame's chess protocol on their standard streams, with a process for each game."""

from __future__ import annotations

import logging
import random
import shlex
from typing import Any, ClassVar

import chess
import trio

from gm_client.trio_client import Turn
from gm_protocol.endings import Cause, Ending

from .boards import BoardBot
from .bot import Bot, BotFailed, Bots, BotUnusable, Fault, Place
from .codingame import (
    INPUTS,
    MAX_MOVES,
    Action,
    BadAnswer,
    IllegalMove,
    Position,
    constants,
    inputs,
    read_answer,
    read_configuration,
    read_move,
)
from .process import BotProcess

logger = logging.getLogger(__name__)

#: Seconds for a bot's configuration. CodinGame gives one; but here other bots may be starting on the same processors.
CONFIGURATION_SECONDS = 10.0
#: The ``maxMoves`` of a game without a limit of its own: half of the server's 2,000 plies.
NO_MAX_MOVES = 1_000


class CodinGameBots(Bots):
    """A command that is started anew for every game."""

    variants = frozenset({"standard", "chess960", "crazyhouse"})
    defaults: ClassVar[dict[str, Any]] = {"variant": "chess960", "max_moves": MAX_MOVES}

    def __init__(self, command: str, rng: random.Random | None = None, *, max_memory: int | None = None) -> None:
        """:param rng: draws the moves of bots that answer ``random``."""
        try:
            self._command = shlex.split(command)
        except ValueError as error:
            raise BotUnusable(f"codingame:{command}: {error}") from None
        if not self._command:
            raise BotUnusable("codingame: needs a command, such as codingame:'python3 my_bot.py'")
        self.name = command
        self._rng, self._max_memory = rng or random.Random(), max_memory

    async def start(self, nursery: trio.Nursery) -> Bot:
        process = await BotProcess.start(self._command, self._command[0], nursery, max_memory=self._max_memory)
        return CodinGameBot(process, self._rng)


class CodinGameBot(BoardBot):
    """A bot's process and its protocol.

    :ivar game: the number of the game in its match, and ``score_so_far`` its half-points in it and its opponent's.
    :ivar configuration_seconds: the time for its configuration.
    """

    game, score_so_far = 1, (0, 0)  # the server has single games

    def __init__(self, process: BotProcess, rng: random.Random) -> None:
        self._process, self._rng, self.configuration_seconds = process, rng, CONFIGURATION_SECONDS
        self._inputs: list[str] | None = None
        self._place: Place

    async def begin(self, place: Place) -> None:
        await super().begin(place)
        self._place = place
        if place.seed is not None:
            self._rng = random.Random(f"{place.seed} {place.seat}")
        self._process.label += f" in game {place.game_id}"

    async def choose(self, turn: Turn, board: chess.Board) -> None:
        if self._inputs is None:
            self._inputs = await self._configure()
        position = Position(board, turn.state["draw_offered"], self.game, self.score_so_far)
        self._process.send(inputs(self._inputs, position))
        line = await self._answer(board)
        try:
            await self._obey(turn, board, line)
        except BadAnswer as error:
            fault: Fault = "illegal move" if isinstance(error, IllegalMove) else "protocol"
            raise BotFailed(f"{self._process.label}: {error}", fault=fault) from None

    async def _answer(self, board: chess.Board) -> str:
        return await self._process.receive()

    async def _configure(self) -> list[str]:
        """Return the inputs that the bot wants; unknown words are logged and ignored, as on CodinGame."""
        max_moves = self._place.options.get("max_moves") or NO_MAX_MOVES
        self._process.send(constants(crazyhouse=self._place.variant == "crazyhouse", max_moves=max_moves))
        with trio.move_on_after(self.configuration_seconds):
            wanted = read_configuration(await self._process.receive())
            if wanted.unknown:
                words = ", ".join(map(repr, wanted.unknown))
                logger.warning(
                    "%s: unknown inputs %s are ignored; known are %s", self._process.label, words, ", ".join(INPUTS)
                )
            return wanted.inputs
        raise BotFailed(
            f"{self._process.label} wrote no configuration in {self.configuration_seconds:g} seconds", fault="stall"
        )

    async def _obey(self, turn: Turn, board: chess.Board, line: str) -> None:
        answer = read_answer(line, draw_offered=turn.state["draw_offered"])
        match answer.action:
            case Action.RESIGN:
                await turn.resign()
            case Action.ACCEPT_DRAW:
                await turn.end_game(Ending(Cause.AGREEMENT).termination)
            case Action.RANDOM:
                move = self._rng.choice(list(board.legal_moves))
                await self.move(turn, move, offer_draw=answer.offers_draw)
            case Action.MOVE:
                assert answer.move is not None
                await self.move(turn, read_move(board, answer.move), offer_draw=answer.offers_draw)

    async def aclose(self) -> None:
        await self._process.kill()  # as on CodinGame: few bots notice the end of their input
