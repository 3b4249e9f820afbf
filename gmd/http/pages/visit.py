"""A visit: one request of a browser, who makes it, and the way to the handlers that also serve TCP."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from litestar import Request
from litestar.di import NamedDependency
from litestar.params import SkipValidation

from gm_protocol.errors import Unauthorized
from gmd.handlers.context import Authority
from gmd.handlers.in_process import Json, Sender
from gmd.http.api_clients import arrived_of, peer_of
from gmd.http.backend import Backend, FromDaemon
from gmd.http.pages.site import Site, site_of
from gmd.http.pages.visitor import COOKIE, Visitor, guest_name


@dataclass(frozen=True, slots=True)
class Visit:
    """A request for a page, and the requests that it may make to the daemon.

    :ivar secure: whether the browser came by HTTPS.
    :ivar cookie: the value of the cookie to hand out with the answer; None for none, "" to take the present one away.
    """

    backend: Backend
    visitor: Visitor
    peer: str
    arrived: float
    secure: bool
    cookie: str | None = None

    @property
    def site(self) -> Site:
        """What the pages share."""
        return site_of(self.backend)

    @property
    def player(self) -> int | None:
        """The visitor's player; None for none."""
        return self.visitor.player

    @property
    def may_act(self) -> bool:
        """Whether the visitor can play as it is: a guest cannot where only registered players may."""
        return self.visitor.registered or not self.backend.services.registered_only

    @property
    def oversees(self) -> bool:
        """Whether the visitor sees live games in full, as a spectator."""
        return self.visitor.oversees or self.backend.services.spectators.unasked

    def acting(self) -> Visit:
        """Return the visit of somebody who plays: without a cookie, of a new guest.

        :raises Unauthorized: this server takes only registered players.
        """
        if not self.may_act:
            raise Unauthorized("only registered players play here: sign in, or register, and try again")
        return self if self.player is not None else self.becoming(self.site.sessions.guest())

    def becoming(self, player: int) -> Visit:
        """Return the visit of a player who has just been authenticated, or of a new guest."""
        return self._known_by(player, oversees=self.visitor.oversees)

    def overseeing(self) -> Visit:
        """Return the visit of somebody who has just shown the spectator key."""
        return self._known_by(self.player, oversees=True)

    def _known_by(self, player: int | None, *, oversees: bool) -> Visit:
        sessions = self.site.sessions
        cookie = sessions.issue(player, oversees=oversees)
        return replace(self, visitor=sessions.read(cookie), cookie=cookie)

    def leaving(self) -> Visit:
        """Return the visit of somebody who has signed out."""
        return replace(self, visitor=Visitor(), cookie="")

    async def ask(self, kind: str, *, shows_presence: bool = False, **fields: Any) -> Json:
        """Send a request of the protocol as the visitor, and return the reply once what it shows is durable.

        :param shows_presence: whether the request counts as the player's presence, which starts the game's clock. Only
            requests that came by a form do (:mod:`.forms`): other sites can make a browser send any other.
        :raises Refused: the reply is an error.
        """
        return await self.backend.in_process.ask(Authority.CLIENT, kind, *self._sent(fields, shows_presence))

    async def ask_encoded(self, kind: str, *, shows_presence: bool = False, **fields: Any) -> bytes:
        """Return the same reply as encoded JSON, for callers that need only a part of a large reply.

        :raises Refused: the reply is an error.
        """
        return await self.backend.in_process.ask_encoded(Authority.CLIENT, kind, *self._sent(fields, shows_presence))

    async def ask_as_spectator(self, kind: str, **fields: Any) -> Json:
        """Send a request as somebody without a player: what it shows is for the spectators' rules to say.

        :raises Refused: the reply is an error.
        """
        sender = Sender(None, self.peer, self.arrived, False, self.visitor.oversees)
        return await self.backend.in_process.ask(Authority.CLIENT, kind, {**fields, "player": None}, sender)

    async def look(self, game_id: int, **fields: Any) -> Json:
        """Return the reply of ``state`` as the visitor may see the game: from its seat, or else as a spectator.

        A player sees no more of its own game than from its seat, even if spectators see live games in full.

        :raises Refused: there is no such game.
        """
        reply = await self.ask("state", game_id=game_id, **fields)
        seated = self.player in (reply["state"]["player_white"], reply["state"]["player_black"])
        if self.player is None or seated or not self.oversees:
            return reply
        return await self.ask_as_spectator("state", game_id=game_id, **fields)

    def name_of(self, player: int | None) -> str | None:
        """Return a player's name, as pages show it; None for an open seat."""
        if player is None:
            return None
        account = self.backend.services.authenticator.registry.get(player)
        return guest_name(player) if account is None else account.name

    def _sent(self, fields: Json, shows_presence: bool) -> tuple[Json, Sender]:
        sender = Sender(self.visitor.authenticated, self.peer, self.arrived, shows_presence, self.visitor.oversees)
        if self.visitor.authenticated is None:
            fields = {"player": self.player, **fields}
        return fields, sender


#: The type of a handler's parameter ``visit``.
FromVisit = NamedDependency[SkipValidation[Visit]]


def visit_of(request: Request[Any, Any, Any], backend: FromDaemon) -> Visit:
    """Return a request's visit."""
    visitor = site_of(backend).sessions.read(request.cookies.get(COOKIE))
    return Visit(
        backend, visitor, peer_of(request.scope, backend), arrived_of(request.scope), is_secure(request, backend)
    )


def is_secure(request: Request[Any, Any, Any], backend: Backend) -> bool:
    """Return whether the browser came by HTTPS, to this port or to a trusted proxy in front of it."""
    client = request.scope.get("client")
    if client is not None and backend.proxies.trusts(client[0]):
        return request.headers.get("x-forwarded-proto", request.scope["scheme"]).strip().lower() == "https"
    return request.scope["scheme"] == "https"
