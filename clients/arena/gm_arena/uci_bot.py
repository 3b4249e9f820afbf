"""UCI engines, with a process for each game."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import chess
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
    Identity,
    go,
    milliseconds,
    opponent,
    position,
    read_best_move,
    read_info,
    read_words,
    set_option,
)

T = TypeVar("T")

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
        limits: dict[str, int | None] = {"depth": self.depth, "nodes": self.nodes}
        if clock is None or kind is None:
            counted = self.depth is not None or self.nodes is not None
            seconds = self.seconds or (None if counted else DEFAULT_MOVE_SECONDS)
            return go(**limits, movetime=None if seconds is None else milliseconds(seconds))
        white, black = float(clock["white"] or 0), float(clock["black"] or 0)
        left = white if state["turn"] == "white" else black
        clocks = {"wtime": milliseconds(white), "btime": milliseconds(black)}
        if "initial" in kind:
            increment = kind.get("increment", 0.0)
            clocks |= dict.fromkeys(("winc", "binc"), round(increment * 1000))
            most = min(MOVETIME_SHARE * left + increment, MOVETIME_SHARE_OF_A_MOVE * left)
        else:  # a fixed time for this move; unused time is lost
            clocks["movestogo"] = 1
            most = MOVETIME_SHARE_OF_A_MOVE * left
        movetime = None if self.seconds is None else milliseconds(min(self.seconds, most))
        return go(**clocks, **limits, movetime=movetime)


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
        name, *arguments = self._command
        command = [find_program(name) or name, *arguments]
        process = await BotProcess.start(command, name, nursery, max_memory=self._max_memory)
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
        process.send("uci\n")
        try:
            await _answer(process, "uciok", identity.read_line)
        except BotFailed as failure:
            raise BotFailed(f"{self._command[0]!r} is no UCI engine: {failure}", fault=failure.fault) from None
        self.name = process.label = identity.name or self.name
        try:
            for name, value in self._options.items():
                process.send(identity.setting(name, value) + "\n")
        except BadOption as error:
            raise BotFailed(f"{self.name}: {error}") from None
        return identity


class UciBot(BoardBot):
    """An engine in one game."""

    def __init__(self, process: BotProcess, identity: Identity, limits: Limits, *, names_opponent: bool = True) -> None:
        """:param names_opponent: whether to set ``UCI_Opponent``, if the engine has it."""
        self._process, self._identity, self._limits = process, identity, limits
        self._names_opponent = names_opponent and "uci_opponent" in identity.options
        self._place: Place

    async def begin(self, place: Place) -> None:
        await super().begin(place)
        self._place = place
        self._process.label += f" in game {place.game_id}"
        for line in self._identity.game_settings(place.variant, chess960=self._record.board.chess960):
            self._process.send(line + "\n")
        if self._names_opponent:
            self._process.send(set_option("UCI_Opponent", opponent(place.opponent_name)) + "\n")
        self._process.send("ucinewgame\nisready\n")
        await _answer(self._process, "readyok")
        self._process.send("isready\n")

    def set_option(self, name: str, value: str) -> None:
        """Set an option that the engine has, before :meth:`begin`: for this game, where other games differ."""
        self._process.send(set_option(name, value) + "\n")

    async def choose(self, turn: Turn, board: chess.Board) -> None:
        """Make the engine's move, within the time that the game leaves it.

        The engine is asked ``isready`` after each move: what it writes up to ``readyok``, in the opponent's time, is
        about the last search and not about this one.

        :raises BotFailed: the engine fails, or its move is not legal.
        """
        process, fen = self._process, board.fen()
        await _answer(process, "readyok")
        search = self._limits.of(turn.state, self._place.options)
        process.send(f"{position(board, variant=self._place.variant)}\n{search}\n")
        self.score = self.depth = None
        best = await _read_until(process, read_best_move, self._note_info)
        process.send("isready\n")
        if not best or best in NO_MOVE:
            raise BotFailed(f"{process.label} wrote {best or 'no move'} in {fen}", fault="illegal move")
        try:
            move = board.parse_uci(best.lower())
        except chess.IllegalMoveError:
            raise BotFailed(f"{best} is not a legal move in {fen}", fault="illegal move") from None
        except chess.InvalidMoveError:
            what = f"{process.label} wrote {best!r}, which is not a move, in {fen}"
            raise BotFailed(what, fault="protocol") from None
        await self.move(turn, move)

    def _note_info(self, line: str) -> None:
        if (info := read_info(read_words(line))) is not None:
            score, depth = info
            self.score = self.score if score is None else score
            self.depth = self.depth if depth is None else depth

    async def aclose(self) -> None:
        with suppress(BotFailed):  # it does not read its input
            self._process.send("quit\n")
        await self._process.aclose()


def _ignore(line: str) -> None:
    pass


async def _answer(process: BotProcess, answer: str, see: Callable[[str], None] = _ignore) -> None:
    """Read an engine's lines up to its answer.

    :raises BotFailed: the answer does not come.
    """
    with trio.move_on_after(START_SECONDS):
        await _read_until(process, lambda line: read_words(line)[:1] == [answer] or None, see)
        return
    raise BotFailed(f"{process.label} wrote no {answer} in {START_SECONDS:g} seconds", fault="stall")


async def _read_until(process: BotProcess, read: Callable[[str], T | None], see: Callable[[str], None]) -> T:
    """Read an engine's lines, as many as it may write about a move, up to the first of which something is read.

    :raises BotFailed: it ends, or writes more.
    """
    said = 0
    for number in range(1, MAX_LINES + 1):
        line = await process.receive()
        if (found := read(line)) is not None:
            return found
        see(line)
        said += len(line)
        if said > MAX_BYTES:
            break
        if number % LINES_A_STEP == 0:
            await trio.lowlevel.checkpoint()
    raise BotFailed(f"{process.label} wrote {said} bytes without an answer", fault="flood")
