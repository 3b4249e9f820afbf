"""Who is at the other end of a session, whatever way it came in."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from enum import Enum

from gmd.players.account import Account
from gmd.players.authenticator import Authenticated
from gmd.players.presence import Visit
from gmd.services import Services
from gmd.turns import UnacknowledgedResults
from gmd.watchers import Subscription


class Authority(Enum):
    """What the way a session came in says of who is at its other end."""

    #: Anybody: acts as any open player, and as a registered one with its key.
    CLIENT = "client"
    #: Who can open the operator's socket: acts as any player, sees everything, and may end any game.
    OPERATOR = "operator"


#: What a session does while a request of its waits: interrupts the subscription when the client sends something more.
Attending = Callable[[Subscription], AbstractAsyncContextManager[None]]


@asynccontextmanager
async def sends_nothing_more(bell: Subscription) -> AsyncIterator[None]:
    """Attend to a session of one request: nothing comes behind it that could interrupt its waiting."""
    yield


class ClientSession:
    """Who is at the other end of a session, and what the server keeps for it from one request to the next.

    :ivar parts: the daemon's.
    :ivar is_operator: whether it is the operator's session.
    :ivar peer: where it comes from, as host:port; empty where that is nowhere.
    :ivar strict: whether it is of version 2, where a misspelt game option is refused.
    :ivar player: the player of requests that name none; ``hello`` sets it.
    :ivar authenticated: what the session has shown of its player, if it has.
    :ivar visit: makes that player present for as long as the session lasts; None where a session is one request.
    :ivar oversees: whether it sees everything where a request names no player; ``hello`` sets it.
    :ivar unacknowledged: the ends of games that it has shown.
    :ivar attending: entered while a request waits.
    :ivar refusals: how many requests were refused.
    """

    __slots__ = (
        "attending",
        "authenticated",
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
        visit: Visit | None = None,
        replies_sent: Callable[[], int] = lambda: 0,
        attending: Attending = sends_nothing_more,
    ) -> None:
        """:param authenticated: of its player, where another way in has admitted it.
        :param replies_sent: the number of the batch of replies that the next reply leaves with.
        """
        self.services = services
        self.is_operator = authority is Authority.OPERATOR
        self.peer = peer
        self.strict = strict
        self.authenticated = authenticated
        self.player = None if authenticated is None else authenticated.player
        self.visit = visit
        self.oversees = self.is_operator or services.spectators.unasked
        self.unacknowledged = UnacknowledgedResults(services.arbiter.turns, replies_sent)
        self.attending = attending
        self.refusals = 0

    def forget(self) -> None:
        """Be nobody's session."""
        self.player = self.authenticated = None
        self.leave()
        self.oversees = self.is_operator or self.services.spectators.unasked

    def prove(self, account: Account) -> None:
        """Be the session of this player, who has proved its identity."""
        self.authenticated = self.services.authenticator.authenticated(account)
        if self.visit is not None:
            self.visit.enter(self.authenticated)

    def leave(self) -> None:
        """Let the session's player be present no longer, as far as the session goes; also at its end."""
        if self.visit is not None:
            self.visit.leave()
