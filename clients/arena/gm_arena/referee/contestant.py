"""A bot at the referee's table: what it is asked, and how long it takes to answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import trio

from ..bot import BotFailed
from ..codingame import constants, read_configuration
from .record import BotRecord, FailureKind

#: Seconds in which a process that has ended is known to have. The daemon's clock runs meanwhile, for a second at least.
REASON_SECONDS = 0.25


class Defeat(Exception):
    """A bot has done what loses the match."""

    def __init__(self, kind: FailureKind, text: str) -> None:
        super().__init__(text)
        self.kind = kind


class Line(Protocol):
    """The way to a bot and back; :class:`gm_arena.process.BotProcess` is one."""

    def send(self, text: str) -> None:
        """Send it, now or while the bot is listened to.

        :raises BotFailed: too much waits for the bot already.
        """

    async def next_line(self) -> str | None:
        """Its next line, without the end of it; None where no more will come."""

    async def why_silent(self) -> str:
        """A sentence about why no more comes."""


@dataclass(frozen=True)
class Limits:
    """Seconds for an answer; ``margin`` is given on top of both, and what is later than that is late."""

    turn: float = 0.05
    first_turn: float = 1.0
    margin: float = 0.0


@dataclass(frozen=True)
class Heard:
    """An answer, and the seconds from when the bot was given its input to when its line was there."""

    line: str
    seconds: float


class Contestant:
    """One of the two bots of a match, which plays both games.

    :ivar number: 1 or 2.
    :ivar player: its id with the daemon.
    :ivar score: its half-points so far.
    """

    def __init__(self, number: int, player: int, line: Line, record: BotRecord) -> None:
        self.number, self.player, self.record = number, player, record
        self.score = 0
        self._line = line

    @property
    def inputs(self) -> list[str]:
        """The inputs it wants in each turn."""
        return self.record.inputs

    async def configure(self, limits: Limits, *, crazyhouse: bool, max_moves: int) -> None:
        """The turn before the games: tell it the constants, and hear what it wants to be told.

        What is no input is passed over, as CodinGame does.

        :raises Defeat: it says nothing in time.
        """
        text = constants(crazyhouse=crazyhouse, max_moves=max_moves)
        heard = await self._hear(text, limits.first_turn, limits.margin)
        self.record.inputs, self.record.unknown_inputs = read_configuration(heard.line)
        self.record.configuration_seconds = heard.seconds

    async def answer(self, text: str, limits: Limits) -> Heard:
        """Give it its input; its answer.

        :raises Defeat: it gives none in time.
        """
        heard = await self._hear(text, limits.turn, limits.margin)
        self.record.slowest_seconds = max(heard.seconds, self.record.slowest_seconds or 0.0)
        return heard

    async def _hear(self, text: str, seconds: float, margin: float) -> Heard:
        try:
            self._line.send(text)
        except BotFailed as failure:
            raise Defeat("crash", str(failure)) from None
        given = trio.current_time()
        # A line that is there when the referee looks is in time, and it looks when the time is up, not before: of a
        # machine that is slow in waking it no bot is the victim.
        with trio.move_on_after(seconds + margin) as limit:
            line = await self._line.next_line()
            taken = round(trio.current_time() - given, 6)
        if limit.cancelled_caught:
            raise Defeat("timeout", f"no output in {milliseconds(seconds + margin)}")
        if line is None:
            raise Defeat("crash", f"no output: it {await self._why_silent()}")
        return Heard(line, taken)

    async def _why_silent(self) -> str:
        with trio.move_on_after(REASON_SECONDS):
            return await self._line.why_silent()
        return "closed its standard output"


def milliseconds(seconds: float) -> str:
    """A time limit as it is told."""
    return f"{seconds * 1000:g} ms"
