"""Invites, pairs, and answers for those who are invited."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from math import inf
from random import Random, SystemRandom

import trio
from msgspec import Struct

from gm_protocol.errors import BadRequest, GmError, Internal, NotAvailable, TooMany, quote
from gm_protocol.messages import NewGame
from gm_protocol.state import Color
from gmd import loop_time
from gmd.arbiter import Arbiter
from gmd.games.commands import CallOff, Join
from gmd.games.game import Game
from gmd.log.interface import TokenUse
from gmd.logger import get_logger
from gmd.players.account import Account, is_registered
from gmd.players.gate import MINUTE
from gmd.players.presence import Presence
from gmd.players.registry import Registry
from gmd.rate_limiter import RateLimiter
from gmd.shelf import Table

from .book import Book
from .invitation import Invitation, invitation_of
from .offer import Offer, make
from .offer import terms as make_terms
from .queue import Queue, Seek, what_is_played
from .standing import games_of

logger = get_logger(__name__)


class LobbyLimits(Struct, frozen=True, kw_only=True):
    """What bounds invitations.

    :ivar seconds: how long one waits for its answer.
    :ivar out: how many of a player's may wait for answers at a time.
    :ivar per_minute: how many an address may send, seeks among them.
    """

    seconds: float
    out: int
    per_minute: int


class Lobby:
    """Where registered players find each other; the package's own text shows how it is used.

    :ivar book: which invitations there are, and who has how many games in hand.
    :ivar presence: who is here.
    :ivar limits: what bounds them.
    :ivar attempts: invitations by address: whoever has a client's request takes one first.
    """

    def __init__(
        self,
        arbiter: Arbiter,
        registry: Registry,
        presence: Presence,
        limits: LobbyLimits,
        random: Random | None = None,
    ) -> None:
        """:param random: chooses colours, where nobody does, and the start positions of Chess960."""
        self.book = Book()
        self.presence = presence
        self.attempts = RateLimiter("max_invitations_per_minute", limits.per_minute, MINUTE)
        self._arbiter = arbiter
        self._registry = registry
        self.limits = limits
        self._random = random or SystemRandom()
        self._queue = Queue()
        self._on_called_off: list[Callable[[Game, int], None]] = []
        self._work, self._to_do = trio.open_memory_channel[Callable[[], Awaitable[None]]](inf)
        arbiter.when_seats_change(self._note)
        registry.when_revoked(self._on_revoked)

    # --- Running ------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Read from the log who is invited and who plays. An invitation has all its time again.

        :raises GmError: the log cannot be read.
        """
        for playing in await self._arbiter.log.playing():
            self.book.playing(playing.game_id, (playing.white, playing.black))
        async for game in games_of(await self._arbiter.log.unanswered()):
            self._note(game)
            if game.lapsing and game.created.lapses is not None:
                self._arbiter.lapse(game.id, game.created.lapses)

    async def run(self) -> None:
        """Call off the invitations of those who are revoked, and pair those who have room again, until cancelled."""
        async for work in self._to_do:
            try:
                await work()
            except Internal as error:
                logger.warning("the lobby could not write what was due", reason=str(error))
            except GmError:
                pass  # the game has begun, or ended, meanwhile
            except Exception:
                logger.exception("the lobby failed")

    def _note(self, game: Game) -> None:
        self.book.note(game)
        players = [player for player in game.named if player is not None]
        if game.over:
            for player in players:
                self.look_again(player)
        elif not game.begun:  # whoever it names may have been revoked while it was on its way, or as the daemon ended
            for player in filter(self._is_revoked, players):
                self._work.send_nowait(partial(self._call_off, game.id, player))

    def _is_revoked(self, player: int) -> bool:
        account = self._registry.get(player)
        return account is not None and account.key is None

    def _on_revoked(self, player: int) -> None:
        self._queue.drop(player)
        for invitation in self.book.pending(player):
            self._work.send_nowait(partial(self._call_off, invitation.game_id, player))

    async def _call_off(self, game_id: int, player: int) -> None:
        await self.decline(game_id, player, loop_time.now())

    # --- Inviting -----------------------------------------------------------------------------------------------

    def room(self, player: int) -> int:
        """How many games a player would take beside those it has in hand."""
        account = self._registry.get(player)
        return 0 if account is None else max(0, account.max_games - self.book.in_hand(player))

    async def invite(
        self,
        inviter: int,
        opponent: int | str,
        color: Color | None = None,
        terms: NewGame | None = None,
        *,
        ranked: bool = False,
        token: TokenUse | None = None,
    ) -> Table:
        """Make a game in which a player has its seat, and another one who is here is invited to the other.

        :param opponent: an id or a name.
        :param terms: what is played, as :func:`~gmd.lobby.offer.terms` has it.
        :param color: what the inviter plays; None to have it drawn.
        :raises BadRequest: these two cannot play each other, or not on these terms.
        :raises NotAvailable: the opponent is not here, which is all that is said of one who does not exist; or it has
            as many games as it takes.
        :raises TooMany: as many invitations of the inviter's as may wait for answers do so.
        :raises LogFailed: it could not be written; there is no such game.
        """
        _check_inviter(inviter)
        account = self._here(opponent)
        if account.player == inviter:
            raise BadRequest(f"opponent: {quote(opponent)} is who asks; new_game gives one player both seats")
        self._check_out(inviter)
        if not self.room(account.player):
            raise NotAvailable(f"opponent: {quote(opponent)} has as many games in hand as it takes at a time")
        white, black = self._seated(inviter, account.player, color)
        return await self.offer(Offer(white, black, inviter, terms or make_terms(), ranked, token))

    async def offer(self, offer: Offer) -> Table:
        """Make a game of an offer, whatever its players have in hand: see :meth:`room`.

        :raises BadRequest: it cannot be played on these terms.
        :raises LogFailed: it could not be written; there is no such game.
        """
        versions = self._version(offer.white), self._version(offer.black)
        game, events = make(offer, self._random.randrange(960), self.limits.seconds, versions)
        table = self._arbiter.open(game, events, offer.token)
        if table.commit is not None:
            self.book.expect(game)
            table.commit.then(lambda error: None if error is None else self.book.lost(game))
        return await _durably(table)

    def _version(self, player: int) -> int:
        account = self._registry.get(player)
        return 0 if account is None else account.version

    def _here(self, opponent: int | str) -> Account:
        if isinstance(opponent, int) and not is_registered(opponent):
            raise BadRequest(f"opponent: {opponent} is an open id; new_game makes a game with one")
        found = self._registry.named(opponent) if isinstance(opponent, str) else self._registry.get(opponent)
        if found is None or not self.presence.is_here(found.player):
            raise NotAvailable(f"opponent: {quote(opponent)}: no such player is here")
        return found

    def _check_out(self, inviter: int) -> None:
        if self.book.out(inviter) >= self.limits.out:
            message = f"max_invitations: {self.limits.out} of yours wait for answers; withdraw some, or wait"
            raise TooMany(message, self.limits.seconds)

    def _seated(self, one: int, other: int, color: Color | None) -> tuple[int, int]:
        """Who plays White and who Black, where the one wants a colour, or either."""
        is_white = self._random.random() < 0.5 if color is None else color == "white"
        return (one, other) if is_white else (other, one)

    # --- Answering ----------------------------------------------------------------------------------------------

    async def listed(self, player: int) -> list[Invitation]:
        """The invitations that reconchess's client is to be told of: to blind chess, pending, or accepted and with
        nothing heard from the player in the game since, for the reply may have been lost.
        """
        found = self.book.received(player)
        for invitation in self.book.accepted(player):
            table = await self._arbiter.table(invitation.game_id)
            if any(table.game.heard[seat] for seat in table.game.seats(player)):
                self.book.ready(table.game, player)
            elif not table.game.over:
                found.append(invitation)
        found = [invitation for invitation in found if invitation.options.variant == "rbc"]
        return sorted(found, key=lambda invitation: invitation.game_id)

    async def accept(self, game_id: int, player: int, at: float) -> Table:
        """Take the seat that is kept for a player. Who has done so is shown the game again, be it over.

        Nothing has been heard from the player in the game by that: see :meth:`ready`.

        :raises NoSuchGame: there is no such game.
        :raises NotAvailable: the player is not invited to it.
        :raises GameIsOver: the invitation was called off.
        """
        table = await self._invited(game_id, player)
        invitation = invitation_of(table.game)
        kept = [color for color in invitation.colors_of(player) if color in invitation.invited]
        for color in kept:
            outcome = self._arbiter.join(table, Join(player, color), at)
            if outcome.refusal is not None:
                raise outcome.refusal
        return await _durably(table)

    def ready(self, table: Table, player: int, at: float) -> None:
        """A player has been heard from in a game, and is not to be told of its invitation again."""
        self._arbiter.hear(table, player, at)
        self.book.ready(table.game, player)

    async def finish(self, game_id: int, player: int, at: float) -> Table:
        """A player is done with an invitation that it accepted.

        Where the game is on, and nothing has been heard from the player, it is as if something had: its clock runs.

        :raises NoSuchGame: there is no such game.
        :raises NotAvailable: the player is not invited to it, or has not accepted.
        """
        table = await self._invited(game_id, player)
        if not invitation_of(table.game).accepted_by(player):
            raise NotAvailable(f"game_id: player {player} has not accepted the invitation to game {game_id}")
        if not table.game.over:
            self.ready(table, player, at)
        return await _durably(table)

    async def decline(self, game_id: int, player: int, at: float) -> Table:
        """Call a game off that has not begun: one that the player is invited to, or has its seat in.

        :raises NoSuchGame: there is no such game.
        :raises NotAPlayer: the player has nothing to do with it.
        :raises NotAvailable: it has begun.
        :raises GameIsOver: it has ended otherwise.
        """
        table = await self._arbiter.table(game_id)
        outcome = self._arbiter.act(table, CallOff(player), at)
        if outcome.refusal is not None:
            raise outcome.refusal
        if outcome.events:
            for callback in self._on_called_off:
                callback(table.game, player)
        return await _durably(table)

    def when_called_off(self, callback: Callable[[Game, int], None]) -> None:
        """Call back with every game that a player calls off, and that player; it may not be durable yet."""
        self._on_called_off.append(callback)

    async def _invited(self, game_id: int, player: int) -> Table:
        table = await self._arbiter.table(game_id)
        invitation = invitation_of(table.game)
        if not any(color in invitation.invited for color in invitation.colors_of(player)):
            raise NotAvailable(f"game_id: player {player} is not invited to game {game_id}")
        return table

    # --- Seeking ------------------------------------------------------------------------------------------------

    def seeks(self, player: int) -> bool:
        """Whether a player stands in the queue."""
        return self._queue.find(player) is not None

    def look_again(self, player: int) -> None:
        """Find somebody for a player who stands in the queue and may have room again."""
        if self.seeks(player):
            self._work.send_nowait(partial(self._pair_anew, player))

    def leave_queue(self, player: int) -> None:
        """Let a player stand in the queue no more."""
        self._queue.drop(player)

    async def seek(
        self,
        player: int,
        color: Color | None,
        terms: NewGame,
        is_here: Callable[[], bool],
        token: TokenUse | None = None,
    ) -> Table | None:
        """A game with the first in the queue who fits, who is invited to it; where there is none, stand in the queue.

        :param color: what the player wants to play; None for either.
        :param is_here: whether the player is still there to be told.
        :raises BadRequest: this player cannot seek, or not on these terms.
        :raises NotAvailable: the player has as many games in hand as it takes.
        :raises TooMany: as many of its invitations as may wait for answers do so.
        :raises LogFailed: the game could not be written; the other one stands at the end of the queue again.
        """
        _check_inviter(player)
        self._check_out(player)
        seek = Seek(player, color, terms, what_is_played(terms), is_here)
        if not self.room(player):
            raise NotAvailable(f"player: {player} has as many games in hand as it takes at a time")
        other = self._queue.first_for(seek, self._has_room)
        if other is None:
            self._queue.add(seek)
            return None
        return await self._pair(seek, other, player, token)

    async def _pair(self, seek: Seek, other: Seek, by: int | None, token: TokenUse | None = None) -> Table:
        """A game of the two, who stand in the queue no more, unless it fails."""
        color: Color | None = seek.color
        if other.color is not None:
            color = "black" if other.color == "white" else "white"
        white, black = self._seated(seek.player, other.player, color)
        was = self._queue.find(seek.player)
        for each in (seek, other):
            self._queue.drop(each.player)
        try:
            return await self.offer(Offer(white, black, by, seek.terms, token=token))
        except GmError:
            for each in filter(None, (other, was)):
                self._queue.add(each)
            raise

    async def _pair_anew(self, player: int) -> None:
        """A player in the queue has room again: somebody may be there for it."""
        seek = self._queue.find(player)
        if seek is not None and self._has_room(player):
            other = self._queue.first_for(seek, self._has_room)
            if other is not None:
                await self._pair(seek, other, by=None)

    def _has_room(self, player: int) -> bool:
        return self.room(player) > 0


def _check_inviter(player: int) -> None:
    if not is_registered(player):
        raise BadRequest(f"player: {player} is an open id; invitations are between registered players")


async def _durably(table: Table) -> Table:
    """A game, once nothing that has happened in it so far can be lost.

    :raises GmError: it could not be written, and did not happen.
    """
    if table.commit is not None:
        await table.commit.wait()
    return table
