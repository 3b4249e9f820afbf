"""One game of a match: its bots are started, the daemon makes it, and each seat is played until it is over."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import chess
import trio
from chess import BLACK, WHITE

from gm_client.blocking import GameState, NewGameReply, PlayerNames
from gm_protocol.endings import Cause
from gm_protocol.state import COLOR_NAMES

from ..bot import Bot, BotFailed, Bots, Place, Stillborn
from ..bridge import Server
from ..endings import ending_of
from ..seat import Played, play_seat
from ..sides import player_in
from .adjudication import Adjudicator, Rules
from .observed import HandOver, MoveTime, ObservedBot
from .plan import Fixture
from .record import Record
from .trial import started


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
    :ivar stall_seconds: the most seconds for a move where there is no clock.
    :ivar rules: how games are adjudicated.
    """

    variant: str
    options: Mapping[str, Any]
    seed: int
    stall_seconds: float
    rules: Rules = field(default_factory=Rules)


class Playing:
    """Plays the fixtures of a match on a server."""

    def __init__(
        self, server: Callable[[int | str | None], Server], contestants: list[Contestant], terms: Terms
    ) -> None:
        """:param server: returns the server to play on, for a player or for a client without one."""
        self._server, self._contestants, self._terms = server, contestants, terms

    async def play(self, fixture: Fixture) -> Record:
        """Play a game.

        :raises MatchError: the game cannot be played, through no fault of a bot.
        :raises ConnectionLost: the server has been unreachable for longer than the patience.
        """
        began, started = time.monotonic(), datetime.now(UTC)
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
            "seconds": round(time.monotonic() - began, 3),
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
        shared = self._terms.stall_seconds, HandOver(), Adjudicator(self._terms.rules)
        seen: dict[chess.Color, ObservedBot] = {}
        if WHITE in bots:
            seen[WHITE] = ObservedBot(bots[WHITE], *shared)
        if BLACK in bots:
            seen[BLACK] = ObservedBot(bots[BLACK], *shared, after=seen.get(WHITE))
        return seen

    async def _make(self, fixture: Fixture, sides: Mapping[chess.Color, Contestant]) -> NewGameReply:
        fields = {"variant": self._terms.variant, **self._terms.options, **fixture.opening.fields()}
        white, black = sides[WHITE].player, sides[BLACK].player
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
    return ended.cause.value.words


def _fault(failure: BotFailed, game_id: int) -> dict[str, str]:
    """Return a failure without the game's id, so that it is the same when the game is played again."""
    return {"kind": failure.fault, "reason": str(failure).replace(f" in game {game_id}", "")}


def _time(move: MoveTime) -> list[Any]:
    """Return a row of ``times``: ply, seconds thought, charged and left, score, seconds of hand-over, depth."""
    charged = None if move.charged is None else round(move.charged, 3)
    handed = None if move.handed is None else round(move.handed, 6)
    return [move.ply, round(move.thought, 6), charged, move.left, move.score, handed, move.depth]
