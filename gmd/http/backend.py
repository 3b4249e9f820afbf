"""What the routes are given of the daemon."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from litestar.di import NamedDependency
from litestar.params import SkipValidation

from gmd.in_process import InProcessClient
from gmd.players.credentials import Credentials
from gmd.services import Services

from .claims import Claims
from .peers import Proxies


class Port(Protocol):
    """A port's connections."""

    @property
    def connections(self) -> int:
        """How many are open, those that are about to be closed among them."""

    @property
    def turned_away(self) -> int:
        """How many were refused because there were too many."""

    @property
    def evicted(self) -> int:
        """How many have given up their places to others."""


class GamePort(Port, Protocol):
    """A port, or a socket, of the game protocol."""

    @property
    def sessions(self) -> int:
        """How many sessions are open."""

    @property
    def stopping(self) -> bool:
        """Whether sessions are only being brought to their ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Vitals:
    """The daemon, as those see it who want to know how it is."""

    services: Services
    game_port: GamePort
    #: The operator's socket, where there is one.
    operator_port: GamePort | None
    #: The ports that speak HTTP, by what they are called in metrics; each puts itself here.
    http_ports: dict[str, Port]
    #: What is to be shown for the metrics; None where anybody may read them.
    metrics_token: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Backend(Vitals):
    """The daemon, as a route sees it."""

    #: Where requests go, whatever route they have come by.
    in_process: InProcessClient
    #: Who is let in, and from where.
    credentials: Credentials
    proxies: Proxies
    #: Which connection plays which game for its player.
    claims: Claims


#: The type of a handler's parameter ``backend``; and of that of one that wants to know no more than how the daemon is.
FromDaemon = NamedDependency[SkipValidation[Backend]]
FromVitals = NamedDependency[SkipValidation[Vitals]]
