"""The lobby's operations: inviting, pairing, accepting, declining, and what else ends the wait for an answer."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from functools import partial
from itertools import islice
from random import Random, SystemRandom

import chess
import trio

from gm_protocol.errors import BadRequest, NotAvailable, quote
from gm_protocol.messages import Limits, NewGame
from gm_protocol.options import VARIANT_TRAITS
from gmd.event_log.interface import TokenUse, Unanswered
from gmd.games.commands import CallOff, Join
from gmd.games.events import AnyEvent
from gmd.games.game import Game
from gmd.games.game_note import GameNote, note_of
from gmd.games.notation import run_through
from gmd.games.variants import replayed
from gmd.lobby.admission import Admission
from gmd.lobby.book import Asker, Book
from gmd.lobby.invitation import Invitation, Offer, invitation_of, inviter_of, make
from gmd.lobby.invitation import terms as make_terms
from gmd.lobby.seeking import Chores, Seeking, check_inviter, do_all, seated
from gmd.logger import get_logger
from gmd.net import loop_time
from gmd.play.arbiter import Arbiter
from gmd.play.live_games import LiveGame
from gmd.play.quotas import Quotas
from gmd.players.account import Account, is_registered
from gmd.players.presence import Presence
from gmd.players.registry import Registry


class Answers:
    """Accepting and declining invitations, first contact in their games, and the end of those without an answer."""

    def __init__(self, arbiter: Arbiter) -> None:
        self._arbiter = arbiter

    async def look(self, game_id: int, peer: str = "") -> GameNote:
        """Return a game as it is now.

        :param peer: the client, as host:port, which is charged for loading games; so in the methods below.
        :raises NoSuchGame: there is no such game.
        """
        live = await self._arbiter.live_game(game_id, peer)
        return note_of(live.game)

    async def accept(self, game_id: int, player: int, at: float, peer: str = "") -> LiveGame:
        """Give a player the seat that is kept for it. After a repeated call, return the game even if it is over.

        This is no first contact of the player in the game: see :meth:`ready`.

        :param at: the time of the request's arrival, in the loop's time; so in the methods below.
        :raises NoSuchGame: there is no such game.
        :raises NotAvailable: the player is not invited to it.
        :raises GameIsOver: the invitation was called off.
        """
        live = await self._invited(game_id, player, peer)
        invitation = invitation_of(note_of(live.game))
        kept = [color for color in invitation.colors_of(player) if color in invitation.invited]
        for color in kept:
            decision = self._arbiter.join(live, Join(player, color), at)
            if decision.refusal is not None:
                raise decision.refusal
        return await durably(live)

    def ready(self, live: LiveGame, player: int, at: float) -> None:
        """Note a player's first contact in a game; the lobby does not show it the invitation again."""
        self._arbiter.note_contact(live, player, at)
        if live.game.created.invited:
            self._arbiter.feed.ready(note_of(live.game), player)

    async def finish(self, game_id: int, player: int, at: float, peer: str = "") -> LiveGame:
        """Note that a player has finished with an invitation that it accepted; return when that is durable.

        If the game is live, this counts as the player's first contact, and its clock runs.

        :raises NoSuchGame: there is no such game.
        :raises NotAvailable: the player is not invited to it, or has not accepted.
        """
        live = await self._arbiter.live_game(game_id, peer)
        game = live.game
        invited = [side for side in game.created.invited_sides if game.named[side] == player]
        if not invited:
            raise NotAvailable(f"game_id: player {player} is not invited to game {game_id}")
        if not any(game.players[side] == player for side in invited):
            raise NotAvailable(f"game_id: player {player} has not accepted the invitation to game {game_id}")
        if not game.over:
            self.ready(live, player, at)
        return await durably(live)

    async def decline(self, game_id: int, player: int, at: float, peer: str = "") -> LiveGame:
        """Call off a game that has not begun and that a player is invited to, or has a seat in; durably.

        :raises NoSuchGame: there is no such game.
        :raises NotAPlayer: the player is neither invited to it nor seated in it.
        :raises NotAvailable: the game has begun.
        :raises GameIsOver: the game has ended in another way.
        """
        live = await self._arbiter.live_game(game_id, peer)
        decision = self._arbiter.act(live, CallOff(player), at)
        if decision.refusal is not None:
            raise decision.refusal
        if decision.events:
            self._arbiter.feed.called_off(note_of(live.game), player)
        return await durably(live)

    async def expire(self, game_id: int) -> None:
        """Call off a game that has not begun, as if its time were up; return when that is durable.

        :raises GmError: the log failed.
        """
        live = await self._arbiter.live_game(game_id)
        self._arbiter.act(live, CallOff(None), loop_time.now())
        await durably(live)

    async def _invited(self, game_id: int, player: int, peer: str) -> LiveGame:
        live = await self._arbiter.live_game(game_id, peer)
        invitation = invitation_of(note_of(live.game))
        if not any(color in invitation.invited for color in invitation.colors_of(player)):
            raise NotAvailable(f"game_id: player {player} is not invited to game {game_id}")
        return live


