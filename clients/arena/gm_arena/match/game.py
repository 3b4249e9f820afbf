"""One game of a match: its bots are started, the daemon makes it, and each seat is played until it is over.

The daemon's clock decides whether a bot lost on time. The observation of a bot measures how much of the charged time
the bot did not have: the time that the runner, the daemon and the machine take.
"""

from __future__ import annotations

import traceback
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import chess
import trio
from chess import BLACK, WHITE

from gm_client.blocking import (
    BadReply,
    ConnectionLost,
    GameState,
    GmError,
    HistoryReply,
    MoveReply,
    NewGameReply,
    PlayerNames,
    Square,
    StateReply,
)
from gm_client.chess_turns import AnyMove, Sensed
from gm_client.trio_client import Turn
from gm_protocol.endings import Cause
from gm_protocol.state import COLOR_NAMES

from ..bot import Bot, BotFailed, Bots, BotUnusable, Place, Stillborn
from ..bridge import Server
from ..endings import ending_of
from ..seat import Played, play_seat
from ..sides import player_in
from .adjudication import Adjudicator, Rules
from .plan import Fixture
from .record import Record


class MatchError(Exception):
    """The match cannot continue: an opponent is missing, or the server refuses a game."""


@dataclass(frozen=True)
class Contestant:
    """A participant of a match.

    :ivar bots: the factory of its bots; None if it plays elsewhere.
    :ivar player: its player on the server: an id, or the name of a registered player who is to be challenged.
    """

    label: str
    bots: Bots | None
    player: int | str


@dataclass(frozen=True)
class Terms:
    """The terms that all games of a match share.

    :ivar options: fields of ``new_game``.
    :ivar rules: how games are adjudicated.
    """

    variant: str
    options: Mapping[str, Any]
    seed: int
    rules: Rules = field(default_factory=Rules)


