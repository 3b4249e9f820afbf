"""A bot of a match under observation: how long it thinks, what it says of its moves, and what it does wrong.

Whether it has lost on time is for the daemon's clock to say. What is measured here is how much of the time that the
clock has charged the bot did not have: that is what the runner, the daemon and the machine between them take.
"""

from __future__ import annotations

import traceback
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import trio

from gm_client.blocking import (
    Asked,
    BadReply,
    ConnectionLost,
    GameState,
    GmError,
    HistoryReply,
    MoveReply,
    SenseReply,
    Square,
    StateReply,
)
from gm_client.trio_client import Turn

from ..bot import Bot, BotFailed, Place

#: Seconds for what a bot does before the first clock runs, and after the game: no clock judges that.
BEGIN_SECONDS = 60.0
END_SECONDS = 10.0


@dataclass
class MoveTime:
    """One move of a bot's, in seconds.

    :ivar thought: from when the bot was told of its turn to when it had answered, without what the server did for it.
    :ivar charged: by the daemon's clock, to the millisecond; None where it does not show that.
    :ivar left: what the clock then showed; None without one.
    :ivar score: what the bot thought of the move, if it says.
    """

    ply: int
    thought: float
    charged: float | None
    left: float | None
    score: str | None

    @property
    def overhead(self) -> float | None:
        """What was charged and not thought."""
        return None if self.charged is None else self.charged - self.thought


class ObservedBot(Bot):
    """A bot, and what was seen of it.

    :ivar failure: what it did wrong, if anything.
    :ivar silent: whether it was thinking when it was stopped.
    :ivar moves: each of its moves.
    """

    def __init__(self, bot: Bot, stall_seconds: float) -> None:
        """:param stall_seconds: how long a move may take where the game has no clock."""
        self._bot, self._stall_seconds = bot, stall_seconds
        self._place: Place
        self._left: float | None = None
        self.failure: BotFailed | None = None
        self.silent = False
        self.moves: list[MoveTime] = []

    async def begin(self, place: Place) -> None:
        self._place = place
        await self._within(BEGIN_SECONDS, "begin the game", self._bot.begin(place))

    async def take_turn(self, turn: Turn) -> None:
        clock = self._place.options.get("clock") or {}
        timed = TimedTurn(turn, tells=bool(clock.get("lag")))
        self.silent = True
        try:
            if turn.state["clock"] is None:
                await self._within(self._stall_seconds, "move", self._bot.take_turn(timed))
            else:
                await self._within(float("inf"), "move", self._bot.take_turn(timed))
        except Exception:
            self.silent = False
            raise
        self.silent = False
        if timed.moved is not None:
            self._note(timed, timed.moved)

    def _note(self, timed: TimedTurn, moved: GameState) -> None:
        clock, option = moved["clock"], self._place.options.get("clock")
        left = None if clock is None else clock[timed.color]
        charged = None
        if self._left is not None and left is not None and option and "initial" in option:
            charged = self._left + option.get("increment", 0.0) - left
        # What the clock of the first move has charged is not to be seen: it runs once both players are heard from.
        self._left = left
        self.moves.append(MoveTime(timed.ply, timed.thought, charged, left, self._bot.score))

    async def end(self, state: GameState, history: Callable[[], Awaitable[HistoryReply]]) -> None:
        await self._within(END_SECONDS, "end the game", self._bot.end(state, history))

    async def aclose(self) -> None:
        await self._bot.aclose()

    async def _within(self, seconds: float, what: str, doing: Awaitable[Any]) -> None:
        try:
            with trio.move_on_after(seconds) as scope:
                await doing
            if scope.cancelled_caught:
                raise BotFailed(f"did not {what} in {seconds:g} seconds", fault="stall")
        except (ConnectionLost, BadReply):
            raise
        except Exception as error:
            failure = as_failure(error)
            self.failure = self.failure or failure
            raise failure from None


def as_failure(error: Exception) -> BotFailed:
    """What a bot raises that runs in this process, or has the server refuse, is its failure as well."""
    if isinstance(error, BotFailed):
        return error
    if isinstance(error, GmError):
        illegal = error.code in ("illegal_move", "ambiguous_move", "bad_square")
        return BotFailed(f"the server refuses: {error}", fault="illegal move" if illegal else "protocol")
    return BotFailed(f"raised {type(error).__name__}: {error}", "".join(traceback.format_exception(error)))


class TimedTurn(Turn):
    """A turn that says when it was answered, also to the server.

    :ivar thought: seconds that the bot has had it.
    :ivar moved: the state after its move; None until then.
    """

    def __init__(self, turn: Turn, *, tells: bool) -> None:
        """:param tells: whether the game's clock has a use for it."""
        self.__dict__.update(turn.__dict__)
        self._tells = tells
        self.thought = 0.0
        self.moved: GameState | None = None
        self._since = trio.current_time()

    async def sense(self, square: Square | None) -> SenseReply:
        self._answered()
        reply = await super().sense(square)
        self._since = trio.current_time()
        return reply

    async def move(self, move: str | None, *, offer_draw: bool = False) -> MoveReply:
        self._answered()
        reply = await super().move(move, offer_draw=offer_draw)
        self.moved = reply["state"]
        self._since = trio.current_time()
        return reply

    async def end_game(self, termination: str) -> StateReply:
        self._answered()
        return await super().end_game(termination)

    def _answered(self) -> None:
        self.thought += trio.current_time() - self._since

    def _ask(self, kind: str, **fields: Any) -> Asked:
        if self._tells:
            fields["thought"] = trio.current_time() - self._since
        return super()._ask(kind, **fields)
