"""The owner's side of forwarding: it answers a request with a session made of what the other daemon says."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import msgspec

from gm_protocol.errors import GmError, Internal, Moved, TooMany
from gm_protocol.messages import AnyRequest, Wait
from gmd import dispatch, loop_time
from gmd.live_games import LiveGame
from gmd.logger import get_logger
from gmd.memory_ledger import MemoryAccount
from gmd.players.account import Account
from gmd.players.authenticated import Authenticated
from gmd.requests.context import PendingReply
from gmd.requests.session import Authority, ClientSession, holds_nothing
from gmd.services import Services
from gmd.turns import UnacknowledgedResults
from gmd.watchers import Subscription

from .answering import Incoming
from .directory import Directory
from .forwarding import (
    ANSWER,
    LAST_WAS_GAME,
    OPERATOR,
    OVERSEES,
    SHOW,
    SHOWS_PRESENCE,
    STRICT,
    VISITS,
    Forward,
    Forwarded,
    Shown,
)
from .in_progress import InProgress
from .links import Links
from .modes import reply_to
from .routing import AT_ONCE, OfGame, OfGames, route_of
from .shards import LOBBY, shard_of
from .tenure import NotMine

logger = get_logger(__name__)

_decode = msgspec.json.Decoder(AnyRequest).decode

#: Requests of a session that wait for one before them.
_Queue = deque[tuple[Forward, Any, Incoming, float]]


class RemoteVisit:
    """What an owner knows of a session's part in presence: another daemon keeps it."""

    __slots__ = ("_presence", "player")

    def __init__(self, services: Services, player: int | None) -> None:
        self.player = player
        self._presence = services.authenticator.presence

    @property
    def stands(self) -> bool:
        """Whether the player is still present."""
        return self.player is not None and self._presence.is_here(self.player)

    def enter(self, authenticated: Authenticated) -> None:
        """Do nothing: the other daemon notes it."""

    def leave(self) -> None:
        """Do nothing: the other daemon notes it."""


class RemoteResults(UnacknowledgedResults):
    """The results that one reply shows; those that the session was shown before come with the request.

    :ivar shown_now: the results that the reply shows.
    """

    def __init__(self, services: Services, forward: Forward) -> None:
        super().__init__(services.arbiter.turns, _no_batch, holds_nothing)
        self.last_was_game = bool(forward.rights & LAST_WAS_GAME)
        self._before = forward.without
        #: Whether the lobby's owner calls the game due, which may not know what this daemon does.
        self._is_due = forward.mode == SHOW
        self.shown_now: list[Shown] = []

    def show(self, player: int, live: LiveGame) -> None:
        seats = tuple(int(seat) for seat in live.game.seats(player) if seat not in live.results_delivered)
        if seats or self._is_due:
            self.shown_now.append(Shown(player, live.game.id, seats))

    def to(self, player: int) -> set[int]:
        return set(self._before)


def _no_batch() -> int:
    """Return the number of the batch of replies: the other daemon knows it."""
    return 0


