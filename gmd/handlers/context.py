"""What a handler gets, a request's context with the client's session, and the pending reply that it returns."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from enum import Enum

from msgspec import Struct, structs

from gm_protocol.codec import encode, kind_of
from gm_protocol.errors import BadRequest, GmError
from gm_protocol.messages import Reply, Request
from gmd.event_log.interface import Commit
from gmd.handlers.services import Services
from gmd.play.live_games import LiveGame
from gmd.play.turns import UnacknowledgedResults
from gmd.play.watchers import Subscription
from gmd.players.account import Account
from gmd.players.authenticator import Authenticated
from gmd.players.presence import Attendance


class Authority(Enum):
    """The rights of a session, given by the socket that it came over."""

    #: Any client: acts as any open id, and as a registered player with its key.
    CLIENT = "client"
    #: A client of the operator's socket: acts as any player, sees everything, and may end any game.
    OPERATOR = "operator"


#: Entered while a request of a session waits: it interrupts the subscription when the client sends more input.
Attending = Callable[[Subscription], AbstractAsyncContextManager[None]]


@asynccontextmanager
async def sends_nothing_more(subscription: Subscription) -> AsyncIterator[None]:
    """Attend to a session of one request: no further input can interrupt its wait."""
    yield


def holds_nothing(change: int) -> None:
    """Count no memory, for a session of one request."""


class ClientSession:
    """A client's session: its player, its rights, and the state that it keeps between requests.

    :ivar services: the daemon's services.
    :ivar is_operator: whether it is the operator's session.
    :ivar peer: the client's address, as host:port; empty where it has none.
    :ivar strict: whether it is of version 2, which refuses misspelt game options and has all terminations.
    :ivar player: the player of requests that name none; ``hello`` sets it.
    :ivar authenticated: the proof of the session's player; None if it has given none.
    :ivar admitted: the registry's ``changed_secrets`` when HTTP checked that proof and noted the player's presence;
        None where each request is checked.
    :ivar visit: marks that player as present while the session lasts; None where a session is one request.
    :ivar oversees: whether requests without a player see everything; ``hello`` sets it.
    :ivar unacknowledged: the results that it has sent and that are not acknowledged.
    :ivar attending: entered while a request waits.
    :ivar hold: called with the bytes of memory that the session holds in addition, or no longer; it may be cut off.
    :ivar refusals: how many requests were refused so far.
    """

    __slots__ = (
        "admitted",
        "attending",
        "authenticated",
        "hold",
        "is_operator",
        "oversees",
        "peer",
        "player",
        "refusals",
        "services",
        "strict",
        "unacknowledged",
        "visit",
    )

    def __init__(
        self,
        services: Services,
        authority: Authority = Authority.CLIENT,
        *,
        peer: str = "",
        strict: bool = True,
        authenticated: Authenticated | None = None,
        admitted: int | None = None,
        visit: Attendance | None = None,
        replies_sent: Callable[[], int] = lambda: 0,
        attending: Attending = sends_nothing_more,
        hold: Callable[[int], None] = holds_nothing,
        unacknowledged: UnacknowledgedResults | None = None,
    ) -> None:
        """:param authenticated: the proof of its player, where HTTP has authenticated it.
        :param replies_sent: returns the number of the batch of replies that the next reply goes with.
        :param unacknowledged: the results that it has sent, where it does not keep them itself.
        """
        self.services = services
        self.is_operator = authority is Authority.OPERATOR
        self.peer = peer
        self.strict = strict
        self.authenticated = authenticated
        self.admitted = admitted
        self.player = None if authenticated is None else authenticated.player
        self.visit = visit
        self.oversees = self.is_operator or services.spectators.unasked
        if unacknowledged is None:
            unacknowledged = UnacknowledgedResults(services.arbiter.turns, replies_sent, hold)
        self.unacknowledged = unacknowledged
        self.attending = attending
        self.hold = hold
        self.refusals = 0

    def forget(self) -> None:
        """Forget the session's player and its rights."""
        self.player = self.authenticated = None
        self.leave()
        self.oversees = self.is_operator or self.services.spectators.unasked

    def prove(self, account: Account) -> None:
        """Note that the session has authenticated as this player."""
        self.authenticated = self.services.authenticator.authenticated(account)
        if self.visit is not None:
            self.visit.enter(self.authenticated)

    def leave(self) -> None:
        """End the presence of the session's player that comes from this session; called at the session's end, too."""
        if self.visit is not None:
            self.visit.leave()


class UnreadRequest(Struct, frozen=True, gc=False):
    """What is known of an invalid request: its kind and its id, if they are valid."""

    kind: str | None
    id: int | str | None


class PendingReply(Struct, gc=False):
    """An encoded reply that waits for its commit. :func:`gmd.handlers.dispatch.finish` may make an error of it.

    The garbage collector does not look into it. So it must not hold an exception: the traceback of one leads to the
    session, and from there back to the reply.
    """

    body: bytes
    #: The request that it answers.
    request: Request | UnreadRequest
    #: The start of its latency, in the loop's time: when the request's last byte was read, or when a ``wait`` ended.
    #: None for the last error of a session, which answers no request.
    since: float | None
    #: The commit that must be durable before the reply may be sent; None for none.
    commit: Commit | None = None
    #: The error code if the request was refused.
    code: str | None = None
    #: The game that it is about, and the player that the request acted as; None for refusals.
    live: LiveGame | None = None
    player: int | None = None


class RequestContext(Struct, frozen=True, gc=False):
    """A request with its session, player and time of arrival. It is immutable."""

    #: The daemon's services.
    services: Services
    session: ClientSession
    request: Request
    #: The player that it acts as: the one it names, else the session's; None for none.
    player: int | None
    #: When its last byte was read, in the loop's time (:mod:`gmd.net.loop_time`).
    arrived: float
    #: Whether it marks its player as present, which starts clocks; some HTTP requests only read, and do not.
    shows_presence: bool = True

    @property
    def actor(self) -> int:
        """The player that it acts as, for kinds that need one.

        :raises BadRequest: neither the request nor the session names a player.
        """
        if self.player is None:
            raise self.needs_player()
        return self.player

    def needs_player(self) -> BadRequest:
        """Return the error for a request that needs a player and has none."""
        return BadRequest(f"player: {kind_of(self.request)} needs one, in the request or in the session's hello")

    def reply(self, reply: Reply, commit: Commit | None = None, live: LiveGame | None = None) -> PendingReply:
        """Encode a reply.

        :param commit: the commit that must be durable before the reply may be sent.
        :param live: the game that it is about.
        """
        return PendingReply(encode(reply), self.request, self.arrived, commit, None, live, self.player)

    def acting_as(self, player: int | None) -> RequestContext:
        """Return a copy for another player."""
        return structs.replace(self, player=player)

    def at(self, time: float) -> RequestContext:
        """Return a copy with another time of arrival: a ``wait`` is answered as of its end."""
        return structs.replace(self, arrived=time)


class RefusedInGame(Exception):
    """A refusal of a request about a game. It reveals the game's state, so it waits for the commit as a reply does.

    :ivar error: the reason.
    :ivar commit: the commit that must be durable before the refusal may be sent.
    """

    def __init__(self, error: GmError, commit: Commit | None) -> None:
        super().__init__(str(error))
        self.error = error
        self.commit = commit
