"""One game of a match: the bots answer in turn, and the daemon plays the game and decides its result."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import chess

from gm_client.blocking import GmError
from gm_protocol.endings import Cause, Ending
from gm_protocol.state import COLOR_NAMES

from ..boards import board_of
from ..codingame import MAX_MOVES, Action, Answer, BadAnswer, Position, fen, inputs, read_answer, read_move, write_move
from ..endings import ending_of
from .contestant import Contestant, Defeat, Heard, Limits
from .record import GameRecord, TurnRecord

#: The type of a request to the daemon: its kind and fields; returns the reply.
Ask = Callable[..., Awaitable[Any]]

#: Seconds that the daemon's clock gives a bot beyond the referee's limit. The referee measures at the bot's pipe, and
#: it alone decides who is late; then it stops reading, and the daemon's flag falls. The other things on that clock (the
#: commit of the opponent's move, the way to the daemon and back) take milliseconds, at worst tenths of a second.
CLOCK_SLACK = 1.0

#: Characters of a comment that are kept: more than CodinGame's viewer shows.
MAX_COMMENT = 500

#: The prefix of an unplayable move that is sent to the daemon: some moves that CodinGame does not understand (castling
#: as e1g1, Nf3) the daemon would accept.
UNPLAYABLE = "?"


def status_of(ending: Ending) -> str:
    """Return the sentence for a game that ended so; empty where the elimination of a bot says more."""
    return ending.said(ending.cause.value.referee)


class NoVerdict(Exception):
    """The match cannot be decided, and no bot is to blame. The text is a sentence for people."""


@dataclass(frozen=True)
class Rules:
    """The rules of a match.

    :ivar start: the start position of both games: its number in Scharnagl's numbering, or a FEN.
    """

    start: int | str
    crazyhouse: bool = False
    max_moves: int = MAX_MOVES
    limits: Limits = field(default_factory=Limits)

    @property
    def variant(self) -> str:
        """The daemon's name of the variant."""
        return "crazyhouse" if self.crazyhouse else "chess960"

    @property
    def options(self) -> dict[str, Any]:
        """The fields of ``new_game``."""
        seconds = self.limits.turn + self.limits.margin + CLOCK_SLACK
        return {
            "variant": self.variant,
            "position" if isinstance(self.start, int) else "fen": self.start,
            "draws": "automatic",
            "max_moves": self.max_moves,
            "illegal_move": "lose",
            "clock": {"first_move": seconds, "per_move": seconds},
        }


