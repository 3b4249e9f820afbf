"""A bot in a refereed match: its input, its answers, and the time it takes for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import trio

from ..bot import BotFailed
from ..codingame import constants, read_configuration
from .record import BotRecord, FailureKind

#: Seconds to wait for the exit status of an ended process. The daemon's clock runs meanwhile, for a second at least.
REASON_SECONDS = 0.25


class Defeat(Exception):
    """A bot has lost the match by what it did."""

    def __init__(self, kind: FailureKind, text: str) -> None:
        super().__init__(text)
        self.kind = kind


class Line(Protocol):
    """The connection to a bot; :class:`gm_arena.process.BotProcess` is one."""

    def send(self, text: str) -> None:
        """Send text, now or while the bot's output is read.

        :raises BotFailed: too much is waiting to be sent already.
        """

    async def next_line(self) -> str | None:
        """Return the bot's next line, without its end; None where no more will come."""

    async def why_silent(self) -> str:
        """Return the predicate of the sentence that says why no more lines come."""


@dataclass(frozen=True)
class Limits:
    """Seconds for an answer; ``margin`` is added to both, and any answer after that is late."""

    turn: float = 0.05
    first_turn: float = 1.0
    margin: float = 0.0


@dataclass(frozen=True)
class Heard:
    """An answer, and the seconds from when the bot was given its input to when its line arrived."""

    line: str
    seconds: float


class Contestant:
    """One of the two bots of a match, which plays both games.

    :ivar number: 1 or 2.
    :ivar player: its player id on the daemon.
    :ivar score: its half-points so far.
    """

    def __init__(self, number: int, player: int, line: Line, record: BotRecord) -> None:
        self.number, self.player, self.record = number, player, record
        self.score = 0
        self._line = line

    @property
    def inputs(self) -> list[str]:
        """The inputs that the bot wants in each turn."""
        return self.record.inputs

    async def configure(self, limits: Limits, *, crazyhouse: bool, max_moves: int) -> None:
        """Play the turn before the games: send the constants, and read which inputs the bot wants.

        Unknown inputs are ignored, as on CodinGame.

        :raises Defeat: the bot does not answer in time.
        """
        text = constants(crazyhouse=crazyhouse, max_moves=max_moves)
        reply = await self._exchange(text, limits.first_turn, limits.margin)
        self.record.inputs, self.record.unknown_inputs = read_configuration(reply.line)
        self.record.configuration_seconds = reply.seconds

    async def answer(self, text: str, limits: Limits) -> Heard:
        """Send the bot its input and return its answer.

        :raises Defeat: the bot does not answer in time.
        """
        reply = await self._exchange(text, limits.turn, limits.margin)
        self.record.slowest_seconds = max(reply.seconds, self.record.slowest_seconds or 0.0)
        return reply

    async def _exchange(self, text: str, seconds: float, margin: float) -> Heard:
        try:
            self._line.send(text)
        except BotFailed as failure:
            raise Defeat("crash", str(failure)) from None
        given = trio.current_time()
        # A line that has arrived when the referee looks is in time, and it looks when the time is up, not before: no
        # bot loses because the machine is slow in waking the referee.
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
    """Return a time limit as text."""
    return f"{seconds * 1000:g} ms"
