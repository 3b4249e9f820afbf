"""UCI engines, with a process for each game."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar

import chess
import chess.engine
import trio

from gm_client.blocking import GameState
from gm_client.trio_client import Turn

from .boards import BoardBot
from .bot import BotFailed, Bots, BotUnusable, Place
from .process import BotProcess
from .programs import find_program
from .uci import (
    NO_MOVE,
    BadOption,
    Clocks,
    Identity,
    go,
    opponent,
    parsed_score,
    position,
    read_best_move,
    read_info,
    read_words,
    set_option,
)

#: Seconds of thought for a move where there is no clock and no limit.
DEFAULT_MOVE_SECONDS = 1.0

#: Seconds in which an engine must identify itself and be ready: it may load networks, on a busy machine.
START_SECONDS = 30.0

#: Lines and bytes that an engine may write about one move. Stockfish writes some hundred lines in a minute, and some
#: hundred times as many when it is asked for all moves' scores.
MAX_LINES, MAX_BYTES = 100_000, 16 << 20
#: Lines read before other tasks may run.
LINES_A_STEP = 500


#: The share of the clock that ``movetime`` may take, in addition to the increment: some engines then use exactly that
#: time, and ignore the clock.
MOVETIME_SHARE = 0.1
#: The same share where the clock is for one move alone. The rest covers the way to the server.
MOVETIME_SHARE_OF_A_MOVE = 0.8


@dataclass(frozen=True)
class Limits:
    """Limits of an engine's thought about one move: the most seconds, plies and nodes.

    Without seconds an engine divides its clock as it likes; without a clock it thinks for a second.
    """

    seconds: float | None = None
    depth: int | None = None
    nodes: int | None = None

    def of(self, state: GameState, options: Mapping[str, Any]) -> str:
        """Return the line that starts the engine's search for one move.

        :param state: the state of the game, with the engine's side to move.
        :param options: the game's options.
        """
        clock, kind = state["clock"], options.get("clock")
        if clock is None or kind is None:
            counted = self.depth is not None or self.nodes is not None
            seconds = self.seconds or (None if counted else DEFAULT_MOVE_SECONDS)
            return go(depth=self.depth, nodes=self.nodes, seconds=seconds)
        white, black = float(clock["white"] or 0), float(clock["black"] or 0)
        left = white if state["turn"] == "white" else black
        if "initial" in kind:
            increment = kind.get("increment", 0.0)
            clocks = Clocks(white, black, increment)
            most = min(MOVETIME_SHARE * left + increment, MOVETIME_SHARE_OF_A_MOVE * left)
        else:  # a fixed time for this move; unused time is lost
            clocks = Clocks(white, black, moves_to_go=1)
            most = MOVETIME_SHARE_OF_A_MOVE * left
        seconds = None if self.seconds is None else min(self.seconds, most)
        return go(clocks, depth=self.depth, nodes=self.nodes, seconds=seconds)


class UciBots(Bots):
    """A command that starts an engine, anew for every game."""

    defaults: ClassVar[dict[str, Any]] = {"variant": "standard", "draws": "automatic"}

    def __init__(
        self,
        command: str,
        options: Mapping[str, str] | None = None,
        limits: Limits | None = None,
        *,
        max_memory: int | None = None,
    ) -> None:
        try:
            self._command = shlex.split(command)
        except ValueError as error:
            raise BotUnusable(f"uci:{command}: {error}") from None
        if not self._command:
            raise BotUnusable("uci: needs a command, such as uci:stockfish")
        self.name = command
        self.variants = frozenset({"standard", "chess960", "crazyhouse"})
        self._options, self._limits, self._max_memory = dict(options or {}), limits or Limits(), max_memory

    async def start(self, nursery: trio.Nursery) -> UciBot:
        try:
            name, *arguments = self._command
            command = [find_program(name) or name, *arguments]
            process = await BotProcess.start(command, name, nursery, max_memory=self._max_memory)
        except BotFailed as failure:
            raise self._not_started(failure) from None
        try:
            identity = await self._introduced(process)
        except BaseException:
            await process.kill()
            raise
        self.variants = identity.variants
        given = "uci_opponent" in {name.lower() for name in self._options}
        return UciBot(process, identity, self._limits, names_opponent=not given)

    async def _introduced(self, process: BotProcess) -> Identity:
        """Return an engine's declarations, and set its options."""
        identity = Identity()
        try:
            for line in await _ask(process, "uci", "uciok"):
                identity.read_line(line)
        except BotFailed as failure:
            raise self._not_started(failure) from None
        self.name = process.label = identity.name or self.name
        try:
            for name, value in self._options.items():
                process.send(identity.setting(name, value) + "\n")
        except BadOption as error:
            raise BotFailed(f"{self.name}: {error}") from None
        return identity

    def _not_started(self, failure: BotFailed) -> BotFailed:
        reason = str(failure).rpartition(" cannot be started: ")[2]
        return BotFailed(f"{self._command[0]!r} cannot be started as a UCI engine: {reason}", fault=failure.fault)


@dataclass(frozen=True)
class Thought:
    """The result of an engine's search.

    :ivar move: the move; None if the engine has none.
    :ivar text: the move as the engine wrote it.
    """

    move: chess.Move | None
    text: str


