"""The games of the whole server, as the lobby, the quotas and ranked play reach them, whichever daemon owns each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from gm_protocol.errors import NotAvailable
from gmd import loop_time
from gmd.arbiter import Arbiter
from gmd.event_log.interface import EventLog, TokenUse
from gmd.game_feed import GameFeed
from gmd.games.commands import CallOff
from gmd.games.events import AnyEvent, Created
from gmd.games.game import Game
from gmd.games.game_note import GameNote, note_of
from gmd.live_games import LiveGame

#: Where a new game is to be made, instead of the id of a daemon: where the lobby is;
HERE = 0
#: at the daemon with the fewest live games.
LIGHTEST = -1


class MadeElsewhere(NamedTuple):
    """A new game that another daemon has made durable, and owns.

    :ivar game: the game as it was when it was created.
    """

    game: Game


class Maker(Protocol):
    """Another daemon, which is to make games."""

    def take_id(self) -> int:
        """Return the id of the next game. It is no other game's, whether that game is made or not.

        Call it once, before the next checkpoint after :meth:`AllGames.maker`.
        """

    async def make(
        self, game_id: int, created: Created, token: TokenUse | None, lost: Callable[[], None]
    ) -> int | None:
        """Have a game made, and return its id once it is durable; None if nothing was done, and it may be made here.

        If the token has made a game before, that one's id is returned. A cancellation changes nothing: the game is
        made or not.

        :param lost: called once, now or later, when it is certain that no game with this id is or will be made.
        :raises GmError: it was not made; or :class:`~gm_protocol.errors.Internal`: that is not known yet.
        """


class AllGames(Protocol):
    """The games of the server; one daemon alone has them all (:class:`OwnGames`)."""

    @property
    def feed(self) -> GameFeed:
        """The news of all games."""

    @property
    def log(self) -> EventLog:
        """The log of all games."""

    def open(self, game: Game, events: Sequence[AnyEvent], token: TokenUse | None) -> LiveGame:
        """Append a new game to the log, in this daemon; its first events have been applied already."""

    async def maker(self, at: int) -> Maker | None:
        """Return the daemon that is to make a game: None for this one.

        :param at: the daemon that is wanted, or :data:`LIGHTEST`. One that is gone, or owns nothing, makes none.
        """

    def lapse(self, game_id: int, seconds: float) -> None:
        """Call a game off after some seconds if it has not begun."""

    async def look(self, game_id: int, peer: str = "") -> GameNote:
        """Return a game as it is now.

        :param peer: the client, as host:port: loading is charged to its address.
        :raises NoSuchGame: no game has this id.
        :raises LogFailed: the log cannot be read.
        """

    async def call_off(self, game_id: int, player: int) -> None:
        """Call off a game that has not begun, as a player in it; return when that is durable.

        :raises GmError: as :func:`call_off` does.
        """

    async def expire(self, game_id: int) -> None:
        """Call off a game that has not begun, as if its time were up; return when that is durable.

        :raises GmError: the log failed.
        """

    async def finish(self, game_id: int, player: int, at: float, peer: str = "") -> None:
        """Note that a player has finished with an invitation; return when that is durable.

        :raises GmError: as :func:`finish` does.
        """


class OwnGames:
    """The games of one daemon, which owns all of them."""

    def __init__(self, arbiter: Arbiter) -> None:
        self.feed = arbiter.feed
        self.log = arbiter.log
        self.open = arbiter.open
        self.lapse = arbiter.lapse
        self._arbiter = arbiter

    async def maker(self, at: int) -> None:
        """Return None: this daemon makes all games."""

    async def look(self, game_id: int, peer: str = "") -> GameNote:
        live = await self._arbiter.live_game(game_id, peer)
        return note_of(live.game, live.version)

    async def call_off(self, game_id: int, player: int) -> None:
        await call_off(self._arbiter, game_id, player, loop_time.now())

    async def expire(self, game_id: int) -> None:
        live = await self._arbiter.live_game(game_id)
        self._arbiter.act(live, CallOff(None), loop_time.now())
        await durably(live)

    async def finish(self, game_id: int, player: int, at: float, peer: str = "") -> None:
        await finish(self._arbiter, game_id, player, at, peer)


async def finish(arbiter: Arbiter, game_id: int, player: int, at: float, peer: str = "") -> LiveGame:
    """Note that a player has finished with an invitation to a game of this daemon that it accepted.

    If the game is live, this counts as the player's first contact, and its clock runs.

    :param at: the time of the request's arrival, in the loop's time.
    :param peer: the client, as host:port, which is charged for loading the game.
    :raises NoSuchGame: there is no such game.
    :raises NotAvailable: the player is not invited to it, or has not accepted.
    """
    live = await arbiter.live_game(game_id, peer)
    game = live.game
    invited = [side for side in game.created.invited_sides if game.named[side] == player]
    if not invited:
        raise NotAvailable(f"game_id: player {player} is not invited to game {game_id}")
    if not any(game.players[side] == player for side in invited):
        raise NotAvailable(f"game_id: player {player} has not accepted the invitation to game {game_id}")
    if not game.over:
        make_ready(arbiter, live, player, at)
    return await durably(live)


def make_ready(arbiter: Arbiter, live: LiveGame, player: int, at: float) -> None:
    """Note a player's first contact in a game of this daemon; the lobby does not show it the invitation again."""
    arbiter.note_contact(live, player, at)
    if live.game.created.invited:
        arbiter.feed.ready(note_of(live.game, live.version), player)


async def call_off(arbiter: Arbiter, game_id: int, player: int, at: float, peer: str = "") -> LiveGame:
    """Call off a game of this daemon that has not begun and that a player is invited to, or has a seat in.

    :param at: the time of the request's arrival, in the loop's time.
    :param peer: the client, as host:port, which is charged for loading the game.
    :raises NoSuchGame: there is no such game.
    :raises NotAPlayer: the player is neither invited to it nor seated in it.
    :raises NotAvailable: the game has begun.
    :raises GameIsOver: the game has ended in another way.
    """
    live = await arbiter.live_game(game_id, peer)
    decision = arbiter.act(live, CallOff(player), at)
    if decision.refusal is not None:
        raise decision.refusal
    if decision.events:
        arbiter.feed.called_off(note_of(live.game, live.version), player)
    return await durably(live)


async def durably(live: LiveGame) -> LiveGame:
    """Return a game once its events so far are durable.

    :raises GmError: the log failed, and the latest events are undone.
    """
    if live.commit is not None:
        await live.commit.wait()
    return live
