"""Players (:class:`gm_recon.Player`) as bots: each plays one game in a thread of this process.

What a player needs beside its methods is optional: ``score`` and ``depth`` of its latest move, as a :class:`.bot.Bot`
has them, and ``close()``, called from another thread whatever the player is doing, after which it plays no more.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, ClassVar, TypeVar

import chess
import trio
from chess import Board, Move, Piece, Square

from gm_client.blocking import GameState, HistoryReply, MoveReply
from gm_client.rbc import own_board
from gm_client.running import IllegalAction, ServerTurn
from gm_client.trio_client import Turn
from gm_recon import Player, read_json
from gm_recon.player import play_turn, tell_end

from .bot import Bot, BotFailed, Bots, Place

A = TypeVar("A")
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

    def has_threads(self, variant: str) -> bool:
        return variant == "rbc"

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
        self._begun = False
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
        if not self._begun and turn.ply > 1:
            await self._start_game(_as_far_as_known(turn.state, self._place))
        self._begun = True
        asking = _Asking(turn)
        try:
            await _in_thread(lambda: self._play(asking))
        except IllegalAction as error:
            raise BotFailed(str(error), fault="illegal move") from None
        finally:
            asking.ended = True
        self.score, self.depth = getattr(self._player, "score", None), getattr(self._player, "depth", None)

    def _play(self, turn: _Asking) -> None:
        """Play a turn, in a thread."""
        player, game = self._player, ServerTurn(turn)
        with suppress(_TurnEnded):
            if turn.sense_actions:
                play_turn(game, player, game.seconds_left)
                return
            lost = game.opponent_capture  # the player that this one replaces has sensed
            player.handle_opponent_move_result(lost is not None, lost)
            requested, taken, capture = game.move(player.choose_move(game.move_actions(), game.seconds_left()))
            player.handle_move_result(requested, taken, capture is not None, capture)

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


class _TurnEnded(Exception):
    """The turn is over, since the game is, or since nobody waits for the player any more."""


class _Asking:
    """A turn on the server for a player's thread, as a :class:`gm_client.running.SeatTurn`.

    :ivar ended: whether the server is not asked any more: a player that hung may go on at any time.
    """

    def __init__(self, turn: Turn) -> None:
        self._turn, self.ended = turn, False
        self.color, self.sense_actions, self.move_actions = turn.color, turn.sense_actions, turn.move_actions

    @property
    def state(self) -> GameState:
        return self._turn.state

    def sense(self, square: Square | None) -> list[tuple[Square, Piece | None]]:
        seen = trio.from_thread.run(self._ask, self._turn.sense, square)
        if self.state["phase"] == "over":
            raise _TurnEnded
        return seen

    def move(self, move: Move | None) -> MoveReply:
        return trio.from_thread.run(self._ask, self._turn.move, move)

    async def _ask(self, act: Callable[[A], Awaitable[T]], action: A) -> T:
        if self.ended:
            raise _TurnEnded
        return await act(action)


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