class UciBot(BoardBot):
    """An engine in one game.

    :ivar last_info: what the engine reported about its last move: ``depth``, ``nodes``, ``pv``, and as ``score`` a
        ``chess.engine.PovScore``; only the fields that it reported.
    """

    def __init__(self, process: BotProcess, identity: Identity, limits: Limits, *, names_opponent: bool = True) -> None:
        """:param names_opponent: whether to set ``UCI_Opponent``, if the engine has it."""
        self._process, self._identity, self._limits = process, identity, limits
        self._names_opponent = names_opponent and "uci_opponent" in identity.options
        self._place: Place
        self.last_info: chess.engine.InfoDict = {}

    async def begin(self, place: Place) -> None:
        await super().begin(place)
        self._place = place
        self._process.label += f" in game {place.game_id}"
        for line in self._identity.game_settings(place.variant, chess960=self._record.board.chess960):
            self._process.send(line + "\n")
        if self._names_opponent:
            self._process.send(set_option("UCI_Opponent", opponent(place.opponent_name)) + "\n")
        self._process.send("ucinewgame\n")
        await _ask(self._process, "isready", "readyok")
        self._process.send("isready\n")

    def set_option(self, name: str, value: str) -> None:
        """Set an option that the engine has, before :meth:`begin`: for this game, where other games differ."""
        self._process.send(set_option(name, value) + "\n")

    async def choose(self, turn: Turn, board: chess.Board) -> None:
        thought = await self.think(turn.state, board)
        self.depth = self.last_info.get("depth")
        if thought.move is None:
            wrote = f"{self._process.label} wrote {thought.text or 'no move'} in {board.fen()}"
            raise BotFailed(wrote, fault="illegal move")
        await self.move(turn, thought.move)

    async def think(self, state: GameState, board: chess.Board) -> Thought:
        """Return the engine's move on a board, within the time that the game leaves it.

        It is asked ``isready`` after each move: what it writes up to ``readyok``, in the opponent's time, is about the
        last search and not about this one.

        :raises BotFailed: the engine fails, or its move is not legal.
        """
        place, process = self._place, self._process
        await _read_until(process, "readyok")
        process.send(f"{position(board, variant=place.variant)}\n{self._limits.of(state, place.options)}\n")
        best = await self._best(board.turn)
        process.send("isready\n")
        if not best or best in NO_MOVE:
            return Thought(None, best)
        try:
            return Thought(board.parse_uci(best.lower()), best)
        except chess.IllegalMoveError:
            raise BotFailed(f"{best} is not a legal move in {board.fen()}", fault="illegal move") from None
        except chess.InvalidMoveError:
            what = f"wrote {best!r}, which is not a move, in {board.fen()}"
            raise BotFailed(f"{process.label} {what}", fault="protocol") from None

    async def _best(self, turn: chess.Color) -> str:
        """Return the move after ``bestmove``, as the engine wrote it."""
        self.score, self.last_info = None, {}
        said = 0
        for number in range(1, MAX_LINES + 1):
            line = await self._process.receive()
            said += len(line)
            if (best := read_best_move(line)) is not None:
                return best
            if said > MAX_BYTES:
                break
            self._note_info(read_words(line), turn)
            if number % LINES_A_STEP == 0:
                await trio.lowlevel.checkpoint()
        raise BotFailed(f"{self._process.label} wrote {said} bytes about one move", fault="flood")

    def _note_info(self, words: list[str], turn: chess.Color) -> None:
        info = read_info(words) if words[:1] == ["info"] else None
        if info is None:
            return
        self.score = info.score or self.score
        for name, number in (("depth", info.depth), ("nodes", info.nodes)):
            if number is not None:
                self.last_info[name] = number  # type: ignore[literal-required]
        if info.pv:
            with suppress(ValueError):  # a pv with an invalid move is useless
                self.last_info["pv"] = [chess.Move.from_uci(text) for text in info.pv]
        if info.score is not None:
            self.last_info["score"] = chess.engine.PovScore(parsed_score(info.score), turn)

    async def aclose(self) -> None:
        with suppress(BotFailed):  # it does not read its input
            self._process.send("quit\n")
        await self._process.aclose()


async def _ask(process: BotProcess, question: str, answer: str) -> list[str]:
    """Ask an engine, and return the lines that it writes before its answer.

    :raises BotFailed: the answer does not come.
    """
    process.send(f"{question}\n")
    return await _read_until(process, answer)


async def _read_until(process: BotProcess, answer: str) -> list[str]:
    """Return the lines that an engine writes before an answer, which are fewer than it may write about a move.

    :raises BotFailed: the answer does not come.
    """
    lines: list[str] = []
    said = 0
    with trio.move_on_after(START_SECONDS):
        while read_words(line := await process.receive())[:1] != [answer]:
            lines.append(line)
            said += len(line)
            if len(lines) > MAX_LINES or said > MAX_BYTES:
                raise BotFailed(f"{process.label} wrote {said} bytes and no {answer}", fault="flood")
            if len(lines) % LINES_A_STEP == 0:
                await trio.lowlevel.checkpoint()
        return lines
    raise BotFailed(f"{process.label} wrote no {answer} in {START_SECONDS:g} seconds", fault="stall")
