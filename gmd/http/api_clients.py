"""The sender of a request: HTTP Basic authorization, and the way to the handlers that also serve TCP."""

from __future__ import annotations

import binascii
from base64 import b64decode
from dataclasses import dataclass
from typing import Any, NamedTuple

from litestar import Request
from litestar.connection import ASGIConnection
from litestar.di import NamedDependency
from litestar.handlers import BaseRouteHandler
from litestar.params import SkipValidation
from litestar.types import Scope

from gm_protocol.errors import ShuttingDown, Unauthorized
from gmd.handlers.context import Authority
from gmd.handlers.in_process import InProcessClient, Json, Sender
from gmd.http.asgi import ARRIVED
from gmd.http.backend import Backend, FromDaemon, backend_of
from gmd.http.claims import Claims
from gmd.players.account import Account
from gmd.players.authenticator import Authenticated, Authenticator


class Admitted(NamedTuple):
    """A registered player that has authenticated, and the registry's ``changed_secrets`` just before."""

    account: Account
    secrets: int


@dataclass(frozen=True, slots=True)
class ApiClient:
    """The sender of an HTTP request, and the requests it may make to the daemon."""

    in_process: InProcessClient
    peer: str
    arrived: float
    admission: Admitted | None
    claims: Claims
    authenticator: Authenticator

    @property
    def player(self) -> Account:
        """The registered player that sent the request, on a route for registered players only."""
        assert self.admission is not None
        return self.admission.account

    def check(self) -> None:
        """Check that the player's key is still valid, before an action that does not go through :meth:`ask`.

        :raises Unauthorized: its key has been revoked or replaced since the request arrived.
        """
        self.authenticator.admit(self.player.player, None, _authenticated(self.player), self.peer)

    async def ask(self, kind: str, *, shows_presence: bool = False, **fields: Any) -> Json:
        """Send a protocol request, as a session of this player would, and return the reply.

        :param shows_presence: whether the request counts as the player's presence, which starts the game's clock.
        :raises Refused: the reply is an error.
        """
        return await self.in_process.ask(Authority.CLIENT, kind, fields, self._sender(shows_presence))

    async def ask_encoded(self, kind: str, **fields: Any) -> bytes:
        """Return the reply as JSON, without showing presence; for callers that need only a part of a large reply.

        :raises Refused: the reply is an error.
        """
        return await self.in_process.ask_encoded(Authority.CLIENT, kind, fields, self._sender(shows_presence=False))

    def _sender(self, shows_presence: bool) -> Sender:
        if self.admission is None:
            return Sender(None, self.peer, self.arrived, shows_presence)
        account, secrets = self.admission
        return Sender(_authenticated(account), self.peer, self.arrived, shows_presence, admitted=secrets)


#: The type of a handler's parameter ``client``.
FromApiClient = NamedDependency[SkipValidation[ApiClient]]


def api_client_of(scope: Scope, backend: FromDaemon) -> ApiClient:
    """Return the sender of a request, whom :func:`authenticate` has authenticated before."""
    return ApiClient(
        backend.in_process,
        peer_of(scope, backend),
        arrived_of(scope),
        scope.get("user"),
        backend.claims,
        backend.services.authenticator,
    )


async def registered(connection: ASGIConnection[Any, Any, Any, Any], _: BaseRouteHandler) -> None:
    """Admit registered players only, before any other part of their request is examined; raise what that raises."""
    await authenticate(connection.scope, backend_of(connection))


async def authenticate(scope: Any, backend: Backend) -> None:
    """Note in a request's scope the registered player who sends it.

    :raises ShuttingDown: the daemon is stopping.
    :raises Unauthorized: the sender has not authenticated as a player.
    :raises TooMany: too many attempts have failed, or too many are in progress.
    """
    authorization = next(iter(_values(scope, b"authorization")), None)
    scope["user"] = await admit(backend, authorization, peer_of(scope, backend))


async def admit(backend: Backend, authorization: str | None, peer: str) -> Admitted:
    """Authenticate the registered player who sends a request, and record its presence.

    The requests of the protocol that it makes do neither again, unless a key or a password has changed meanwhile.

    :param authorization: the value of the request's Authorization header.
    :param peer: where it comes from, as host:port.
    :raises ShuttingDown: the daemon is stopping.
    :raises Unauthorized: the sender has not authenticated as a player.
    :raises TooMany: too many attempts have failed, or too many are in progress.
    """
    _check_serving(backend)
    name, secret = _basic(authorization)
    secrets = backend.services.authenticator.registry.changed_secrets  # from before the check, which may wait
    account = await backend.credentials.admit(name, secret, peer)
    backend.services.lobby.presence.seen(account.player)
    return Admitted(account, secrets)


def _authenticated(account: Account) -> Authenticated | None:
    """Return the proof of identity that a session of this player would hold."""
    return None if account.key is None else Authenticated(account.player, account.key)


def serving(connection: ASGIConnection[Any, Any, Any, Any], _: BaseRouteHandler) -> None:
    """Admit nobody while the daemon is stopping; clients are to retry.

    :raises ShuttingDown: the daemon is stopping.
    """
    _check_serving(backend_of(connection))


def _check_serving(backend: Backend) -> None:
    if backend.game_port.stopping:
        raise ShuttingDown("the server is stopping; try again in a moment")


def _basic(header: str | None) -> tuple[str, str]:
    """Return the name and the secret of an Authorization header.

    reconchess's client sends Latin-1 where it can; our challenge asks other clients for UTF-8.
    """
    scheme, _, encoded = (header or "").partition(" ")
    if scheme.lower() != "basic":
        raise Unauthorized("authorization: missing; send the player's name and its password or key with Basic")
    try:
        pair = b64decode(encoded.strip(), validate=True)
    except (binascii.Error, ValueError):
        raise Unauthorized("authorization: the text after Basic is not base64; send base64 of name:password") from None
    try:
        text = pair.decode()
    except UnicodeDecodeError:
        text = pair.decode("latin-1")
    name, _, secret = text.partition(":")
    return name, secret


def peer_of(scope: Any, backend: Backend) -> str:
    """Return where a request comes from, as host:port."""
    return backend.proxies.peer(scope["client"], _values(scope, b"x-forwarded-for"))


def _values(scope: Any, name: bytes) -> list[str]:
    """Return the values of a request's headers of this name."""
    return [value.decode("latin-1") for each, value in scope["headers"] if each == name]


def connection_of(request: Request[Any, Any, Any]) -> str:
    """Return the other end of a request's connection, which is unique among open connections."""
    return "{}:{}".format(*request.scope.get("client") or ("", 0))


def arrived_of(scope: Any) -> float:
    """Return when a request's last byte was read, in the loop's time."""
    arrived: float = scope[ARRIVED]
    return arrived
