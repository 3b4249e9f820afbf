"""Players (:class:`gm_recon.Player`) as bots: each plays one game in a thread of this process.

What a player needs beside its methods is optional: ``score`` and ``depth`` of its latest move, as a :class:`.bot.Bot`
has them, and ``close()``, called from another thread whatever the player is doing, after which it plays no more.
"""

from __future__ import annotations

import json
import math
import random
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, TypeVar

import chess
import trio
from chess import Board, Move, Square

from gm_client.blocking import Color, GameState, HistoryReply
from gm_client.rbc import own_board, read_move, read_square
from gm_client.trio_client import Turn
from gm_recon import Player, read_json
from gm_recon.player import checked_move, checked_sense, tell_end

from .bot import Bot, BotFailed, Bots, Place

T = TypeVar("T")

#: Seconds in which a player must be made: it may load a network or start an engine, on a busy machine.
START_SECONDS = 60.0

#: The threads of players, as many as there are: one that hangs keeps its thread, and must not stop others.
_THREADS = trio.CapacityLimiter(math.inf)

#: Makes a player, which draws all that is random from the generator, and nothing before its game begins.
MakePlayer = Callable[[random.Random], Player]


class PlayerBots(Bots):
    """A factory of players of blind chess. A subclass may have other bots for other variants.

    :ivar joins_late: whether a player can take over a game whose first moves it has not seen. It is then given, as the
        position that the game begins with, its own pieces as they are, and the opponent's where they were at first.
    """

    variants = frozenset({"rbc"})
    defaults: ClassVar[dict[str, Any]] = {"variant": "rbc"}
    joins_late = False

    def __init__(self, name: str, make: MakePlayer, *, seed: int | None = None, others: Bots | None = None) -> None:
        """:param make: makes the player of each game, in a thread.
        :param seed: if given, a game that has a seed of its own is repeatable as long as the opponent's moves are.
        :param others: what plays the variants other than ``rbc``.
        """
        self.name, self._make, self._seed, self._others = name, make, seed, others
        self._rng = random.Random(seed)

    def player(self) -> Player:
        """Return a new player, for a game without a server."""
        return self._make(random.Random(self._rng.getrandbits(64)))

    async def start(self, nursery: trio.Nursery) -> Bot:
        rng = random.Random(self._rng.getrandbits(64))
        with trio.move_on_after(START_SECONDS):
            player = await _in_thread(lambda: self._make(rng))
            return PlayerBot(player, rng, self._seed, self._other(nursery))
        raise BotFailed(f"{self.name} was not ready in {START_SECONDS:g} seconds", fault="stall")

    def _other(self, nursery: trio.Nursery) -> Callable[[], Awaitable[Bot]] | None:
        others = self._others
        return None if others is None else lambda: others.start(nursery)


