"""A match by CodinGame's rules: a turn to configure, then two games from one position with the colours swapped.

The bots answer in turn; the daemon plays the games and decides their results.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

import chess
import trio

from gm_client.blocking import VERSION, GmError
from gm_protocol.endings import Cause, Ending
from gm_protocol.state import COLOR_NAMES

from ..boards import board_of
from ..bot import BotFailed
from ..codingame import (
    MAX_MOVES,
    Action,
    Answer,
    BadAnswer,
    Position,
    constants,
    fen,
    inputs,
    read_answer,
    read_configuration,
    read_move,
    write_move,
)
from ..endings import ending_of
from .record import HALF_POINTS, BotRecord, Failure, FailureKind, GameRecord, MatchRecord, TurnRecord

#: The classical position, in Scharnagl's numbering.
CLASSICAL = 518

_STATE = (1 << 48) - 1

#: Seconds to wait for the exit status of an ended process. The daemon's clock runs meanwhile, for a second at least.
REASON_SECONDS = 0.25

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


async def play_match(
    ask: Ask,
    bots: tuple[Contestant, Contestant],
    rules: Rules,
    seed: int,
    seen: Callable[[GameRecord], None] = lambda game: None,
) -> MatchRecord:
    """Play a match and return its record.

    :param seed: the seed of random moves; the start position comes from the rules.
    :param seen: called with a game's record whenever it has changed.
    :raises NoVerdict: the match cannot be decided, through no fault of the bots.
    :raises gm_client.blocking.GmError: the daemon refuses the games.
    """
    record = MatchRecord(
        f"gmd/{VERSION}",
        seed,
        rules.start,
        rules.crazyhouse,
        rules.max_moves,
        asdict(rules.limits),
        [bot.record for bot in bots],
    )
    if await _configured(bots, rules, record):
        rng = random.Random(seed)
        for number in (1, 2):
            if not await _played(ask, number, bots, rules, rng, seen, record):
                break
    record.winner = _winner(record)
    return record


async def _configured(bots: tuple[Contestant, Contestant], rules: Rules, record: MatchRecord) -> bool:
    """Configure the bots one after the other, so that neither is disturbed by the other's start."""
    for bot in bots:
        try:
            await bot.configure(rules.limits, crazyhouse=rules.crazyhouse, max_moves=rules.max_moves)
        except Defeat as defeat:
            record.failure = Failure(bot.number, 0, 0, defeat.kind, str(defeat))
            return False
    return True


async def _played(
    ask: Ask,
    number: int,
    bots: tuple[Contestant, Contestant],
    rules: Rules,
    rng: random.Random,
    seen: Callable[[GameRecord], None],
    record: MatchRecord,
) -> bool:
    """Play a game; return whether the match may go on."""
    white, black = bots if number == 1 else bots[::-1]
    game = RefereedGame(ask, number, {chess.WHITE: white, chess.BLACK: black}, rules, rng, seen)
    record.games.append(game.record)
    try:
        await game.play()
    except Defeat as defeat:
        record.failure = Failure(game.turn.number, number, game.ply, defeat.kind, str(defeat))
        return False
    for bot, points in zip((white, black), HALF_POINTS[game.record.result], strict=True):
        bot.score += points
        record.score[bot.number - 1] = bot.score
    return True


def _winner(record: MatchRecord) -> int | None:
    """Return the bot whose opponent has failed, or the one with more points."""
    if record.failure is not None:
        return 3 - record.failure.bot
    first, second = record.score
    return None if first == second else 1 if first > second else 2


# --- A bot -------------------------------------------------------------------------------------------------------


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


# --- A game ------------------------------------------------------------------------------------------------------


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


# --- The start position that CodinGame draws for a seed ----------------------------------------------------------


class JavaRandom:
    """``java.util.Random``, whose documentation defines its numbers exactly: CodinGame's referee is a Java program."""

    def __init__(self, seed: int) -> None:
        """:param seed: of 64 bits, of which 48 are used."""
        self._state = (seed ^ 0x5DEECE66D) & _STATE

    def bits(self, count: int) -> int:
        """Return so many random bits, at most 32, as an unsigned number."""
        self._state = (self._state * 0x5DEECE66D + 0xB) & _STATE
        return self._state >> 48 - count

    def below(self, bound: int) -> int:
        """Return ``nextInt(bound)``: a number from 0 to below ``bound``, all equally likely."""
        drawn = self.bits(31)
        if bound & bound - 1 == 0:
            return bound * drawn >> 31
        while drawn - drawn % bound + bound > 1 << 31:
            drawn = self.bits(31)
        return drawn % bound


def start_position(seed: int) -> int:
    """Return the number of the start position, in Scharnagl's numbering.

    The dice are those of the usual method for Chess960, in the referee's order: the bishop on the files a, c, e, g; the
    other bishop; the queen; and both knights on free squares. Seed 0 is the classical position.
    """
    if seed == 0:
        return CLASSICAL
    dice = JavaRandom(seed)
    row = [""] * 8
    row[2 * dice.below(4)] = "B"
    row[2 * dice.below(4) + 1] = "B"
    for piece, sides in (("Q", 6), ("N", 5), ("N", 4), ("R", 1), ("K", 1), ("R", 1)):
        free = [file for file, taken in enumerate(row) if not taken]
        row[free[dice.below(sides) if sides > 1 else 0]] = piece
    first = "".join(row)
    board = chess.BaseBoard(f"{first.lower()}/pppppppp/8/8/8/8/PPPPPPPP/{first}")
    number = board.chess960_pos()
    assert number is not None
    return number
