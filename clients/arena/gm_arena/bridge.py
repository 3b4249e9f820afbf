"""Plays the games of one player with bots of one make, several at once: an existing game, new ones, or all of them."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import chess
import trio

from gm_client.blocking import (
    DEFAULT_PORT,
    PATIENCE_SECONDS,
    BadReply,
    ConnectionLost,
    GameState,
    GmError,
)
from gm_client.trio_client import Client

from .bot import Bot, BotFailed, Bots, Place, Stillborn
from .endings import result_words
from .report import Lines
from .seat import learn_names, play_seat
from .sides import made_as, player_in

#: Error codes after which a game needs nothing more from the player.
GONE = {"game_over", "no_such_game"}


class BridgeError(Exception):
    """There is no game that can be played as requested."""


@dataclass(frozen=True)
class Server:
    """The server's address, or several of which one serves, and the player to connect as.

    :ivar hello: ``player`` or ``name``, and ``key``.
    :ivar patience: seconds that the server may be unreachable; ``path``: a Unix socket, instead of host and port.
    """

    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    tls: bool | ssl.SSLContext = False
    patience: float = PATIENCE_SECONDS
    hello: Mapping[str, Any] = field(default_factory=dict)
    path: str | None = None

    def client(self) -> Client:
        """Return a new client; it connects when it is first used."""
        how: dict[str, Any] = {"path": self.path, "tls": self.tls, "patience": self.patience, **self.hello}
        return Client(self.host, self.port, **how)


class Bridge:
    """The games in progress. Each has a bot of its own, and none delays another."""

    def __init__(self, server: Server, bots: Bots, reporter: Lines, *, at_once: int) -> None:
        """:param reporter: receives what happens, line by line.
        :param at_once: the most games to play at the same time.
        """
        self._server, self._bots, self._reporter = server, bots, reporter
        self._room = trio.Semaphore(at_once)
        self._in_hand: dict[int, list[Place]] = {}
        self._left_alone: dict[int, None] = {}
        self._draining = False
        self._looking = trio.CancelScope()
        self._error: Exception | None = None
        self._spares: list[Bot] = []
        self._games: trio.Nursery
        self._background: trio.Nursery  # logs the standard error of bots

    @property
    def games_in_hand(self) -> list[int]:
        """The ids of the games that are being played."""
        return list(self._in_hand)

    async def run(self, plan: Callable[[Bridge], Awaitable[None]]) -> None:
        """Start a bot, to check that one can start; carry out a plan, and play all its games to their ends.

        :param plan: calls one of the three ``play_`` methods below.
        :raises BotFailed: the bot does not start.
        :raises BridgeError: there is no such game to play.
        :raises ConnectionLost, GmError: the server has been unreachable for longer than the patience, or refuses.
        """
        async with trio.open_nursery() as self._background:
            try:
                async with trio.open_nursery() as self._games:
                    try:
                        self._spares.append(await self._bots.start(self._background))
                        await plan(self)
                    except Exception as error:  # raised outside the nurseries, which would wrap it in a group
                        self._error = error
            finally:
                with trio.CancelScope(shield=True):
                    for spare in self._spares:
                        await spare.aclose()
            self._background.cancel_scope.cancel()
        if self._error is not None:
            raise self._error

    def drain(self) -> None:
        """Begin no more games; those in progress go on. Games that nobody has joined are called off."""
        self._draining = True
        self._looking.cancel()
        for places in self._in_hand.values():
            self._games.start_soon(self._withdraw, places[0])

    async def play_one(self, game_id: int) -> None:
        """Play an existing game, in the player's seats or in one that is open."""
        async with self._server.client() as client:
            await client.open()
            state = await _seen_by_all(client, game_id)
            places = self._places_in(state, client.player)
            if state["phase"] == "over":
                ended = result_words(state["result"], state["termination"], state["variant"])
                raise BridgeError(f"game {game_id} is over: {ended}")
            if not places:
                raise BridgeError(f"player {client.player} has no seat in game {game_id}, and none is open")
            if (reason := self._unplayable(state)) is not None:
                raise BridgeError(f"game {game_id} {reason}")
        if await self._has_room():
            self._take(places)

    async def play_new(
        self, opponent: int | str | None, colors: Iterable[chess.Color], options: Mapping[str, Any]
    ) -> None:
        """Make games against a player, or, where that is None, against whoever joins; and play them.

        :param opponent: see :func:`~gm_arena.sides.made_as`.
        :param colors: the bot's colours, one for each game.
        :param options: fields of ``new_game``, which override the bots' defaults.
        """
        fields = {**self._bots.defaults, **options}
        if fields["variant"] not in self._bots.variants:
            raise BridgeError(f"a new game {self._why_not(fields['variant'])}")
        async with self._server.client() as client:
            await client.open()
            for color in colors:
                if not await self._has_room():
                    return
                try:
                    game = await made_as(client, opponent, color, fields)
                except GmError as error:
                    if not isinstance(opponent, str) or opponent in (bots := [bot["name"] for bot in client.bots]):
                        raise
                    known = f"no bot of the server ({', '.join(bots) or 'it has none'}), nor a player to challenge"
                    raise BridgeError(f"--opponent: {opponent!r} is {known}: {error}") from error
                state = await _seen_by_all(client, game["game_id"])
                places = self._places_in(state, client.player)
                for place in places:
                    place.invites = state["phase"] == "open" and place.opponent is not None
                self._take(places)

    async def play_all(self, count: int | None = None) -> None:
        """Play the player's games as they wait for it, and those it is invited to, until :meth:`drain`.

        Of the games that the bots cannot play, invitations are declined, so that nobody blocks the player by inviting
        it. Games in which the player has a seat are left alone.

        :param count: the most games to play.
        """
        async with self._server.client() as client:
            await client.open()
            while (count is None or count > 0) and await self._has_room():
                state = await self._next_due(client)
                if state is None:
                    self._room.release()
                else:
                    self._take(self._places_in(state, client.player))
                    count = None if count is None else count - 1

    async def _has_room(self) -> bool:
        """Wait until there is room for another game, and take it. Return False if no more games may begin."""
        with self._unless_draining() as scope:
            await self._room.acquire()
        return not scope.cancelled_caught

    @contextmanager
    def _unless_draining(self) -> Iterator[trio.CancelScope]:
        with trio.CancelScope() as self._looking:
            if self._draining:
                self._looking.cancel()
            yield self._looking

    async def _next_due(self, client: Client) -> GameState | None:
        """Return the next game that waits for the player, as spectators see it."""
        most = int(client.limits["max_wait_games"])
        if len(self._excepted) > most:
            await self._forget_what_is_over(client)
        if len(self._excepted) > most:
            raise BridgeError(f"{len(self._left_alone)} games are left alone, but the server excludes at most {most}")
        due: GameState | None = None
        with self._unless_draining():
            due = (await client.wait(any=True, except_=self._excepted, brief=True))["state"]
        if due is None or due["phase"] == "over":
            return None
        state = await _seen_by_all(client, due["game_id"])
        reason = self._unplayable(state)
        if reason is None:
            return state
        if due["phase"] == "open":  # the player is only invited
            await self._decline(client, due["game_id"], reason)
        else:
            self._leave_alone(due["game_id"], reason)
        return None

    @property
    def _excepted(self) -> list[int]:
        return [*self._in_hand, *self._left_alone]

    async def _forget_what_is_over(self, client: Client) -> None:
        """Remove finished games from those left alone. Done only when the list is full, since it asks for each game."""
        for game_id in list(self._left_alone):
            if (await _seen_by_all(client, game_id))["phase"] == "over":
                del self._left_alone[game_id]

    async def _decline(self, client: Client, game_id: int, reason: str) -> None:
        """Decline an invitation to a game. If the player's seat was taken meanwhile, leave the game alone."""
        try:
            await client.decline(game_id, brief=True)
        except GmError as error:
            if error.code == "not_available":
                self._leave_alone(game_id, reason)
            elif error.code not in GONE:
                raise
        else:
            self._reporter.declines(game_id, reason)

    def _unplayable(self, state: GameState) -> str | None:
        """Return why the bots cannot play a game, or None."""
        if state["variant"] not in self._bots.variants:
            return self._why_not(state["variant"])
        if not self._bots.joins_late and state["ply_index"] > 1:
            return f"is under way, and {self._bots.name} can play a game from its beginning only"
        return None

    def _why_not(self, variant: str) -> str:
        return f"is {variant}, and {self._bots.name} plays {', '.join(sorted(self._bots.variants))}"

    def _leave_alone(self, game_id: int, reason: str) -> None:
        self._left_alone[game_id] = None
        self._reporter.leaves_alone(game_id, reason)

    def _places_in(self, state: GameState, player: int | None) -> list[Place]:
        """Return the player's seats; if it has none, one that is open."""
        colors = [color for color in chess.COLORS if player_in(state, color) == player]
        colors = colors or [color for color in chess.COLORS if player_in(state, color) is None][:1]
        return [self._place(state, color) for color in colors]

    def _place(self, state: GameState, color: chess.Color) -> Place:
        async def read_moves() -> list[str]:
            async with self._server.client() as client:
                return (await client.history(state["game_id"]))["moves"]

        return Place(
            state["game_id"], color, state["variant"], state["start_fen"], player_in(state, not color), read_moves
        )

    def _take(self, places: list[Place]) -> None:
        """Begin to play a game; the room for it has been taken."""
        self._in_hand[places[0].game_id] = places
        self._games.start_soon(self._play, places)
        if self._draining:  # draining began while the game was being made or looked up
            self._games.start_soon(self._withdraw, places[0])

    async def _play(self, places: list[Place]) -> None:
        game_id = places[0].game_id
        try:
            async with trio.open_nursery() as nursery:
                for place in places:
                    nursery.start_soon(self._play_seat, place)
        finally:
            del self._in_hand[game_id]
            self._room.release()

    async def _play_seat(self, place: Place) -> None:
        """Play a seat. Only an error that concerns all games ends the others too."""
        try:
            async with self._server.client() as client:
                await learn_names(client, place)
                self._reporter.begins(place)
                played = await play_seat(client, place, await self._start_bot())
        except GmError as error:
            self._leave_alone(place.game_id, f"is not played: {error}")
        except Exception as error:
            self._error = self._error or error
            self._games.cancel_scope.cancel()
        else:
            self._reporter.ends(played)

    async def _start_bot(self) -> Bot:
        if self._spares:
            return self._spares.pop()
        try:
            return await self._bots.start(self._background)
        except BotFailed as failure:
            return Stillborn(failure)

    async def _withdraw(self, place: Place) -> None:
        """Call off a game that has not begun."""
        async with self._server.client() as client:
            with suppress(GmError, ConnectionLost, BadReply):
                await client.decline(place.game_id)  # refused if it has begun


async def _seen_by_all(client: Client, game_id: int) -> GameState:
    """Return a game as spectators see it; the request does not count as contact from the player and starts no clock."""
    return (await client.state(game_id, player=None, brief=True))["state"]


# --- Ranked games ------------------------------------------------------------------------------------------------


#: Seconds for telling the server, at the end, to stop; it may be unreachable.
FAREWELL_SECONDS = 5.0


@asynccontextmanager
async def ranked(server: Server, at_once: int, *, new_version: bool) -> AsyncIterator[None]:
    """Let the player take ranked games, up to so many at a time, until the block ends; games in progress go on.

    :param new_version: whether the bot is a new version. The first one always is.
    :raises GmError: the server refuses: the player is not registered.
    :raises ConnectionLost: the server is unreachable.
    """
    async with server.client() as client:
        version = (await client.settings())["version"]
        version += new_version or version == 0
        await client.settings(version=version, max_games=at_once, ranked=True)
        try:
            yield
        finally:
            with trio.move_on_after(FAREWELL_SECONDS, shield=True):
                await client.settings(ranked=False)
