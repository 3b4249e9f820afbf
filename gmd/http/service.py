"""HTTP as the daemon has it: served and stopped with the rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import trio
from hypercorn.typing import ASGIFramework

from gm_protocol.messages import Limits
from gmd.arbiter import Arbiter
from gmd.lobby.lobby import Lobby
from gmd.local import LocalDoor
from gmd.metrics import Metrics
from gmd.players.credentials import Credentials
from gmd.players.gate import Gate

from .app import make_app
from .backend import Backend, GamePort
from .lag import watch_lag
from .peers import Proxies
from .server import HttpServer


class HttpService:
    """The HTTP side of a daemon.

    :ivar addresses: the (host, port) pairs it listens on.
    """

    def __init__(
        self,
        listeners: Sequence[trio.SocketListener],
        max_connections: int,
        arbiter: Arbiter,
        limits: Limits,
        metrics: Metrics,
        game_port: GamePort,
        door: LocalDoor,
        gate: Gate,
        lobby: Lobby,
        proxies: Proxies,
    ) -> None:
        """:param door: where requests of the protocol's go that routes make of HTTP's.
        :param gate: who the registered players are.
        :param lobby: where they invite each other.
        :param proxies: whose word is taken for where requests come from.
        """
        self.addresses: list[tuple[str, int]] = [listener.socket.getsockname()[:2] for listener in listeners]
        self._listeners = listeners
        self._lag = metrics.loop_lag
        self._server = HttpServer(limits, max_connections)
        backend = Backend(
            arbiter, limits, metrics, game_port, self._server, door, lobby, gate.registry, Credentials(gate), proxies
        )
        self._app = cast(ASGIFramework, make_app(backend))

    @property
    def connections(self) -> int:
        """How many connections are open."""
        return self._server.connections

    @property
    def turned_away(self) -> int:
        """How many were refused because there were too many."""
        return self._server.turned_away

    async def run(self, connections: trio.Nursery) -> None:
        """Accept until cancelled; the connections live on in their own nursery."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(watch_lag, self._lag)
            nursery.start_soon(self._server.run, self._app, self._listeners, connections)

    async def stop(self, patience: float) -> None:
        """Finish the requests in hand, for ``patience`` seconds at most."""
        await self._server.stop(patience)
