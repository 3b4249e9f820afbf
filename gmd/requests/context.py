"""The context that a handler gets with a request, and the pending reply that it returns."""

from __future__ import annotations

from msgspec import Struct, structs

from gm_protocol.codec import encode, kind_of
from gm_protocol.errors import BadRequest, GmError
from gm_protocol.messages import Reply, Request
from gmd.event_log.interface import Commit
from gmd.live_games import LiveGame
from gmd.services import Services

from .session import ClientSession


class Unreadable(Struct, frozen=True, gc=False):
    """What is known of an invalid request: its kind and its id, if they are valid."""

    kind: str | None
    id: int | str | None


class PendingReply(Struct, gc=False):
    """An encoded reply that waits for its commit. Until :func:`gmd.dispatch.finish` is done, it may become an error.

    The garbage collector does not look into it. So it must not hold an exception: the traceback of one leads to the
    session, and from there back to the reply.
    """

    body: bytes
    #: The request that it answers.
    request: Request | Unreadable
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
    #: When its last byte was read, in the loop's time (:mod:`gmd.loop_time`).
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
