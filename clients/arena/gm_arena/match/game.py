"""One game of a match: its bots are started, the daemon makes it, and each seat is played until it is over."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import trio

from gm_client.blocking import Color, GameState, NewGameReply
from gm_protocol.endings import Cause
from gm_protocol.state import COLOR_NAMES

from ..bot import Bot, BotFailed, Bots, Place, Stillborn
from ..bridge import Server
from ..endings import cause_words, ending_of
from ..seat import Played, play_seat
from .observed import HandOver, MoveTime, ObservedBot
from .plan import Fixture
from .record import Record
from .trial import started


class MatchError(Exception):
    """The match cannot go on: an opponent is not there, or the server refuses a game."""


@dataclass(frozen=True)
class Contestant:
    """Somebody who plays in a match.

    :ivar bots: where its bots come from; None if it plays somewhere else.
    :ivar player: whom it plays as on the server: an id, or the name of a registered player who is to be challenged.
    """

    label: str
    bots: Bots | None
    player: int | str


@dataclass(frozen=True)
class Terms:
    """What all games of a match have in common.

    :ivar options: fields of ``new_game``.
    :ivar stall_seconds: how long a move may take where there is no clock.
    """

    variant: str
    options: Mapping[str, Any]
    seed: int
    stall_seconds: float


class Playing:
    """Plays fixtures on a server."""

    def __init__(
        self, server: Callable[[int | str | None], Server], contestants: list[Contestant], terms: Terms
    ) -> None:
        """:param server: where to play, as a player, or as nobody."""
        self._server, self._contestants, self._terms = server, contestants, terms

    async def play(self, fixture: Fixture) -> Record:
        """Play a game.

        :raises MatchError: it cannot be played, through no fault of a bot's.
        :raises ConnectionLost: the server is gone, for longer than there is patience.
        """
        began, started = time.monotonic(), datetime.now(UTC)
        white, black = (self._contestants[number] for number in fixture.bots)
        sides: dict[Color, Contestant] = {"white": white, "black": black}
        error: Exception | None = None
        async with trio.open_nursery() as beside:
            try:
                bots = await self._start(sides, beside)
                state, seen = await self._play(fixture, sides, bots)
            except Exception as raised:  # carried past the nursery, which would make a group of it
                error = raised
            beside.cancel_scope.cancel()
        if error is not None:
            raise error
        if state["result"] == "*":
            raise MatchError(f"game {fixture.number} was called off before it began: {state['termination']}")
        async with self._server(None).client() as client:
            history = await client.history(state["game_id"])
        record: Record = {
            "game": fixture.number,
            "white": sides["white"].label,
            "black": sides["black"].label,
            "opening": fixture.opening.name,
            "start_fen": state["start_fen"],
            "pair": fixture.pair,
            "result": state["result"],
            "termination": state["termination"],
            "ending": ending(state, seen),
            "plies": state["ply_index"],
            "moves": history["moves"],
            "faults": {
                color: _fault(bot.failure, state["game_id"]) for color, bot in seen.items() if bot.failure is not None
            },
            "variant": state["variant"],
            "clock": self._terms.options.get("clock"),
            "game_id": state["game_id"],
            "started": f"{started:%Y-%m-%dT%H:%M:%SZ}",
            "seconds": round(time.monotonic() - began, 3),
            "times": {color: [_time(move) for move in bot.moves] for color, bot in seen.items()},
            "pgn": history["pgn"],
        }
        if history["history"] is None:
            return record
        return {**record, "history": {**history["history"], "white_name": white.label, "black_name": black.label}}

    async def _start(self, sides: Mapping[Color, Contestant], beside: trio.Nursery) -> dict[Color, Bot]:
        bots: dict[Color, Bot] = {}

        async def start(color: Color, source: Bots) -> None:
            try:
                bots[color] = await started(source, beside)
            except BotFailed as failure:
                bots[color] = Stillborn(failure)

        async with trio.open_nursery() as nursery:
            for color, side in sides.items():
                if side.bots is not None:
                    nursery.start_soon(start, color, side.bots)
        return bots

    async def _play(
        self, fixture: Fixture, sides: Mapping[Color, Contestant], bots: Mapping[Color, Bot]
    ) -> tuple[GameState, dict[Color, ObservedBot]]:
        """The last state, and what was seen of those who play here."""
        seen = self._observed(bots)
        try:
            game = await self._make(fixture, sides)
        except BaseException:
            with trio.CancelScope(shield=True):
                for bot in seen.values():
                    await bot.aclose()
            raise
        names = {color: side.label for color, side in sides.items()}
        places = {color: self._place(fixture, game["state"], color, names) for color in seen}
        states: list[GameState] = []
        error: Exception | None = None
        async with trio.open_nursery() as nursery:

            async def play(color: Color) -> None:
                nonlocal error
                try:
                    async with self._server(sides[color].player).client() as client:
                        played: Played = await play_seat(client, places[color], seen[color])
                    states.append(played.state)
                except Exception as raised:  # carried past the nursery, which would make a group of it
                    error = error or raised
                    nursery.cancel_scope.cancel()
                seen[color].begun.set()

            for color in seen:
                nursery.start_soon(play, color)
        if error is not None:
            raise error
        return states[-1] if states else await self._watch(game["game_id"]), seen

    def _observed(self, bots: Mapping[Color, Bot]) -> dict[Color, ObservedBot]:
        between, stall_seconds = HandOver(), self._terms.stall_seconds
        seen: dict[Color, ObservedBot] = {}
        if "white" in bots:
            seen["white"] = ObservedBot(bots["white"], stall_seconds, between)
        if "black" in bots:
            seen["black"] = ObservedBot(bots["black"], stall_seconds, between, after=seen.get("white"))
        return seen

    async def _make(self, fixture: Fixture, sides: Mapping[Color, Contestant]) -> NewGameReply:
        variant = self._terms.variant
        fields = {"variant": variant, **self._terms.options, **fixture.opening.fields(variant)}
        white, black = sides["white"].player, sides["black"].player
        if isinstance(white, str) or isinstance(black, str):
            mine: Color = "black" if isinstance(white, str) else "white"
            opponent = white if isinstance(white, str) else black
            async with self._server(sides[mine].player).client() as client:
                return await client.challenge(opponent, color=mine, brief=True, **fields)
        async with self._server(None).client() as client:
            return await client.new_game(white, black, brief=True, **fields)

    async def _watch(self, game_id: int) -> GameState:
        """The last state of a game that nobody here plays in."""
        async with self._server(None).client() as client:
            state = (await client.state(game_id, player=None, brief=True))["state"]
            while state["phase"] != "over":
                latest = (await client.wait(game_id, player=None, ply=state["ply_index"], brief=True))["state"]
                state = latest or state
            return state

    def _place(self, fixture: Fixture, state: GameState, color: Color, names: Mapping[Color, str]) -> Place:
        async def read_moves() -> list[str]:
            async with self._server(None).client() as client:
                return (await client.history(state["game_id"]))["moves"]

        opponent = state["player_black" if color == "white" else "player_white"]
        seed = hash_of(self._terms.seed, fixture.number)
        reading: Callable[[], Awaitable[list[str]]] = read_moves
        return Place(
            state["game_id"], color, state["variant"], state["start_fen"], opponent, reading, seed=seed, names=names
        )


def hash_of(seed: int, number: int) -> int:
    """A game's own seed."""
    return seed * 1_000_003 + number


def ending(state: GameState, seen: Mapping[Color, ObservedBot]) -> str:
    """How a game ended, for people; where a bot did wrong, what.

    A loss on time is a ``stall`` where the bot would not answer after it, either, and ``time`` otherwise.
    """
    ended = ending_of(state["termination"], state["variant"])
    if ended is None:
        return state["termination"]
    bot = None if ended.loser is None else seen.get(COLOR_NAMES[ended.loser])
    if ended.cause is Cause.TIMEOUT and bot is not None and bot.silent:
        return "stall"
    if ended.cause is Cause.RESIGNATION and bot is not None and bot.failure is not None:
        return bot.failure.fault
    return cause_words(ended.cause)


def _fault(failure: BotFailed, game_id: int) -> dict[str, str]:
    """The same of the same game, whatever its id."""
    return {"kind": failure.fault, "reason": str(failure).replace(f" in game {game_id}", "")}


def _time(move: MoveTime) -> list[Any]:
    """A row of ``times``: ply, seconds thought, seconds charged, seconds left, score, seconds of the hand-over."""
    charged = None if move.charged is None else round(move.charged, 3)
    handed = None if move.handed is None else round(move.handed, 6)
    return [move.ply, round(move.thought, 6), charged, move.left, move.score, handed]
