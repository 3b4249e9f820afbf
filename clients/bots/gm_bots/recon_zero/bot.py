"""``recon-zero`` as a bot: a player for every game, which thinks in a thread of its own within the clock."""

from __future__ import annotations

import random
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

import chess
import trio
from chess import Color, Move, Square

from gm_arena.bot import Bot, Bots, Place
from gm_arena.in_step import BotsInStep, EndedInStep, GameInStep
from gm_bots.turn_time import Overruns, seconds_for
from gm_client.blocking import GameState, HistoryReply
from gm_client.rbc import read_move, read_sense, read_square
from gm_client.trio_client import Turn
from gm_recon import Cell

from .checkpoint_files import digest_of
from .lockstep.judging import Judge
from .player import Player, Settings
from .time_rules import TURN_SECONDS
from .warm_up import ready_judge

if TYPE_CHECKING:
    from .measure.in_step import Own

T = TypeVar("T")


class Thinker(Protocol):
    """The interface of a :class:`~.player.Player`, in any thread or process."""

    def opponent_moved(self, capture: Square | None) -> None: ...

    def choose_sense(self, squares: Iterable[Square], seconds: float | None = None) -> Square: ...

    def saw(self, cells: Iterable[Cell]) -> None: ...

    def choose_move(self, actions: Sequence[Move], seconds: float | None = None) -> Move | None: ...

    def moved(self, requested: Move | None, taken: Move | None, capture: Square | None) -> None: ...


class Seat(Protocol):
    """The place where the player of one game thinks."""

    def sit(self, color: Color, rng: random.Random, fen: str) -> Thinker:
        """Return the player, as the game begins."""
        ...

    def leave(self) -> None:
        """Release the place when the game is over or abandoned, whatever the player is doing."""
        ...


class Here:
    """A :class:`Seat` in a thread of this process."""

    def __init__(self, judge: Judge, settings: Settings) -> None:
        self._judge, self._settings = judge, settings

    def sit(self, color: Color, rng: random.Random, fen: str) -> Thinker:
        return Player(color, self._judge, self._settings, rng, fen=fen)

    def leave(self) -> None:
        """Do nothing: a thread that still thinks ends by itself, and nobody waits for it."""


class ReconZeroBots(BotsInStep):
    """The factory of the bots.

    :param name: the bot's name, with its options.
    :param seed: if given, every game of the same number and colour is repeatable, as long as the opponent's moves are
        and the time is not short.
    :ivar settings: how they play.
    :ivar seed: the seed given.
    :ivar seconds: the most seconds of a turn; None for as long as the clock allows.
    :ivar checkpoint: the network's checkpoint; None to play without a network.
    """

    variants = frozenset({"rbc"})
    defaults: ClassVar[dict[str, Any]] = {"variant": "rbc"}
    joins_late = False  # its knowledge comes from every turn from the first on

    def __init__(
        self, name: str, settings: Settings, *, seed: int | None, seconds: float | None, checkpoint: Path | None
    ) -> None:
        self.name = name
        self.settings, self.seed, self.seconds = settings, seed, seconds
        self.checkpoint = checkpoint
        self._rng = random.Random(seed)
        self._judge: Judge | None = None

    @property
    def identity(self) -> str:
        """The hash of the network: a file keeps its name while a training goes on."""
        return "" if self.checkpoint is None else digest_of(self.checkpoint)

    def against(self, other: Bots, spec: str) -> Callable[[Sequence[GameInStep], int], list[EndedInStep]]:
        from .measure.in_step import against

        return against(self._own(), other._own() if isinstance(other, ReconZeroBots) else None, spec)

    def _own(self) -> Own:
        from .measure.in_step import Own

        return Own(self.name, self.judge, self.settings)

    async def start(self, nursery: trio.Nursery) -> Bot:
        seat = Here(await trio.to_thread.run_sync(self.judge), self.settings)
        return ReconZeroBot(seat, random.Random(self._rng.getrandbits(64)), self.seed, self.seconds)

    def judge(self) -> Judge:
        """Return the evaluator of positions in this process, ready for its first game.

        :raises BotFailed: the checkpoint cannot be read.
        """
        if self._judge is None:
            self._judge = ready_judge(self.checkpoint)
        return self._judge


class ReconZeroBot(Bot):
    """The bot in one game."""

    def __init__(self, seat: Seat, rng: random.Random, seed: int | None, seconds: float | None) -> None:
        self._seat, self._rng, self._seed, self._seconds = seat, rng, seed, seconds
        self._ply = -1
        self._overruns = Overruns()
        self._player: Thinker
        self._place: Place

    async def begin(self, place: Place) -> None:
        rng = self._rng if place.seed is None else random.Random(f"{self._seed} {place.seed} {place.seat}")
        self._place = place
        self._player = await _think(lambda: self._seat.sit(place.color, rng, place.start_fen))

    async def take_turn(self, turn: Turn) -> None:
        player, began = self._player, time.monotonic()
        if turn.state["ply_index"] and turn.ply != self._ply:
            capture = read_square(turn.state.get("opponent_capture"))
            await _think(lambda: player.opponent_moved(capture))
        self._ply = turn.ply
        limit = TURN_SECONDS if self._seconds is None and turn.state["clock"] is None else self._seconds
        seconds = seconds_for(turn.state, self._place.options, limit, self._overruns)
        if turn.sense_actions:  # otherwise it was done before the connection was lost
            await self._sense(turn, seconds)
        if turn.state["phase"] != "over":
            await self._move(turn, None if seconds is None else seconds - (time.monotonic() - began))

    async def _sense(self, turn: Turn, seconds: float | None) -> None:
        squares = [chess.parse_square(name) for name in turn.sense_actions]
        square = await _think(lambda: self._player.choose_sense(squares, seconds))
        sensed = await turn.sense(chess.square_name(square))
        cells = read_sense(sensed["sense_result"])
        await _think(lambda: self._player.saw(cells))

    async def _move(self, turn: Turn, seconds: float | None) -> None:
        actions = [chess.Move.from_uci(uci) for uci in turn.move_actions]
        move = await _think(lambda: self._player.choose_move(actions, seconds))
        reply = await turn.move(None if move is None else move.uci())
        if reply["state"]["phase"] != "over":
            requested, taken = read_move(reply["requested_move"]), read_move(reply["taken_move"])
            capture = read_square(reply["capture_square"])
            await _think(lambda: self._player.moved(requested, taken, capture))

    async def end(self, state: GameState, history: Callable[[], Awaitable[HistoryReply]]) -> None:
        """Do nothing: there is nothing to keep."""

    async def aclose(self) -> None:
        self._seat.leave()


async def _think(work: Callable[[], T]) -> T:
    return await trio.to_thread.run_sync(work, abandon_on_cancel=True)
