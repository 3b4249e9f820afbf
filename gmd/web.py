"""The HTTP ports: the public one, and the one for health and metrics. Either may be off."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import trio

from gmd.config import Config
from gmd.in_process import InProcessClient
from gmd.listening import CannotListen, listening
from gmd.services import Services
from gmd.tcp.listener import SessionServer
from gmd.tls import Certificate

if TYPE_CHECKING:
    from gmd.http.probes import HealthService
    from gmd.http.service import HttpService


class HttpAddressError(Exception):
    """An error: the daemon cannot listen on an address of HTTP. The message says what to do."""


@dataclass(frozen=True, slots=True)
class Web:
    """The HTTP services.

    :ivar http: the public service; None where HTTP is off.
    :ivar health: ``/healthz`` and ``/metrics`` on a separate port; None where there is none.
    """

    http: HttpService | None
    health: HealthService | None

    @property
    def _services(self) -> list[HttpService | HealthService]:
        return [service for service in (self.http, self.health) if service is not None]

    def start(self, nursery: trio.Nursery) -> None:
        """Serve in a nursery until it is cancelled."""
        for service in self._services:
            nursery.start_soon(service.run, nursery)

    async def stop(self, patience: float) -> None:
        """Finish pending requests, for ``patience`` seconds at most."""
        async with trio.open_nursery() as nursery:
            for service in self._services:
                nursery.start_soon(service.stop, patience)


@asynccontextmanager
async def opened_web(
    config: Config,
    certificate: Certificate | None,
    sockets: Sequence[socket.socket],
    services: Services,
    session_server: SessionServer,
    operators: SessionServer | None,
    local: InProcessClient,
) -> AsyncIterator[Web]:
    """Open the HTTP ports of the configuration; they are closed at the end.

    :param sockets: listening sockets, in place of HTTP's host and port.
    :raises ConfigError: ``trusted_proxies`` cannot be read.
    :raises HttpAddressError: the daemon cannot listen on an address.
    """
    if not config.http and config.health_port is None:
        yield Web(None, None)
        return
    from gmd.http.backend import Vitals  # these take longer to import than everything else
    from gmd.http.probes import HealthService
    from gmd.http.service import HttpService

    vitals = Vitals(
        services=services,
        game_port=session_server,
        operator_port=operators,
        http_ports={},
        metrics_token=config.metrics_token,
    )
    http = health = None
    async with AsyncExitStack() as stack:
        if config.http:
            way_out = "Name another port with --http-port (0 takes a free one), or do without: --no-http"
            listeners = await _listening(stack, config.http_host, config.http_port, sockets, "HTTP", way_out)
            http = HttpService(config, listeners, vitals, local, certificate)
        if config.health_port is not None:
            way_out = "Name another port with --health-port (0 takes a free one), or do without it"
            listeners = await _listening(stack, config.health_host, config.health_port, (), "health", way_out)
            health = HealthService(config, listeners, vitals)
        yield Web(http, health)


async def _listening(
    stack: AsyncExitStack, host: str, port: int, sockets: Sequence[socket.socket], what: str, way_out: str
) -> Sequence[trio.SocketListener]:
    try:
        return await stack.enter_async_context(listening(host, port, sockets))
    except CannotListen as error:
        raise HttpAddressError(f"cannot listen on {host}:{port} for {what}: {error.strerror}. {way_out}") from error