class PlayerBot(Bot):
    """A player in one game; or, in another variant, the other bot in its place."""

    def __init__(
        self,
        player: Player,
        rng: random.Random,
        seed: int | None = None,
        start_other: Callable[[], Awaitable[Bot]] | None = None,
    ) -> None:
        self._player, self._rng, self._seed, self._start_other = player, rng, seed, start_other
        self._other: Bot | None = None
        self._ply = -1
        self._place: Place

    async def begin(self, place: Place) -> None:
        self._place = place
        if place.variant != "rbc" and self._start_other is not None:
            self._other = await self._start_other()
            await self._other.begin(place)
            return
        if place.seed is not None:  # so that the order in which a match's games begin does not matter
            self._rng.seed(f"{self._seed} {place.seed} {place.seat}")
        await self._start_game(Board(place.start_fen))

    async def _start_game(self, board: Board) -> None:
        place = self._place
        await _in_thread(lambda: self._player.handle_game_start(place.color, board, place.opponent_name))

    async def take_turn(self, turn: Turn) -> None:
        other = self._other
        if other is not None:
            await other.take_turn(turn)
            self.score, self.depth = other.score, other.depth
            return
        if self._ply < 0 and turn.ply > 1:
            await self._start_game(_as_far_as_known(turn.state, self._place))
        moves = [Move.from_uci(uci) for uci in turn.move_actions]
        if turn.ply != self._ply or turn.sense_actions:  # otherwise it was done before the connection was lost
            await self._sense(turn, moves)
        if turn.state["phase"] != "over":
            await self._move(turn, moves)

    async def _sense(self, turn: Turn, moves: list[Move]) -> None:
        player, clock = self._player, _Clock(turn.state, turn.color)
        begins, self._ply = turn.ply != self._ply, turn.ply
        capture = read_square(turn.state.get("opponent_capture"))
        squares = [chess.parse_square(name) for name in turn.sense_actions]

        def choose() -> Square | None:
            if begins:
                player.handle_opponent_move_result(capture is not None, capture)
            return player.choose_sense(list(squares), list(moves), clock.seconds_left()) if squares else None

        square = await _in_thread(choose)
        if not squares:  # the player that this one replaces has sensed
            return
        with _judged():
            square = checked_sense(square)
        seen = await turn.sense(square)
        await _in_thread(lambda: player.handle_sense_result(seen))

    async def _move(self, turn: Turn, moves: list[Move]) -> None:
        player, clock = self._player, _Clock(turn.state, turn.color)
        requested = await _in_thread(lambda: player.choose_move(list(moves), clock.seconds_left()))
        self.score, self.depth = getattr(player, "score", None), getattr(player, "depth", None)
        with _judged():
            checked_move(requested, moves)
        reply = await turn.move(requested)
        taken, capture = read_move(reply["taken_move"]), read_square(reply["capture_square"])
        await _in_thread(lambda: player.handle_move_result(requested, taken, capture is not None, capture))

    async def end(self, state: GameState, history: Callable[[], Awaitable[HistoryReply]]) -> None:
        if self._other is not None:
            await self._other.end(state, history)
            return
        if getattr(type(self._player), "handle_game_end", None) is Player.handle_game_end:
            return  # it does nothing
        saved, names = (await history())["history"], self._place.names
        assert saved is not None  # a game of blind chess has one
        played = read_json(json.dumps(saved)).history
        await _in_thread(lambda: tell_end(self._player, played, names["white"], names["black"]))

    async def aclose(self) -> None:
        if self._other is not None:
            await self._other.aclose()
        if (close := getattr(self._player, "close", None)) is not None:
            close()


class _Clock:
    """A player's clock, which the server has reported in a state."""

    def __init__(self, state: GameState, color: Color) -> None:
        left = None if state["clock"] is None else state["clock"][color]
        self._out_of_time = math.inf if left is None else time.monotonic() + left

    def seconds_left(self) -> float:
        """Return the seconds left; infinity without a clock."""
        return self._out_of_time - time.monotonic()


@contextmanager
def _judged() -> Iterator[None]:
    """Make an action that is not allowed the bot's fault."""
    try:
        yield
    except ValueError as error:
        raise BotFailed(str(error), fault="illegal move") from None


def _as_far_as_known(state: GameState, place: Place) -> Board:
    """Return the start position, with the player's own pieces and castling rights as they are now."""
    board, own = Board(place.start_fen), own_board(state)
    for square in chess.SquareSet(board.occupied_co[place.color]):
        board.remove_piece_at(square)
    for square, piece in own.piece_map().items():
        board.set_piece_at(square, piece)
    home = chess.BB_RANK_1 if place.color else chess.BB_RANK_8
    board.castling_rights = own.castling_rights & home | board.castling_rights & ~home
    board.turn, board.ep_square = place.color, None
    return board


async def _in_thread(work: Callable[[], T]) -> T:
    return await trio.to_thread.run_sync(work, abandon_on_cancel=True, limiter=_THREADS)