class RemoteSession(ClientSession):
    """A session of one forwarded request.

    :ivar arrived: when the request arrived, in this loop's time: transit over the link is charged to nobody.
    :ivar proved: the digest of the key that it has proved since, if it has.
    """

    unacknowledged: RemoteResults

    __slots__ = ("_account", "_is_interrupted", "_subscription", "arrived", "incoming", "proved")

    def __init__(self, services: Services, forward: Forward, incoming: Incoming, arrived: float) -> None:
        rights = forward.rights
        player, key = forward.player, forward.key
        super().__init__(
            services,
            Authority.OPERATOR if rights & OPERATOR else Authority.CLIENT,
            peer=forward.peer,
            strict=bool(rights & STRICT),
            authenticated=None if player is None or key is None else Authenticated(player, key),
            visit=RemoteVisit(services, player if rights & VISITS else None),  # type: ignore[arg-type]
            attending=self._attending,
            hold=self._hold,
            unacknowledged=RemoteResults(services, forward),
        )
        self.player = player
        self.entry = incoming.daemon
        self.oversees = bool(rights & OVERSEES)
        self.incoming = incoming
        self.arrived = arrived
        self.proved: bytes | None = None
        self._subscription: Subscription | None = None
        self._is_interrupted = False
        self._account: MemoryAccount | None = None

    def prove(self, account: Account) -> None:
        self.authenticated = self.services.authenticator.authenticated(account)
        self.proved = self.authenticated.key

    def interrupt(self) -> None:
        """Have a wait answered now."""
        self._is_interrupted = True
        if self._subscription is not None:
            self._subscription.interrupt()

    def close(self) -> None:
        """Count no memory any more."""
        if self._account is not None:
            self._account.close()
            self._account = None

    @asynccontextmanager
    async def _attending(self, subscription: Subscription) -> AsyncIterator[None]:
        self._subscription = subscription
        if self._is_interrupted:
            subscription.interrupt()
        try:
            yield
        finally:
            self._subscription = None

    def _hold(self, change: int) -> None:
        """Count memory for the client's address here, too: this daemon holds it."""
        if change and self._account is None:
            self._account = self.services.memory.open(self.peer, self._cut_off)
        if self._account is not None:
            self._account.hold_others(change)

    def _cut_off(self, error: TooMany) -> None:
        self.incoming.refuse(error)
        self.interrupt()


