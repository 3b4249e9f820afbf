"""What a handler is given beside the request, and what it gives back."""

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
    """What is known of a body that is no request: its kind and its id, where they are valid."""

    kind: str | None
    id: int | str | None


class PendingReply(Struct, gc=False):
    """An encoded reply on its way out. Until :func:`gmd.dispatch.finish` lets it leave, it may yet become a refusal.

    The garbage collector does not look into it. So it must not hold an exception: the traceback of one leads to the
    session, and from there back to the reply.
    """

    body: bytes
    #: What it answers.
    request: Request | Unreadable
    #: Since when it could be given, in the loop's time: since the request's last byte, or since what ended a ``wait``.
    #: None for the last words of a session, which answer nothing.
    since: float | None
    #: What must be durable before it may leave.
    commit: Commit | None = None
    #: Why the request was refused, if it was.
    code: str | None = None
    #: The game that it is about, and who the request acted as; None for refusals.
    live: LiveGame | None = None
    player: int | None = None


class RequestContext(Struct, frozen=True, gc=False):
    """One request as it came in. Nothing of it changes while it is answered."""

    #: The daemon's.
    services: Services
    session: ClientSession
    request: Request
    #: Who it acts as: the player it names, else the session's; None for nobody.
    player: int | None
    #: When its last byte was read, in the loop's time (:mod:`gmd.loop_time`).
    arrived: float
    #: Whether it counts as its player's being there, which starts clocks; HTTP has looks that do not.
    shows_presence: bool = True

    @property
    def actor(self) -> int:
        """Who it acts as, where somebody must.

        :raises BadRequest: it names nobody.
        """
        if self.player is None:
            raise self.needs_player()
        return self.player

    def needs_player(self) -> BadRequest:
        """Return the refusal of a request that names nobody."""
        return BadRequest(f"player: {kind_of(self.request)} needs one, in the request or in the session's hello")

    def reply(self, reply: Reply, commit: Commit | None = None, live: LiveGame | None = None) -> PendingReply:
        """Return the reply, encoded.

        :param commit: what must be durable before it may leave.
        :param table: the game that it is about.
        """
        return PendingReply(encode(reply), self.request, self.arrived, commit, None, live, self.player)

    def acting_as(self, player: int | None) -> RequestContext:
        """Return the same, for another player."""
        return structs.replace(self, player=player)

    def at(self, time: float) -> RequestContext:
        """Return the same, as if it had arrived at another time: a ``wait`` is answered as of when it ends."""
        return structs.replace(self, arrived=time)


class RefusedInGame(Exception):
    """A request about a game was refused. The refusal tells how that game stands, and waits as a reply would.

    :ivar error: why.
    :ivar commit: what must be durable before it may leave.
    """

    def __init__(self, error: GmError, commit: Commit | None) -> None:
        super().__init__(str(error))
        self.error = error
        self.commit = commit
