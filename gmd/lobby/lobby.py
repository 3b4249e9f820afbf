"""Invites, pairs, and answers for those who are invited."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice
from random import Random, SystemRandom

import chess
import trio

from gm_protocol.errors import BadRequest, NotAvailable, quote
from gm_protocol.messages import NewGame
from gmd import loop_time
from gmd.arbiter import Arbiter
from gmd.event_log.interface import TokenUse
from gmd.games.commands import CallOff, Join
from gmd.games.events import AnyEvent
from gmd.games.game import Game
from gmd.live_games import LiveGame
from gmd.players.account import Account, is_registered
from gmd.players.presence import Presence
from gmd.players.registry import Registry
from gmd.quotas import Quotas

from .admission import Admission, LobbyLimits
from .book import Book
from .chores import Chores, do_all
from .inbox import Asker
from .invitation import Invitation, invitation_of, inviter_of
from .offer import Offer, make
from .offer import terms as make_terms
from .seeking import Seeking, check_inviter, seated
from .standing import games_of

#: Pending invitations that reconchess's client is told of at a time: it takes four games, and asks again.
LISTED = 100


class Lobby:
    """Where registered players find each other; the package's own text shows how it is used.

    :ivar book: which invitations there are, and who has how many games in hand.
    :ivar presence: who is here.
    :ivar limits: what bounds them.
    :ivar quotas: what bounds what one address makes.
    :ivar seeking: those who would play anybody.
    """

    def __init__(
        self,
        arbiter: Arbiter,
        registry: Registry,
        presence: Presence,
        quotas: Quotas,
        limits: LobbyLimits,
        random: Random | None = None,
    ) -> None:
        """:param random: chooses colours, where nobody does, and the start positions of Chess960."""
        self.book = Book()
        self.presence = presence
        self.quotas = quotas
        self._arbiter = arbiter
        self._registry = registry
        self.limits = limits
        self._admission = Admission(arbiter, registry, self.book, limits)
        self._chores = Chores()
        #: Those of older logs that no time was said of, at the start.
        self._ageless: list[int] = []
        self._random = random or SystemRandom()
        self.seeking = Seeking(self._admission, self.offer, self._chores, self._random)
        self._on_called_off: list[Callable[[Game, int], None]] = []
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
            elif game.created.invited and not (game.begun or game.over):
                self._ageless.append(game.id)

    async def run(self) -> None:
        """Call off the invitations of those who are revoked, and pair those who have room again, until cancelled."""
        beyond = self.book.beyond(self.limits.received)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._expire_ageless)
            nursery.start_soon(do_all, [partial(self._admission.expire, game_id) for game_id in beyond])
            await self._chores.run()

    async def _expire_ageless(self) -> None:
        await trio.sleep(self.limits.kept_seconds)
        await do_all([partial(self._admission.expire, game_id) for game_id in self._ageless])

    def _note(self, game: Game) -> None:
        self.book.note(game)
        players = [player for player in game.named if player is not None]
        if game.over:
            for player in players:
                self.seeking.look_again(player)
        elif not game.begun:  # whoever it names may have been revoked while it was on its way, or as the daemon ended
            for player in filter(self._is_revoked, players):
                self._chores.add(partial(self._call_off, game.id, player))

    def _is_revoked(self, player: int) -> bool:
        account = self._registry.get(player)
        return account is not None and account.key is None

    def _on_revoked(self, player: int) -> None:
        self.seeking.leave(player)
        self._chores.add(partial(self._call_all_off, player))

    async def _call_all_off(self, player: int) -> None:
        await do_all([partial(self._call_off, game_id, player) for game_id in self.book.pending(player)])

    async def _call_off(self, game_id: int, player: int) -> None:
        await self.decline(game_id, player, loop_time.now())

    # --- Inviting -----------------------------------------------------------------------------------------------

    def room(self, player: int) -> int:
        """How many games a player would take beside those it has in hand."""
        return self._admission.room(player)

    async def make_room(self, field: str, name: str, player: int) -> None:
        """Have a player take a game of the server's; see :meth:`~gmd.lobby.admission.Admission.make_room`."""
        await self._admission.make_room(field, name, player, Asker(None))

    def could_have_room(self, player: int) -> bool:
        """Whether a player has room for a game of the server's, or would have if others' invitations made way."""
        return self._admission.could_have_room(player, Asker(None))

    async def make_way(self, game: Game, peer: str) -> None:
        """Have a game that :meth:`open` is to make find its place among the invitations of those whom it invites.

        :raises TooMany: it has none.
        """
        await self._admission.make_way(_asker(game, peer), _invited_to(game))

    async def invite(
        self,
        inviter: int,
        opponent: int | str,
        color: chess.Color | None = None,
        terms: NewGame | None = None,
        *,
        ranked: bool = False,
        token: TokenUse | None = None,
        peer: str = "",
    ) -> LiveGame:
        """Make a game in which a player has its seat, and another one who is here is invited to the other.

        :param opponent: an id or a name.
        :param terms: what is played, as :func:`~gmd.lobby.offer.terms` has it.
        :param color: what the inviter plays; None to have it drawn.
        :param peer: where the request comes from, as host:port; an empty one has no limits by address.
        :raises BadRequest: these two cannot play each other, or not on these terms.
        :raises NotAvailable: the opponent is not here, which is all that is said of one who does not exist; or it has
            as many games as it takes.
        :raises TooMany: as many invitations as may wait for answers do so: of the inviter's, or to the opponent; or
            too many games have come from that address.
        :raises LogFailed: it could not be written; there is no such game.
        """
        check_inviter(inviter)
        account = self._here(opponent)
        if account.player == inviter:
            raise BadRequest(f"opponent: {quote(opponent)} is the player itself; new_game can give one player both seats")
        asker = Asker.at(peer, inviter)
        await self._admission.make_way(asker, [account.player])
        await self._admission.make_room("opponent", quote(opponent), account.player, asker)
        white, black = seated(inviter, account.player, color, self._random)
        return await self.offer(Offer(white, black, inviter, terms or make_terms(), ranked, token), peer)

    async def offer(self, offer: Offer, peer: str = "") -> LiveGame:
        """Make a game of an offer, whatever its players have in hand: see :meth:`room`.

        :param peer: where the request comes from that it is made for, as host:port.
        :raises BadRequest: it cannot be played on these terms.
        :raises TooMany: too many games have come from that address.
        :raises LogFailed: it could not be written; there is no such game.
        """
        versions = self._version(offer.white), self._version(offer.black)
        game, events = make(offer, self._random.randrange(960), self.limits.seconds, versions, self.limits.max_plies)
        return await _durably(self.open(game, events, offer.token, peer))

    def open(
        self, game: Game, events: Sequence[AnyEvent], token: TokenUse | None, peer: str, *, limited: bool = True
    ) -> LiveGame:
        """Take in a new game, as :meth:`gmd.quotas.Quotas.open` does; as an invitation it counts from now.

        :param limited: whether the limits of invitations hold for it.
        :raises TooMany: it would be beyond one of them, or beyond a limit by address.
        """
        if not game.created.invited:
            return self.quotas.open(game, events, token, peer)
        if limited:
            self._admission.check(_asker(game, peer), _invited_to(game))
        live = self.quotas.open(game, events, token, peer)
        self.book.expect(game, Asker.at(peer, None).source)
        if live.commit is not None:
            live.commit.then(lambda error: None if error is None else self.book.lost(game))
        return live

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

    # --- Answering ----------------------------------------------------------------------------------------------

    async def listed(self, player: int, peer: str = "") -> list[Invitation]:
        """The invitations that reconchess's client is to be told of: to blind chess, pending, or accepted and with
        nothing heard from the player in the game since, for the reply may have been lost. Of the pending ones it is
        told of a page in the fair order, oldest first.

        :param peer: who asks, as host:port, and pays for games that must be loaded; so with the next ones.
        """
        found = []
        for invitation in self.book.accepted(player):
            live = await self._arbiter.live_game(invitation.game_id, peer)
            if any(live.game.contacted[seat] for seat in live.game.seats(player)):
                self.book.ready(live.game, player)
            elif not live.game.over:
                found.append(invitation)
        inbox = self.book.inbox(player)
        pending = (inbox[game_id] for game_id in inbox.shown)
        found += islice((each for each in pending if each.options.variant == "rbc"), LISTED)
        found = [invitation for invitation in found if invitation.options.variant == "rbc"]
        return sorted(found, key=lambda invitation: invitation.game_id)

    async def accept(self, game_id: int, player: int, at: float, peer: str = "") -> LiveGame:
        """Take the seat that is kept for a player. Who has done so is shown the game again, be it over.

        Nothing has been heard from the player in the game by that: see :meth:`ready`.

        :raises NoSuchGame: there is no such game.
        :raises NotAvailable: the player is not invited to it.
        :raises GameIsOver: the invitation was called off.
        """
        live = await self._invited(game_id, player, peer)
        invitation = invitation_of(live.game)
        kept = [color for color in invitation.colors_of(player) if color in invitation.invited]
        for color in kept:
            decision = self._arbiter.join(live, Join(player, color), at)
            if decision.refusal is not None:
                raise decision.refusal
        return await _durably(live)

    def ready(self, live: LiveGame, player: int, at: float) -> None:
        """A player has been heard from in a game, and is not to be told of its invitation again."""
        self._arbiter.note_contact(live, player, at)
        self.book.ready(live.game, player)

    async def finish(self, game_id: int, player: int, at: float, peer: str = "") -> LiveGame:
        """A player is done with an invitation that it accepted.

        Where the game is on, and nothing has been heard from the player, it is as if something had: its clock runs.

        :raises NoSuchGame: there is no such game.
        :raises NotAvailable: the player is not invited to it, or has not accepted.
        """
        live = await self._invited(game_id, player, peer)
        if not invitation_of(live.game).accepted_by(player):
            raise NotAvailable(f"game_id: player {player} has not accepted the invitation to game {game_id}")
        if not live.game.over:
            self.ready(live, player, at)
        return await _durably(live)

    async def decline(self, game_id: int, player: int, at: float, peer: str = "") -> LiveGame:
        """Call a game off that has not begun: one that the player is invited to, or has its seat in.

        :raises NoSuchGame: there is no such game.
        :raises NotAPlayer: the player has nothing to do with it.
        :raises NotAvailable: it has begun.
        :raises GameIsOver: it has ended otherwise.
        """
        live = await self._arbiter.live_game(game_id, peer)
        decision = self._arbiter.act(live, CallOff(player), at)
        if decision.refusal is not None:
            raise decision.refusal
        if decision.events:
            for callback in self._on_called_off:
                callback(live.game, player)
        return await _durably(live)

    def when_called_off(self, callback: Callable[[Game, int], None]) -> None:
        """Call back with every game that a player calls off, and that player; it may not be durable yet."""
        self._on_called_off.append(callback)

    async def _invited(self, game_id: int, player: int, peer: str) -> LiveGame:
        live = await self._arbiter.live_game(game_id, peer)
        invitation = invitation_of(live.game)
        if not any(color in invitation.invited for color in invitation.colors_of(player)):
            raise NotAvailable(f"game_id: player {player} is not invited to game {game_id}")
        return live


def _asker(game: Game, peer: str) -> Asker:
    return Asker.at(peer, inviter_of(game))


def _invited_to(game: Game) -> list[int]:
    """The players whom a new game waits for."""
    return [player for player in set(game.named) if player is not None and game.waits_unbegun(player)]


async def _durably(live: LiveGame) -> LiveGame:
    """A game, once nothing that has happened in it so far can be lost.

    :raises GmError: it could not be written, and did not happen.
    """
    if live.commit is not None:
        await live.commit.wait()
    return live
