"""``/healthz`` and ``/metrics`` on a port of their own, which answers probes even when the other ports are full."""

from __future__ import annotations

from collections.abc import Sequence

import trio

from gmd.config import Config
from gmd.http.app import make_health_app
from gmd.http.backend import Vitals
from gmd.http.server import HttpServer
from gmd.http.service import watch_lag
from gmd.net.proxies import Proxies

#: The most connections at once: a few probes, and some not closed yet.
MAX_CONNECTIONS = 32


class HealthService:
    """The health port of a daemon: plaintext, with only these two paths.

    :ivar addresses: the (host, port) pairs it listens on.
    """

    def __init__(self, config: Config, listeners: Sequence[trio.SocketListener], vitals: Vitals) -> None:
        self.addresses: list[tuple[str, int]] = [listener.socket.getsockname()[:2] for listener in listeners]
        self._listeners = listeners
        #: None where the HTTP service is on, since that one measures the lag.
        self._lag = None if config.http else vitals.services.metrics.loop_lag
        services, name = vitals.services, "the health port's connections"
        app = make_health_app(vitals)
        self.server = HttpServer(
            app, services.limits, MAX_CONNECTIONS, services.memory, services.send_timeout, Proxies(), name=name
        )
        vitals.http_ports["health"] = self.server

    async def run(self, connections: trio.Nursery) -> None:
        """Accept until cancelled; the connections live on in their own nursery."""
        async with trio.open_nursery() as nursery:
            if self._lag is not None:
                nursery.start_soon(watch_lag, self._lag)
            nursery.start_soon(self.server.run, self._listeners, connections)

    async def stop(self, patience: float) -> None:
        """Finish the requests in progress, within ``patience`` seconds."""
        await self.server.stop(patience)
