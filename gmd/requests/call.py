"""What a handler is given beside the request, and what it gives back."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from enum import Enum

from msgspec import UNSET, Struct, UnsetType

from gm_protocol.codec import kind_of
from gm_protocol.errors import BadRequest, Unauthorized
from gm_protocol.messages import FIRST_REGISTERED, LAST_REGISTERED, Reply, Request
from gmd.event_log.interface import Commit
from gmd.games.views import Viewer
from gmd.live_games import LiveGame
from gmd.players.account import Account
from gmd.players.authenticator import Proof
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


@dataclass(slots=True)
class Call:
    """One session's side of a request, whatever way it came in."""

    services: Services
    #: The player of requests that name none; ``hello`` sets it.
    player: int | None
    #: Whether the session is of version 2, where a misspelt game option is refused.
    strict: bool
    #: When the request's last byte was read, in the loop's time (:mod:`gmd.loop_time`).
    arrived: float
    #: While it is entered, interrupts the bell when the client sends something more.
    attending: Callable[[Subscription], AbstractAsyncContextManager[None]]
    #: Where the session comes from, as host:port; empty where that is nowhere.
    peer: str
    #: The ends of games that it has shown.
    ends: UnacknowledgedResults
    #: How many of the session's requests were refused.
    refusals: int = 0
    #: What the session's ``hello`` has shown of its player.
    proof: Proof | None = None
    #: What makes that player be here for as long as the session lasts; None where there is no session.
    visit: Visit | None = None
    #: The key that came with the request under way.
    key: str | UnsetType | None = field(default=None, repr=False)
    authority: Authority = Authority.CLIENT
    #: Whether the session sees everything where it names no player; ``hello`` sets it.
    oversees: bool = False
    #: Whether the request counts as its player's being there, which starts clocks; HTTP has looks that do not.
    counts_as_contact: bool = True
    #: The game that the request under way was found to name: its refusal, too, tells how that game stands.
    live: LiveGame | None = None
    #: Who looks at it, as far as that is known.
    viewer: Viewer = Viewer.NOBODY

    def __post_init__(self) -> None:
        self.oversees = self.is_operator or self.services.spectators.unasked

    @property
    def is_operator(self) -> bool:
        """Whether the session is the operator's."""
        return self.authority is Authority.OPERATOR

    def forget(self) -> None:
        """Be a session of nobody's."""
        self.player = self.proof = None
        self.leave()
        self.oversees = self.is_operator or self.services.spectators.unasked

    def prove(self, account: Account) -> None:
        """Be a session of this player's, who has shown who it is."""
        self.proof = self.services.authenticator.proof(account)
        if self.visit is not None:
            self.visit.enter(self.proof)

    def leave(self) -> None:
        """The session's player is not here any more, as far as the session goes; also at its end."""
        if self.visit is not None:
            self.visit.leave()


class Answer(Struct, frozen=True, gc=False):
    """A reply, and the commit that must be durable before it may leave."""

    reply: Reply
    commit: Commit | None = None


def player_of(request: Request, call: Call) -> int | None:
    """Who the request acts as: the player it names, else the session's; None for nobody."""
    return call.player if request.player is UNSET else request.player


def actor_of(request: Request, call: Call) -> int:
    """Who the request acts as, where somebody must.

    :raises BadRequest: it names nobody.
    """
    player = player_of(request, call)
    if player is None:
        raise BadRequest(f"player: {kind_of(request)} needs one, in the request or in the session's hello")
    return player


def authorise(player: int | None, call: Call) -> None:
    """Let the request act as a player. Every kind of request, in every kind of session, comes by here.

    :raises Unauthorized: it is a registered player, and neither the request nor the session's hello has shown its key;
        or it is an open id, where those are refused.
    :raises TooMany: too many such requests came from the same address.
    """
    if player is None:
        return
    if FIRST_REGISTERED <= player <= LAST_REGISTERED:
        if not call.is_operator:
            call.services.authenticator.admit(player, call.key or None, call.proof, call.peer)
            if call.visit is None or call.visit.player != player:
                call.services.authenticator.presence.seen(player)
    elif call.services.registered_only and not call.is_operator:
        raise Unauthorized(f"player: {player} is an open id, and this server takes registered players alone")


def operator_only(request: Request, call: Call) -> None:
    """Let a request be the operator's.

    :raises Unauthorized: it is not.
    """
    if not call.is_operator:
        raise Unauthorized(f"kind: {kind_of(request)} is the operator's, who has a socket of their own")