async def durably(live: LiveGame) -> LiveGame:
    """Return a game once its events so far are durable.

    :raises GmError: the log failed, and the latest events are undone.
    """
    if live.commit is not None:
        await live.commit.wait()
    return live


logger = get_logger(__name__)

#: Games replayed before other tasks get a turn: some milliseconds.
GAMES_A_STEP = 32


async def games_of(unanswered: Iterable[Unanswered]) -> AsyncIterator[GameNote]:
    """Yield notes of replayed games. One that cannot be replayed is left out; a request for it fails."""
    for number, (game_id, events) in enumerate(unanswered, 1):
        try:
            game = run_through(replayed(game_id, events))
        except Exception:
            logger.exception("a game cannot be replayed", game_id=game_id)
            continue
        yield note_of(game)
        if number % GAMES_A_STEP == 0:
            await trio.lowlevel.checkpoint()


#: Pending invitations shown to reconchess's client at a time: it takes four games, and asks again.
LISTED = 100


class Lobby(Answers):
    """The lobby of registered players; the package's docstring shows its use.

    :ivar book: the index of invitations and of games in hand.
    :ivar presence: the present players.
    :ivar limits: the limits in effect.
    :ivar quotas: the limits by address.
    :ivar seeking: the queue of players who seek any opponent.
    """

    def __init__(
        self,
        arbiter: Arbiter,
        registry: Registry,
        presence: Presence,
        quotas: Quotas,
        limits: Limits,
        random: Random | None = None,
    ) -> None:
        """:param random: draws colours where no player chooses one, and the start positions of Chess960."""
        super().__init__(arbiter)
        self.book = Book()
        self.presence = presence
        self.quotas = quotas
        self._registry = registry
        self.limits = limits
        self._admission = Admission(self.expire, registry, self.book, limits)
        self._chores = Chores()
        #: Invitations found at the start without a time to expire, from older logs.
        self._ageless: list[int] = []
        self._random = random or SystemRandom()
        self.seeking = Seeking(self._admission, self.offer, self._chores, self._random)
        arbiter.feed.when_seats_change(self._note)
        arbiter.feed.when_ready(self.book.ready)
        registry.when_revoked(self._on_revoked)

    # --- Running ------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Read the invitations and the live games from the log; the time of each invitation starts again.

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
        """Call off the invitations of revoked players, and pair players who have room again, until cancelled."""
        beyond = self.book.beyond(self.limits.max_invitations_received)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._expire_ageless)
            nursery.start_soon(do_all, [partial(self.expire, game_id) for game_id in beyond])
            await self._chores.run()

    async def _expire_ageless(self) -> None:
        await trio.sleep(self.limits.kept_seat_seconds)
        await do_all([partial(self.expire, game_id) for game_id in self._ageless])

    def _note(self, game: GameNote) -> None:
        self.book.note(game)
        players = [player for player in game.named if player is not None]
        if game.over:
            for player in players:
                self.seeking.look_again(player)
        elif not game.begun:  # a player may have been revoked before the game was durable, or just before a restart
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
        """Return how many more games a player takes."""
        return self._admission.room(player)

    async def make_room(self, field: str, name: str, player: int) -> None:
        """Make room for a game of the server; see :meth:`~gmd.lobby.admission.Admission.make_room`."""
        await self._admission.make_room(field, name, player, Asker(None))

    def could_have_room(self, player: int) -> bool:
        """Return whether a player has room for a game of the server, or would have after displacing an invitation."""
        return self._admission.could_have_room(player, Asker(None))

    async def make_way(self, game: Game, peer: str) -> None:
        """Make way for a game that :meth:`open` will open, among the invitations of the players that it invites.

        :raises TooMany: too many invitations of its inviter wait for answers.
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
        """Create a game in which a player has its seat, and invite another player, who is present, to the other seat.

        :param opponent: an id or a name.
        :param terms: the game's options, as :func:`~gmd.lobby.invitation.terms` returns them.
        :param color: the inviter's colour; None to draw it.
        :param peer: the client, as host:port; an empty one has no limits by address.
        :raises BadRequest: these two cannot play each other, or not on these terms.
        :raises NotAvailable: the opponent is not present or does not exist, which the error does not distinguish; or it
            has as many games as it takes.
        :raises TooMany: too many invitations wait for answers, of the inviter or to the opponent; or too many games
            were created from this address.
        :raises LogFailed: the log failed; the game was not created.
        """
        check_inviter(inviter)
        account = self._here(opponent)
        if account.player == inviter:
            raise BadRequest(f"opponent: {quote(opponent)} is the player itself; use new_game for both seats")
        asker = Asker.at(peer, inviter)
        await self._admission.make_way(asker, [account.player])
        await self._admission.make_room("opponent", quote(opponent), account.player, asker)
        white, black = seated(inviter, account.player, color, self._random)
        return await self.offer(Offer(white, black, inviter, terms or make_terms(), ranked, token), peer)

    async def offer(self, offer: Offer, peer: str = "") -> LiveGame:
        """Create the game of an offer; it does not check whether the players have :meth:`room`.

        :param peer: the client, as host:port.
        :raises BadRequest: the game cannot be played on these terms.
        :raises TooMany: too many games were created from this address.
        :raises LogFailed: the log failed; the game was not created.
        """
        versions = self._version(offer.white), self._version(offer.black)
        game, events = make(
            offer, self._random.randrange(960), self.limits.invitation_seconds, versions, self.limits.max_plies
        )
        return await durably(self.open(game, events, offer.token, peer))

    def open(
        self,
        game: Game,
        events: Sequence[AnyEvent],
        token: TokenUse | None,
        peer: str,
        *,
        limited: bool = True,
    ) -> LiveGame:
        """Open a new game, as :meth:`gmd.play.quotas.Quotas.open` does; an invitation counts from now on.

        :param limited: whether the limits of invitations apply.
        :raises TooMany: the game would exceed one of them, or a limit by address.
        """
        if not game.created.invited:
            return self.quotas.open(game, events, token, peer)
        if limited:
            self._admission.check(_asker(game, peer), _invited_to(game))
        live = self.quotas.open(game, events, token, peer)
        note = note_of(game)
        self.book.expect(note, Asker.at(peer, None).source)
        if live.commit is not None:
            live.commit.then(lambda error: None if error is None else self.book.lost(note))
        return live

    def _version(self, player: int) -> int:
        account = self._registry.get(player)
        return 0 if account is None else account.version

    def _here(self, opponent: int | str) -> Account:
        if isinstance(opponent, int) and not is_registered(opponent):
            raise BadRequest(f"opponent: {opponent} is an open id; new_game makes a game with one")
        found = self._registry.named(opponent) if isinstance(opponent, str) else self._registry.get(opponent)
        if found is None or not self.presence.is_here(found.player):
            name = quote(opponent)
            raise NotAvailable(f"opponent: {name}: no such player is present; try again when the player is online")
        return found

    # --- Answering ----------------------------------------------------------------------------------------------

    async def listed(self, player: int, peer: str = "") -> list[Invitation]:
        """Return the invitations to blind chess to show to reconchess's client, oldest first.

        These are one page of the pending ones, in the fair order; and accepted ones without contact from the player in
        the game since, because the reply may have been lost.

        :param peer: the client, as host:port, which is charged for loading games.
        """
        found = []
        for invitation in self.book.accepted(player):
            game = await self.look(invitation.game_id, peer)
            if any(game.contacted[seat] for seat in game.seats(player)):
                self.book.ready(game, player)
            elif not game.over:
                found.append(invitation)
        inbox = self.book.inbox(player)
        pending = (inbox[game_id] for game_id in inbox.shown)
        found = [invitation for invitation in found if _is_in_reconchess(invitation)]
        found += islice(filter(_is_in_reconchess, pending), LISTED)
        return sorted(found, key=lambda invitation: invitation.game_id)


def _asker(game: Game, peer: str) -> Asker:
    return Asker.at(peer, inviter_of(game.created))


def _is_in_reconchess(invitation: Invitation) -> bool:
    return VARIANT_TRAITS[invitation.options.variant].in_reconchess


def _invited_to(game: Game) -> list[int]:
    """Return the players that a new game waits for."""
    note = note_of(game)
    return [player for player in set(game.named) if player is not None and note.waits_unbegun(player)]
