"""A bot of a match under observation: its thinking times, its scores, and its failures.

The daemon's clock decides whether a bot lost on time. This module measures how much of the charged time the bot did not
have: the time that the runner, the daemon and the machine take.
"""

from __future__ import annotations

import traceback
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import trio

from gm_client.blocking import (
    BadReply,
    ConnectionLost,
    GameState,
    GmError,
    HistoryReply,
    MoveReply,
    Square,
    StateReply,
)
from gm_client.chess_turns import AnyMove, Sensed
from gm_client.trio_client import Turn

from ..bot import Bot, BotFailed, Place
from .adjudication import Adjudicator

#: Seconds for a bot's work before the first clock runs, and after the game, which no clock limits.
BEGIN_SECONDS = 60.0
END_SECONDS = 10.0


@dataclass
class MoveTime:
    """The times of one move of a bot, in seconds.

    :ivar thought: from the bot's receiving its turn to its answer, without the server's work on its requests.
    :ivar charged: the time that the daemon's clock charged, to the millisecond; None where it does not show that.
    :ivar left: the clock's time after the move; None without a clock.
    :ivar score: the bot's score of the move, if it gives one.
    :ivar handed: from the opponent's answer to this bot's receiving its turn; None where the opponent plays elsewhere,
        and for the first move.
    :ivar depth: the plies that the bot has searched, if it says so.
    """

    ply: int
    thought: float
    charged: float | None
    left: float | None
    score: str | None
    handed: float | None
    depth: int | None


class HandOver:
    """The times of the bots' answers. The delay until the opponent receives its turn counts for neither."""

    def __init__(self) -> None:
        self._answered: tuple[int, float] | None = None

    def answered(self, ply: int) -> None:
        """Record that a bot has moved at a ply."""
        self._answered = ply, trio.current_time()

    def delay(self, ply: int) -> float | None:
        """Return the seconds since the opponent's move, as the bot receives its turn; None if unmeasured."""
        if self._answered is None or self._answered[0] != ply - 1:
            return None
        return trio.current_time() - self._answered[1]


class ObservedBot(Bot):
    """A bot with its observations.

    :ivar failure: the bot's first failure, if any.
    :ivar silent: whether it was thinking when it was stopped.
    :ivar adjudicated: whether it has ended the game because the scores asked for it.
    :ivar moves: the times of each of its moves.
    :ivar begun: set when the bot has begun the game; set by others when it will not.
    """

    def __init__(
        self,
        bot: Bot,
        stall_seconds: float,
        between: HandOver,
        adjudicator: Adjudicator,
        after: ObservedBot | None = None,
    ) -> None:
        """:param stall_seconds: the most seconds for a move where the game has no clock.
        :param between: shared by both bots of a game, as is ``adjudicator``.
        :param after: the bot that begins first, so that the same one always loses if both fail to begin.
        """
        self._bot, self._stall_seconds, self._between, self._after = bot, stall_seconds, between, after
        self._adjudicator = adjudicator
        self._place: Place
        self._left: float | None = None
        self.failure: BotFailed | None = None
        self.silent = self.adjudicated = False
        self.moves: list[MoveTime] = []
        self.begun = trio.Event()

    async def begin(self, place: Place) -> None:
        self._place = place
        if self._after is not None:
            await self._after.begun.wait()
        await self._within(BEGIN_SECONDS, "begin the game", self._bot.begin(place))
        self.begun.set()

    async def take_turn(self, turn: Turn) -> None:
        clock = self._place.options.get("clock") or {}
        handed = self._between.delay(turn.ply)
        offers_draw = self._adjudicator.drawn(turn.ply)
        timed = TimedTurn(turn, self._between, reports=bool(clock.get("lag")), offers_draw=offers_draw)
        ending = self._adjudicator.ending(self._place.color, turn.ply, offered=turn.state["draw_offered"])
        if ending is not None:
            self.adjudicated = True
            await timed.end_game(ending.termination)
            return
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
            self._note(timed, timed.moved, handed)

    def _note(self, timed: TimedTurn, moved: GameState, handed: float | None) -> None:
        clock, option = moved["clock"], self._place.options.get("clock")
        left = None if clock is None else clock[timed.color]
        charged = None
        if self._left is not None and left is not None and option and "initial" in option:
            charged = self._left + option.get("increment", 0.0) - left
        # The time charged for the first move is unknown: the clock starts at the first contact of both players.
        self._left = left
        self._adjudicator.note(self._place.color, self._bot.score)
        self.moves.append(MoveTime(timed.ply, timed.thought, charged, left, self._bot.score, handed, self._bot.depth))

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
    """Return the failure of a bot for an exception: raised by the bot in this process, or a refusal of the server."""
    if isinstance(error, BotFailed):
        return error
    if isinstance(error, GmError):
        illegal = error.code in ("illegal_move", "ambiguous_move", "bad_square")
        return BotFailed(f"the server refuses: {error}", fault="illegal move" if illegal else "protocol")
    return BotFailed(f"raised {type(error).__name__}: {error}", "".join(traceback.format_exception(error)))


class TimedTurn(Turn):
    """A turn that measures when it is answered, and reports it to the server.

    :ivar thought: seconds that the bot has had for the turn.
    :ivar moved: the state after its move; None before.
    """

    def __init__(self, turn: Turn, between: HandOver, *, reports: bool, offers_draw: bool) -> None:
        """:param reports: whether to report the times to the server, for a clock with a lag.
        :param offers_draw: whether to offer a draw with the move, whatever the bot does.
        """
        self.__dict__.update(turn.__dict__)
        self._between, self._reports, self._offers_draw = between, reports, offers_draw
        self.thought = self._last = 0.0
        self.moved: GameState | None = None
        self._since = trio.current_time()

    async def sense(self, square: Square | None) -> Sensed:
        self._answered()
        seen = await super().sense(square)
        self._since = trio.current_time()
        return seen

    async def move(self, move: AnyMove | None, *, offer_draw: bool = False, claim_draw: bool = False) -> MoveReply:
        self._answered()
        self._between.answered(self.ply)
        offers = offer_draw or self._offers_draw
        reply = await super().move(move, offer_draw=offers, claim_draw=claim_draw)
        self.moved = reply["state"]
        self._since = trio.current_time()
        return reply

    async def end_game(self, termination: str) -> StateReply:
        self._answered()
        return await super().end_game(termination)

    def _answered(self) -> None:
        """Measure the bot's thought before its next request; the server receives the same number."""
        self._last = trio.current_time() - self._since
        self.thought += self._last

    async def _act(self, kind: str, **fields: Any) -> dict[str, Any]:
        if self._reports:
            fields["thought"] = self._last
        return await super()._act(kind, **fields)
