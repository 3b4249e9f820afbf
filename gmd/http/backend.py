"""The view of the daemon that the routes get."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from litestar.connection import ASGIConnection
from litestar.di import NamedDependency
from litestar.params import SkipValidation
from prometheus_client import CollectorRegistry

from gmd.handlers.in_process import InProcessClient
from gmd.handlers.services import Services
from gmd.http.claims import Claims
from gmd.http.origins import Origins
from gmd.net.proxies import Proxies
from gmd.players.credentials import Credentials


class Port(Protocol):
    """A port's connections."""

    @property
    def connections(self) -> int:
        """The number of open connections, including those about to be closed."""

    @property
    def turned_away(self) -> int:
        """The number of connections refused because there were too many."""

    @property
    def evicted(self) -> int:
        """The number of connections evicted to make room for others."""


class GamePort(Port, Protocol):
    """A port or socket of the game protocol."""

    @property
    def sessions(self) -> int:
        """The number of open sessions."""

    @property
    def stopping(self) -> bool:
        """Whether the daemon is stopping: open sessions are being finished, and no new ones are accepted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Vitals:
    """The daemon as health checks and metrics see it."""

    services: Services
    game_port: GamePort
    #: The operator's socket; None where there is none.
    operator_port: GamePort | None
    #: The HTTP ports by their names in metrics; each port adds itself.
    http_ports: dict[str, Port]
    #: The names that the daemon is reached by over HTTP.
    origins: Origins
    #: The token required to read /metrics; None where anybody may read them.
    metrics_token: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Backend(Vitals):
    """The daemon as a route sees it."""

    #: Handles protocol requests, whichever route they came by.
    in_process: InProcessClient
    #: Authenticates players by name and secret.
    credentials: Credentials
    #: The proxies whose ``X-Forwarded-For`` is trusted.
    proxies: Proxies
    #: Which connection plays which game for its player.
    claims: Claims
    #: What the pages share (:class:`gmd.http.pages.site.Site`); None where there are none.
    site: object = None


class ServedDaemon(NamedTuple):
    """The daemon whose port a request came to, and its metrics."""

    backend: Vitals
    registry: CollectorRegistry


#: The name in a request's scope of the daemon that serves it.
_DAEMON = "gmd.daemon"


def name_daemon(scope: Any, daemon: ServedDaemon) -> None:
    """Note in a request's scope which daemon serves it."""
    scope[_DAEMON] = daemon


def daemon_of(scope: Any) -> ServedDaemon:
    """Return the daemon that serves a request."""
    daemon: ServedDaemon = scope[_DAEMON]
    return daemon


def backend_of(connection: ASGIConnection[Any, Any, Any, Any]) -> Backend:
    """Return the daemon that serves a request, for guards and handlers of errors, which have no parameters."""
    backend = daemon_of(connection.scope).backend
    assert isinstance(backend, Backend)
    return backend


#: The types of a handler's parameter ``backend``: the whole daemon, or only its health and counters.
FromDaemon = NamedDependency[SkipValidation[Backend]]
FromVitals = NamedDependency[SkipValidation[Vitals]]
