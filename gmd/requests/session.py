"""The state of a client's session, over TCP, HTTP or in-process."""

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
    :ivar strict: whether it is of version 2, which refuses misspelt game options.
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
        visit: Visit | None = None,
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