class Playing:
    """Plays the fixtures of a match on a server."""

    def __init__(
        self,
        server: Callable[[int | str | None], Server],
        contestants: list[Contestant],
        terms: Terms,
        token: str | None = None,
    ) -> None:
        """:param server: returns the server to play on, for a player or for a client without one.
        :param token: names the match: a game of it that the server has already, though its process was lost, goes on.
        """
        self._server, self._contestants, self._terms, self._token = server, contestants, terms, token

    async def play(self, fixture: Fixture) -> Record:
        """Play a game.

        :raises MatchError: the game cannot be played, through no fault of a bot.
        :raises ConnectionLost: the server has been unreachable for longer than the patience.
        """
        began, started = trio.current_time(), datetime.now(UTC)
        white, black = (self._contestants[number] for number in fixture.bots)
        sides: dict[chess.Color, Contestant] = {WHITE: white, BLACK: black}
        error: Exception | None = None
        async with trio.open_nursery() as background:
            try:
                bots = await self._start(sides, background)
                state, seen = await self._play(fixture, sides, bots)
            except Exception as raised:  # raised outside the nursery, which would wrap it in a group
                error = raised
            background.cancel_scope.cancel()
        if error is not None:
            raise error
        if state["result"] == "*":
            raise MatchError(f"game {fixture.number} was called off before it began: {state['termination']}")
        async with self._server(None).client() as client:
            history = await client.history(state["game_id"])
        record: Record = {
            "game": fixture.number,
            "white": sides[WHITE].label,
            "black": sides[BLACK].label,
            "opening": fixture.opening.name,
            "start_fen": state["start_fen"],
            "pair": fixture.pair,
            "result": state["result"],
            "termination": state["termination"],
            "ending": ending(state, seen),
            "plies": state["ply_index"],
            "moves": history["moves"],
            "faults": {
                COLOR_NAMES[color]: _fault(bot.failure, state["game_id"])
                for color, bot in seen.items()
                if bot.failure is not None
            },
            "variant": state["variant"],
            "clock": self._terms.options.get("clock"),
            "game_id": state["game_id"],
            "started": f"{started:%Y-%m-%dT%H:%M:%SZ}",
            "seconds": round(trio.current_time() - began, 3),
            "times": {COLOR_NAMES[color]: [_time(move) for move in bot.moves] for color, bot in seen.items()},
            "pgn": history["pgn"],
        }
        if history["history"] is None:
            return record
        return {**record, "history": {**history["history"], "white_name": white.label, "black_name": black.label}}

    async def _start(self, sides: Mapping[chess.Color, Contestant], background: trio.Nursery) -> dict[chess.Color, Bot]:
        bots: dict[chess.Color, Bot] = {}

        async def start(color: chess.Color, source: Bots) -> None:
            try:
                bots[color] = await started(source, background)
            except BotFailed as failure:
                bots[color] = Stillborn(failure)

        async with trio.open_nursery() as nursery:
            for color, side in sides.items():
                if side.bots is not None:
                    nursery.start_soon(start, color, side.bots)
        return bots

    async def _play(
        self, fixture: Fixture, sides: Mapping[chess.Color, Contestant], bots: Mapping[chess.Color, Bot]
    ) -> tuple[GameState, dict[chess.Color, ObservedBot]]:
        """Return the last state, and the observations of the bots that play here."""
        seen = self._observed(bots)
        try:
            game = await self._make(fixture, sides)
        except BaseException:
            with trio.CancelScope(shield=True):
                for bot in seen.values():
                    await bot.aclose()
            raise
        names = PlayerNames(white=sides[WHITE].label, black=sides[BLACK].label)
        places = {color: self._place(fixture, game["state"], color, names) for color in seen}
        states: list[GameState] = []
        error: Exception | None = None
        async with trio.open_nursery() as nursery:

            async def play(color: chess.Color) -> None:
                nonlocal error
                try:
                    async with self._server(sides[color].player).client() as client:
                        played: Played = await play_seat(client, places[color], seen[color])
                    states.append(played.state)
                except Exception as raised:  # raised outside the nursery, which would wrap it in a group
                    error = error or raised
                    nursery.cancel_scope.cancel()
                seen[color].begun.set()

            for color in seen:
                nursery.start_soon(play, color)
        if error is not None:
            raise error
        return states[-1] if states else await self._watch(game["game_id"]), seen

    def _observed(self, bots: Mapping[chess.Color, Bot]) -> dict[chess.Color, ObservedBot]:
        judge = Adjudicator(self._terms.rules)
        seen: dict[chess.Color, ObservedBot] = {}
        if WHITE in bots:
            seen[WHITE] = ObservedBot(bots[WHITE], judge)
        if BLACK in bots:
            seen[BLACK] = ObservedBot(bots[BLACK], judge, after=seen.get(WHITE))
        return seen

    async def _make(self, fixture: Fixture, sides: Mapping[chess.Color, Contestant]) -> NewGameReply:
        fields = {"variant": self._terms.variant, **self._terms.options, **fixture.opening.fields()}
        white, black = sides[WHITE].player, sides[BLACK].player
        if self._token is not None:  # the players are named, as another request with one token is refused
            fields["token"] = f"match {self._token} {fixture.number} {white} {black}"
        if isinstance(white, str) or isinstance(black, str):
            mine = BLACK if isinstance(white, str) else WHITE
            opponent = white if isinstance(white, str) else black
            async with self._server(sides[mine].player).client() as client:
                return await client.challenge(opponent, color=COLOR_NAMES[mine], brief=True, **fields)
        async with self._server(None).client() as client:
            return await client.new_game(white, black, brief=True, **fields)

    async def _watch(self, game_id: int) -> GameState:
        """Return the last state of a game in which no bot plays here."""
        async with self._server(None).client() as client:
            state = (await client.state(game_id, player=None, brief=True))["state"]
            while state["phase"] != "over":
                latest = (await client.wait(game_id, player=None, ply=state["ply_index"], brief=True))["state"]
                state = latest or state
            return state

    def _place(self, fixture: Fixture, state: GameState, color: chess.Color, names: PlayerNames) -> Place:
        async def read_moves() -> list[str]:
            async with self._server(None).client() as client:
                return (await client.history(state["game_id"]))["moves"]

        opponent = player_in(state, not color)
        seed = hash_of(self._terms.seed, fixture.number)
        reading: Callable[[], Awaitable[list[str]]] = read_moves
        return Place(
            state["game_id"], color, state["variant"], state["start_fen"], opponent, reading, seed=seed, names=names
        )


def hash_of(seed: int, number: int) -> int:
    """Return a game's own seed."""
    return seed * 1_000_003 + number


def ending(state: GameState, seen: Mapping[chess.Color, ObservedBot]) -> str:
    """Return how a game ended, in words; where a bot failed, the failure; ``adjudication`` where its score decided.

    A loss on time is a ``stall`` where the bot did not answer after it, either, and ``time`` otherwise.
    """
    ended = ending_of(state["termination"], state["variant"])
    if ended is None:
        return state["termination"]
    bot = None if ended.loser is None else seen.get(ended.loser)
    if ended.cause is Cause.TIMEOUT and bot is not None and bot.silent:
        return "stall"
    if ended.cause is Cause.RESIGNATION and bot is not None and bot.failure is not None:
        return bot.failure.fault
    if ended.cause in (Cause.RESIGNATION, Cause.AGREEMENT) and any(each.adjudicated for each in seen.values()):
        return "adjudication"
    return ended.words