class RemoteSessions:
    """Answers what other daemons forward."""

    def __init__(self, services: Services, directory: Directory, links: Links, in_progress: InProgress) -> None:
        self._services = services
        self._directory = directory
        self._links = links
        self._in_progress = in_progress
        links.take_asks(Forward, self.take)

    # --- Taking requests ----------------------------------------------------------------------------------------------

    def take(self, forward: Forward, incoming: Incoming) -> None:
        """Answer a request of another daemon, or a part of one of this daemon's."""
        request, answerer = _decode(forward.request), incoming.answerer
        arrived = loop_time.arrival() - forward.waited
        if forward.session and (answerer.queues or answerer.refused):
            if (queue := answerer.queues.get(forward.session)) is not None:
                queue.append((forward, request, incoming, arrived))
                return
            if answerer.refused.is_behind(forward.session, forward.oldest):
                self._refuse(forward, Moved("a request before this one was not carried out"), incoming)
                return
        if self._answer_at_once(forward, request, incoming, arrived):
            return
        session = RemoteSession(self._services, forward, incoming, arrived)
        if isinstance(request, Wait):
            incoming.when_interrupted(session.interrupt)  # the interruption may come in the same turn
        if forward.session:
            answerer.queues[forward.session] = deque()
        self._links.spawn(self._answer_in_turn, forward, request, incoming, session)

    def _answer_at_once(self, forward: Forward, request: Any, incoming: Incoming, arrived: float) -> bool:
        """Answer a request that needs no waiting but for its commit; return whether it was one."""
        if type(request) not in AT_ONCE or forward.mode != ANSWER:
            return False
        game_id: int = request.game_id
        live = self._services.arbiter.at_hand(game_id)
        if live is None or not self._directory.is_mine(shard_of(game_id)):
            return False
        session = RemoteSession(self._services, forward, incoming, arrived)
        steps = dispatch.answer(
            request,
            session,
            session.arrived,
            shows_presence=bool(forward.rights & SHOWS_PRESENCE),
            here=True,
        )
        try:
            steps.send(None)
        except StopIteration as stop:
            self._reply(stop.value, session, forward, incoming)
            return True
        steps.close()
        raise AssertionError(f"{type(request).__name__} waits, although its game is in memory")

    async def _answer_in_turn(self, forward: Forward, request: Any, incoming: Incoming, session: RemoteSession) -> None:
        """Answer a request, and then those of its session that have come meanwhile."""
        await self._answer(forward, request, incoming, session)
        if not forward.session:
            return
        queue: _Queue = incoming.answerer.queues[forward.session]
        while queue:
            after, request, incoming, arrived = queue.popleft()
            if incoming.answerer.refused.is_behind(after.session, after.oldest):
                self._refuse(after, Moved("a request before this one was not carried out"), incoming)
            elif not self._answer_at_once(after, request, incoming, arrived):
                session = RemoteSession(self._services, after, incoming, arrived)
                await self._answer(after, request, incoming, session)
        del incoming.answerer.queues[forward.session]

    async def _answer(self, forward: Forward, request: Any, incoming: Incoming, session: RemoteSession) -> None:
        shards = _shards_of(request, forward)
        try:
            answer = self._answer_in(session, shards, forward, request, incoming)
            if isinstance(request, Wait):
                await self._in_progress.wait(shards, answer)
            else:
                await self._in_progress.other(shards, answer)
        except GmError as error:
            self._refuse(forward, error, incoming)
        except Exception:
            logger.exception("a forwarded request failed", kind=type(request).__name__)
            self._refuse(forward, Internal("the server failed on this request; its log says why"), incoming)
        finally:
            session.close()

    async def _answer_in(
        self, session: RemoteSession, shards: list[int], forward: Forward, request: Any, incoming: Incoming
    ) -> None:
        """Answer a request, if this daemon owns what it needs.

        :raises Moved: it does not.
        """
        await self._check_owned(shards)
        try:
            shows = bool(forward.rights & SHOWS_PRESENCE)
            reply = await reply_to(request, session, session.arrived, shows, forward.mode, forward.game_id)
        except NotMine as elsewhere:
            if shards != [LOBBY]:
                raise
            last_was_game = session.unacknowledged.last_was_game
            incoming.answer(Forwarded(b"", elsewhere=elsewhere.game_id, last_was_game=last_was_game))
            return
        if reply.commit is None and not all(map(self._directory.is_mine, shards)):
            await self._directory.lease_valid()
        self._reply(reply, session, forward, incoming)

    async def _check_owned(self, shards: Sequence[int]) -> None:
        """Check that this daemon owns shards, and that its lease is valid.

        :raises Moved: it does not own one.
        """
        for shard in shards:
            if not self._directory.is_mine(shard):
                await self._directory.lease_valid()
                if not self._directory.is_mine(shard):
                    raise Moved("this server does not own it")

    # --- Replies ------------------------------------------------------------------------------------------------------

    def _reply(self, reply: PendingReply, session: RemoteSession, forward: Forward, incoming: Incoming) -> None:
        """Send a reply once what it shows is durable."""
        if reply.commit is None or reply.commit.done:
            self._send(reply, session, forward, incoming)
        else:
            reply.commit.then(partial(self._settled, reply, session, forward, incoming))

    def _settled(
        self,
        reply: PendingReply,
        session: RemoteSession,
        forward: Forward,
        incoming: Incoming,
        error: GmError | None,
    ) -> None:
        dispatch.settle(reply, error)
        self._send(reply, session, forward, incoming)

    def _send(self, reply: PendingReply, session: RemoteSession, forward: Forward, incoming: Incoming) -> None:
        if reply.code == Moved.code:
            self._refuse(forward, Moved("it was not carried out"), incoming)
            return
        live, results = reply.live, session.unacknowledged
        plays = (
            reply.code is None
            and live is not None
            and reply.player is not None
            and not live.game.over
            and bool(live.game.seats(reply.player))
        )
        is_empty = reply.code is None and live is None
        shown = tuple(results.shown_now) if reply.code is None else ()
        incoming.answer(
            Forwarded(reply.body, reply.code, None, plays, is_empty, shown, session.proved, results.last_was_game)
        )

    def _refuse(self, forward: Forward, error: GmError, incoming: Incoming) -> None:
        if forward.session and isinstance(error, Moved):
            incoming.answerer.refused.note(forward.session, forward.number)
        incoming.refuse(error)


def _shards_of(request: Any, forward: Forward) -> list[int]:
    """Return the shards that a request needs."""
    if forward.game_id is not None:
        return [shard_of(forward.game_id)]
    match route_of(request, None):
        case OfGame(game_id):
            return [shard_of(game_id)]
        case OfGames(game_ids):
            return sorted({shard_of(game_id) for game_id in game_ids})
        case _:
            return [LOBBY]
