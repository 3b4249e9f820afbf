"""A visit: one request of a browser, who makes it, and the way to the handlers that also serve TCP."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from litestar import Request
from litestar.di import NamedDependency
from litestar.params import SkipValidation

from gm_protocol.errors import BadRequest, Unauthorized, quote
from gm_protocol.framing import DEFAULT_PORT
from gmd.handlers.context import Authority
from gmd.handlers.in_process import Json, Sender
from gmd.http.api_clients import arrived_of, peer_of
from gmd.http.backend import Backend, FromDaemon
from gmd.http.pages.site import Site, site_of
from gmd.http.pages.visitor import (
    COOKIE,
    LEFT,
    LEFT_COOKIE,
    NICKNAME_RULE,
    NOBODY,
    Visitor,
    is_nickname,
)


@dataclass(frozen=True, slots=True)
class Visit:
    """A request for a page, and the requests that it may make to the daemon.

    :ivar secure: whether the browser came by HTTPS.
    :ivar cookie: the value of the cookie to hand out with the answer; None for none, "" to take the present one away.
    :ivar origin: the beginning of this server's addresses, as the browser has it; empty without a host.
    :ivar left: the guest that has left in this browser, and may come back; nobody for none.
    :ivar left_cookie: the same as ``cookie``, for coming back.
    """

    backend: Backend
    visitor: Visitor
    peer: str
    arrived: float
    secure: bool
    cookie: str | None = None
    origin: str = ""
    left: Visitor = NOBODY
    left_cookie: str | None = None

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

    def acting(self, nickname: str | None = None) -> Visit:
        """Return the visit of somebody who plays: without a cookie, of a new guest.

        :param nickname: the name that a guest has chosen, empty for none; None to keep the present one.
        :raises Unauthorized: this server takes only registered players.
        :raises BadRequest: nobody may have such a nickname.
        """
        if not self.may_act:
            raise Unauthorized("only registered players play here: sign in, or register, and try again")
        if nickname and not is_nickname(nickname):
            raise BadRequest(f"nickname: {quote(nickname)} cannot be used: {NICKNAME_RULE}")
        visit = self if self.player is not None else self.becoming(self.site.sessions.guest())
        if self.visitor.registered or nickname is None or nickname == visit.visitor.nickname:
            return visit
        self.site.sessions.forget_nickname(visit.player)
        return visit._known_by(visit.visitor, nickname=nickname)

    def becoming(self, player: int, nickname: str = "") -> Visit:
        """Return the visit of a player who has just been authenticated, of a new guest, or of one who comes back."""
        return self._known_by(Visitor(player, oversees=self.visitor.oversees), nickname=nickname)

    def overseeing(self) -> Visit:
        """Return the visit of somebody who has just shown the spectator key."""
        return self._known_by(Visitor(self.player, oversees=True), nickname=self.visitor.nickname)

    def _known_by(self, visitor: Visitor, *, nickname: str) -> Visit:
        """Return the visit with a new cookie; that of the visitor's session, if it has one."""
        sessions = self.site.sessions
        cookie = sessions.issue(visitor.player, oversees=visitor.oversees, nickname=nickname, session=visitor.session)
        return replace(self, visitor=sessions.read(cookie), cookie=cookie)

    def leaving(self) -> Visit:
        """Return the visit of somebody who has signed out. A guest may come back by the same browser."""
        gone, visitor = replace(self, visitor=NOBODY, cookie=""), self.visitor
        if visitor.player is None or visitor.registered:
            return gone
        left = self.site.sessions.issue(visitor.player, nickname=visitor.nickname, purpose=LEFT)
        return replace(gone, left=visitor, left_cookie=left)

    def returning(self) -> Visit:
        """Return the visit of a guest who comes back.

        :raises Unauthorized: nobody has left in this browser.
        """
        if self.left.player is None:
            raise Unauthorized("nobody has left in this browser: play as a new guest")
        return replace(self.becoming(self.left.player, self.left.nickname), left=NOBODY, left_cookie="")

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

    @property
    def python_server(self) -> str:
        """The arguments by which a client in Python connects to this server; empty for the usual ones."""
        host, port = self._game_address
        given = [*([] if host is None else [f'host="{host}"']), *([] if port is None else [f"port={port}"])]
        return f",\n    {', '.join(given)}" if given else ""

    @property
    def command_server(self) -> str:
        """The option by which ``gmd``'s commands connect to this server; empty for the usual one."""
        host, port = self._game_address
        server = (host or "") + ("" if port is None else f":{port}")
        return f" \\\n  --server {server}" if server else ""

    @property
    def _game_address(self) -> tuple[str | None, int | None]:
        """The host and the port of the game port where they are not the usual ones."""
        host, port = urlsplit(self.origin).hostname, self.site.game_port
        if host is not None and not _HOST.fullmatch(host):
            host = None
        return None if host in ("127.0.0.1", "localhost") else host, None if port in (0, DEFAULT_PORT) else port

    def name_of(self, player: int | None) -> str | None:
        """Return a player's name, as pages show it; None for an open seat."""
        if player is None:
            return None
        account = self.backend.services.authenticator.registry.get(player)
        return self.site.sessions.name_of_guest(player) if account is None else account.name

    def _sent(self, fields: Json, shows_presence: bool) -> tuple[Json, Sender]:
        sender = Sender(self.visitor.authenticated, self.peer, self.arrived, shows_presence, self.visitor.oversees)
        if self.visitor.authenticated is None:
            fields = {"player": self.player, **fields}
        return fields, sender


#: Names and addresses of hosts that stand in commands as they are.
_HOST = re.compile(r"[a-z0-9.-]+")

#: The type of a handler's parameter ``visit``.
FromVisit = NamedDependency[SkipValidation[Visit]]


def visit_of(request: Request[Any, Any, Any], backend: FromDaemon) -> Visit:
    """Return a request's visit."""
    sessions, host, secure = site_of(backend).sessions, request.headers.get("host", ""), is_secure(request, backend)
    return Visit(
        backend,
        sessions.read(request.cookies.get(COOKIE)),
        peer_of(request.scope, backend),
        arrived_of(request.scope),
        secure,
        origin=f"http{'s' if secure else ''}://{host}" if host else "",
        left=sessions.read(request.cookies.get(LEFT_COOKIE), LEFT),
    )


def is_secure(request: Request[Any, Any, Any], backend: Backend) -> bool:
    """Return whether the browser came by HTTPS, to this port or to a trusted proxy in front of it."""
    client = request.scope.get("client")
    if client is not None and backend.proxies.trusts(client[0]):
        return request.headers.get("x-forwarded-proto", request.scope["scheme"]).strip().lower() == "https"
    return request.scope["scheme"] == "https"
