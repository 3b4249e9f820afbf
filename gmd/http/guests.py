"""Who sends a request: Basic authorization, and the way from there to the handlers that TCP's requests go to."""

from __future__ import annotations

import binascii
from base64 import b64decode
from dataclasses import dataclass
from typing import Any, cast

from litestar import Request
from litestar.connection import ASGIConnection
from litestar.di import NamedDependency
from litestar.handlers import BaseRouteHandler
from litestar.params import SkipValidation

from gm_protocol.errors import ShuttingDown, Unauthorized
from gmd.in_process import InProcessClient, Json, Sender
from gmd.players.account import Account
from gmd.players.authenticator import Authenticated, Authenticator
from gmd.requests.session import Authority

from .backend import Backend, FromDaemon
from .claims import Claims
from .intake import ARRIVED


@dataclass(frozen=True, slots=True)
class Guest:
    """Somebody who has sent a request over HTTP, and what they may ask of the daemon."""

    in_process: InProcessClient
    peer: str
    arrived: float
    account: Account | None
    claims: Claims
    authenticator: Authenticator

    @property
    def player(self) -> Account:
        """The registered player that it is, on a route that admits no others."""
        assert self.account is not None
        return self.account

    def check(self) -> None:
        """See to it that the player is still who it has proved to be, before something is done without :meth:`ask`.

        :raises Unauthorized: its key has been taken away, or replaced, since the request came.
        """
        self.authenticator.admit(self.player.player, None, _authenticated(self.player), self.peer)

    async def ask(self, kind: str, *, shows_presence: bool = False, **fields: Any) -> Json:
        """Send a request of the protocol's, as a session of this player's would; the reply.

        :param shows_presence: whether the player counts as being there by this, which starts the game's clock.
        :raises Refused: the reply is an error.
        """
        return await self.in_process.ask(Authority.CLIENT, kind, fields, self._sender(shows_presence))

    async def ask_encoded(self, kind: str, **fields: Any) -> bytes:
        """The same without counting as being there, as JSON: for whoever wants only a part of a large reply.

        :raises Refused: the reply is an error.
        """
        return await self.in_process.ask_encoded(Authority.CLIENT, kind, fields, self._sender(shows_presence=False))

    def _sender(self, shows_presence: bool) -> Sender:
        return Sender(_authenticated(self.account), self.peer, self.arrived, shows_presence)


#: The type of a handler's parameter ``guest``.
FromGuest = NamedDependency[SkipValidation[Guest]]


def guest_of(request: Request[Account | None, Any, Any], backend: FromDaemon) -> Guest:
    """Who sends a request; :func:`registered` has found out before."""
    account, authenticator = request.scope.get("user"), backend.services.authenticator
    return Guest(backend.in_process, _peer(request, backend), _arrived(request), account, backend.claims, authenticator)


async def registered(connection: ASGIConnection[Any, Any, Any, Any], handler: BaseRouteHandler) -> None:
    """Let nobody in but registered players, before anything else of their request is looked at.

    :raises ShuttingDown: nobody is let in any more.
    :raises Unauthorized: whoever it is has not proved to be one.
    :raises TooMany: there have been too many attempts, or there are now.
    """
    backend: Backend = connection.app.state.backend
    connection.scope["user"] = await admit(backend, connection.headers.get("authorization"), _peer(connection, backend))


async def admit(backend: Backend, authorization: str | None, peer: str) -> Account:
    """The registered player who sends a request, and is seen to be there by that.

    :param authorization: the request's header of that name.
    :param peer: where it comes from, as host:port.
    :raises ShuttingDown: nobody is let in any more.
    :raises Unauthorized: whoever it is has not proved to be one.
    :raises TooMany: there have been too many attempts, or there are now.
    """
    _check_serving(backend)
    name, secret = _basic(authorization)
    account = await backend.credentials.admit(name, secret, peer)
    backend.services.lobby.presence.seen(account.player)
    return account


def _authenticated(account: Account | None) -> Authenticated | None:
    """What a session of that player's would keep."""
    return None if account is None or account.key is None else Authenticated(account.player, account.key)


def serving(connection: ASGIConnection[Any, Any, Any, Any], _: BaseRouteHandler) -> None:
    """Let nobody in while the daemon stops: they are to come again.

    :raises ShuttingDown: it does.
    """
    _check_serving(connection.app.state.backend)


def _check_serving(backend: Backend) -> None:
    if backend.game_port.stopping:
        raise ShuttingDown("the server is stopping; try again in a moment")


def _basic(header: str | None) -> tuple[str, str]:
    """Name and secret of an Authorization header.

    reconchess's client sends what it can in Latin-1; others are told to use UTF-8.
    """
    scheme, _, encoded = (header or "").partition(" ")
    if scheme.lower() != "basic":
        raise Unauthorized("authorization: missing; send a player's name and its password, or its key, by Basic")
    try:
        pair = b64decode(encoded.strip(), validate=True)
    except (binascii.Error, ValueError):
        raise Unauthorized("authorization: what follows Basic is not base64") from None
    try:
        text = pair.decode()
    except UnicodeDecodeError:
        text = pair.decode("latin-1")
    name, _, secret = text.partition(":")
    return name, secret


def _peer(connection: ASGIConnection[Any, Any, Any, Any], backend: Backend) -> str:
    client = connection.scope.get("client")
    return backend.proxies.peer(client, connection.headers.getall("x-forwarded-for", []))


def connection_of(request: Request[Any, Any, Any]) -> str:
    """The other end of the connection that a request came on: no two that are open have the same."""
    return "{}:{}".format(*request.scope.get("client") or ("", 0))


def _arrived(connection: ASGIConnection[Any, Any, Any, Any]) -> float:
    extensions = cast(dict[str, dict[str, float]], connection.scope.get("extensions"))
    return extensions[ARRIVED]["time"]