def _fault(failure: BotFailed, game_id: int) -> dict[str, str]:
    """Return a failure without the game's id, so that it is the same when the game is played again."""
    return {"kind": failure.fault, "reason": str(failure).replace(f" in game {game_id}", "")}


def _time(move: MoveTime) -> list[Any]:
    """Return a row of ``times``: ply, seconds thought, charged and left, score, depth."""
    charged = None if move.charged is None else round(move.charged, 3)
    return [move.ply, round(move.thought, 6), charged, move.left, move.score, move.depth]


# --- A bot under observation -------------------------------------------------------------------------------------


#: Seconds for a bot's work before the first clock runs, and after the game, which no clock limits.
BEGIN_SECONDS = 60.0
END_SECONDS = 10.0

#: Seconds for a move where there is no clock: a bot that is silent for so long has stopped.
STALL_SECONDS = 600.0


@dataclass
class MoveTime:
    """The times of one move of a bot, in seconds.

    :ivar thought: from the bot's receiving its turn to its answer, without the server's work on its requests.
    :ivar charged: the time that the daemon's clock charged, to the millisecond; None where it does not show that.
    :ivar left: the clock's time after the move; None without a clock.
    :ivar score: the bot's score of the move, if it gives one.
    :ivar depth: the plies that the bot has searched, if it says so.
    """

    ply: int
    thought: float
    charged: float | None
    left: float | None
    score: str | None
    depth: int | None


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
        adjudicator: Adjudicator,
        after: ObservedBot | None = None,
    ) -> None:
        """:param adjudicator: shared by both bots of a game.
        :param after: the bot that begins first, so that the same one always loses if both fail to begin.
        """
        self._bot, self._after = bot, after
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
        offers_draw = self._adjudicator.drawn(turn.ply)
        timed = TimedTurn(turn, reports=bool(clock.get("lag")), offers_draw=offers_draw)
        ending = self._adjudicator.ending(self._place.color, turn.ply, offered=turn.state["draw_offered"])
        if ending is not None:
            self.adjudicated = True
            await timed.end_game(ending.termination)
            return
        self.silent = True
        try:
            seconds = STALL_SECONDS if turn.state["clock"] is None else float("inf")
            await self._within(seconds, "move", self._bot.take_turn(timed))
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
        # The time charged for the first move is unknown: the clock starts at the first contact of both players.
        self._left = left
        self._adjudicator.note(self._place.color, self._bot.score)
        self.moves.append(MoveTime(timed.ply, timed.thought, charged, left, self._bot.score, self._bot.depth))

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

    def __init__(self, turn: Turn, *, reports: bool, offers_draw: bool) -> None:
        """:param reports: whether to report the times to the server, for a clock with a lag.
        :param offers_draw: whether to offer a draw with the move, whatever the bot does.
        """
        self.__dict__.update(turn.__dict__)
        self._reports, self._offers_draw = reports, offers_draw
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


# --- The start of bots -------------------------------------------------------------------------------------------


#: Seconds for a bot's process to start and identify itself.
START_SECONDS = 60.0


async def try_out(bots: Iterable[tuple[str, Bots]], variant: str) -> None:
    """Start all bots, and close them again.

    :param bots: each with its label.
    :raises BotUnusable: a bot does not start, or does not play the variant.
    """
    failures: list[BotUnusable] = []

    async def try_one(label: str, source: Bots) -> None:
        try:
            await (await started(source, background)).aclose()
        except BotFailed as failure:
            failures.append(BotUnusable(f"{label}: {failure}"))
            return
        if variant not in source.variants:  # an engine's variants are known once it has started
            plays = ", ".join(sorted(source.variants))
            failures.append(BotUnusable(f"{source.name} plays {plays}, and not {variant}"))

    async with trio.open_nursery() as background:
        async with trio.open_nursery() as nursery:
            for label, source in bots:
                nursery.start_soon(try_one, label, source)
        background.cancel_scope.cancel()
    if failures:
        raise failures[0]


async def started(bots: Bots, background: trio.Nursery) -> Bot:
    """Return a new bot.

    :param background: runs the bot's background tasks.
    :raises BotFailed: the bot does not start, or not in time.
    """
    try:
        with trio.fail_after(START_SECONDS):
            return await bots.start(background)
    except trio.TooSlowError:
        raise BotFailed(f"did not start in {START_SECONDS:g} seconds", fault="stall") from None