class RefereedGame:
    """A game between two bots.

    :ivar record: the record of the game so far.
    """

    def __init__(
        self,
        ask: Ask,
        number: int,
        bots: Mapping[chess.Color, Contestant],
        rules: Rules,
        rng: random.Random,
        seen: Callable[[GameRecord], None],
    ) -> None:
        """:param rng: draws the moves of bots that answer ``random``.
        :param seen: called with the record whenever it has changed.
        """
        self._ask, self._bots, self._rules, self._rng, self._seen = ask, bots, rules, rng, seen
        white, black = bots[chess.WHITE].number, bots[chess.BLACK].number
        self.record = GameRecord(number, 0, white, black, rules.variant, "")
        self._board: chess.Board
        self._state: dict[str, Any]

    async def play(self) -> None:
        """Play the whole game.

        :raises Defeat: the bot to move has lost the match; the game is over then, and so is its record.
        :raises NoVerdict: the game was disturbed from outside.
        :raises GmError: the daemon does not have the game.
        """
        await self._begin()
        try:
            while self._state["phase"] != "over":
                await self._take_turn()
        except Defeat as defeat:
            await self._eliminate(defeat)
            raise

    @property
    def turn(self) -> Contestant:
        """The bot to move."""
        return self._bots[self._board.turn]

    @property
    def ply(self) -> int:
        """The number of moves made so far."""
        return len(self._board.move_stack)

    async def _begin(self) -> None:
        players = {f"player_{COLOR_NAMES[color]}": bot.player for color, bot in self._bots.items()}
        made = await self._ask("new_game", **players, **self._rules.options, brief=True)
        self.record.game_id, self.record.start_fen = made["game_id"], made["state"]["start_fen"]
        self._board = board_of(self._rules.variant, self.record.start_fen)
        for bot in self._bots.values():  # the first contact of both starts the clock
            made = await self._ask("state", game_id=self.record.game_id, player=bot.player, brief=True)
        self._stand(made["state"])

    def _stand(self, state: dict[str, Any]) -> None:
        """Record the state of the game, as the daemon has sent it."""
        self._state = state
        self.record.result, self.record.termination = state["result"], state["termination"]
        self.record.fen = fen(self._board)
        ending = ending_of(state["termination"], self._rules.variant)
        offer = "A draw is offered." if state["draw_offered"] else ""
        self.record.status = offer if ending is None else status_of(ending)

    async def _take_turn(self) -> None:
        bot, color, ply = self.turn, self._board.turn, self.ply
        other = self._bots[not color]
        offered = self._state["draw_offered"]
        position = Position(self._board, offered, self.record.number, (bot.score, other.score))
        reply = await bot.answer(inputs(bot.inputs, position), self._rules.limits)
        try:
            answer = read_answer(reply.line, draw_offered=offered)
        except BadAnswer as error:
            raise Defeat("bad_output", str(error)) from None
        move = self._move_of(answer)
        san = None if move is None else self._board.san(move)
        text = None if move is None else write_move(self._board, move)
        await self._carry_out(answer, move)
        self._note(ply, color, answer, text, san, reply)

    def _move_of(self, answer: Answer) -> chess.Move | None:
        """Return the move to make.

        :raises Defeat: it is not legal.
        """
        if answer.action is Action.RANDOM:
            return self._rng.choice(list(self._board.legal_moves))
        if answer.move is None:
            return None
        try:
            return read_move(self._board, answer.move)
        except BadAnswer as error:
            raise Defeat("illegal_move", str(error)) from None

    async def _carry_out(self, answer: Answer, move: chess.Move | None) -> None:
        if move is not None:
            text = self._board.uci(move)
            reply = await self._act("move", move=text, offer_draw=answer.offers_draw)
            self._board.push(move)
        elif answer.action is Action.RESIGN:
            reply = await self._act("end_game", termination=Ending.by(Cause.RESIGNATION, self._board.turn).termination)
        else:
            reply = await self._act("end_game", termination=Ending(Cause.AGREEMENT).termination)
        self._stand(reply["state"])

    async def _act(self, kind: str, **fields: Any) -> dict[str, Any]:
        """Send a request in the place of the bot to move.

        :raises NoVerdict: the game has changed without the referee.
        """
        where = {"game_id": self.record.game_id, "player": self.turn.player, "ply": self.ply, "brief": True}
        try:
            reply: dict[str, Any] = await self._ask(kind, **where, **fields)
        except GmError as error:
            if error.code not in {"game_over", "stale", "not_your_turn"}:
                raise
            raise NoVerdict(
                f"game {self.record.game_id} went on or ended without the referee: {error}. A timeout means that more "
                f"than {CLOCK_SLACK:g} s were lost between the bots and the daemon"
            ) from None
        return reply

    def _note(
        self, ply: int, color: chess.Color, answer: Answer, text: str | None, san: str | None, reply: Heard
    ) -> None:
        number, comment = self._bots[color].number, answer.comment[:MAX_COMMENT]
        status = self.record.status
        turn = TurnRecord(
            ply,
            number,
            COLOR_NAMES[color],
            answer.action.value,
            text,
            san,
            answer.offers_draw,
            comment,
            reply.seconds,
            status,
        )
        self.record.turns.append(turn)
        self._seen(self.record)

    async def _eliminate(self, defeat: Defeat) -> None:
        """End the game of a bot that has lost the match."""
        color = self._board.turn
        if defeat.kind == "timeout":
            await self._until_the_clock_falls()
            lost, drawn = Ending.by(Cause.TIMEOUT, color).termination, Ending(Cause.TIMEOUT_DRAW).termination
            expected = drawn if self.record.termination == drawn else lost  # drawn where the opponent cannot mate
        elif defeat.kind == "crash":
            expected = Ending.by(Cause.RESIGNATION, color).termination  # as for every bot that stops answering
            self._stand((await self._act("end_game", termination=expected))["state"])
        else:
            expected = Ending.by(Cause.FORFEIT, color).termination
            self._stand((await self._act("move", move=f"{UNPLAYABLE}{defeat}"))["state"])
        if self.record.termination != expected:
            message = f"game {self.record.game_id} ended by {self.record.termination} instead of {expected}"
            raise NoVerdict(message) from defeat
        self.record.status = f"{COLOR_NAMES[color].capitalize()} is eliminated: {defeat}."
        self._seen(self.record)

    async def _until_the_clock_falls(self) -> None:
        while self._state["phase"] != "over":
            where = {"game_id": self.record.game_id, "ply": self.ply, "player": None, "brief": True}
            self._stand((await self._ask("wait", **where))["state"])
