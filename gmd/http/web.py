"""The HTTP ports: the public one, and the one for health and metrics. Either may be off."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import trio

from gmd.config import Config, ConfigError
from gmd.handlers.in_process import InProcessClient
from gmd.handlers.services import Services
from gmd.net.listening import CannotListen, Sockets, bound, listening
from gmd.net.tls import Certificate, certificate_of
from gmd.tcp.listener import SessionServer

if TYPE_CHECKING:
    from gmd.http.probes import HealthService
    from gmd.http.service import HttpService

HTTP_WAY_OUT = "Name another port with --http-port (0 takes a free one), or do without: --no-http"
HEALTH_WAY_OUT = "Name another port with --health-port (0 takes a free one), or do without it"


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
    sockets: Sockets,
    services: Services,
    session_server: SessionServer,
    operators: SessionServer | None,
    local: InProcessClient,
) -> AsyncIterator[Web]:
    """Open the HTTP ports of the configuration; they are closed at the end.

    :param sockets: listening sockets, in place of the configuration's addresses.
    :raises ConfigError: ``trusted_proxies`` or ``public_host`` cannot be read.
    :raises HttpAddressError: the daemon cannot listen on an address.
    """
    if not config.http and config.health_port is None:
        yield Web(None, None)
        return
    from gmd.http.backend import Vitals  # these take longer to import than everything else
    from gmd.http.origins import Origins
    from gmd.http.probes import HealthService
    from gmd.http.service import HttpService

    vitals = Vitals(
        services=services,
        game_port=session_server,
        operator_port=operators,
        http_ports={},
        origins=Origins.parse(config.public_host),
        metrics_token=config.metrics_token,
    )
    http = health = None
    async with AsyncExitStack() as stack:
        if config.http:
            address = config.http_host or config.host, config.http_port
            listeners = await _listening(stack, *address, sockets.http, "HTTP", HTTP_WAY_OUT)
            http = HttpService(config, listeners, vitals, local, certificate)
        if config.health_port is not None:
            address = config.health_host, config.health_port
            listeners = await _listening(stack, *address, sockets.health, "health", HEALTH_WAY_OUT)
            health = HealthService(config, listeners, vitals)
        yield Web(http, health)


async def bound_health(config: Config) -> list[socket.socket]:
    """Return new listening sockets on the address of the health port, none where there is no such port.

    :raises HttpAddressError: listening on the address has failed.
    """
    if config.health_port is None:
        return []
    try:
        return await bound(config.health_host, config.health_port)
    except CannotListen as error:
        where = f"{config.health_host}:{config.health_port}"
        raise HttpAddressError(f"cannot listen on {where} for health: {error.strerror}. {HEALTH_WAY_OUT}") from error


async def _listening(
    stack: AsyncExitStack, host: str, port: int, sockets: Sequence[socket.socket], what: str, way_out: str
) -> Sequence[trio.SocketListener]:
    try:
        return await stack.enter_async_context(listening(host, port, sockets))
    except CannotListen as error:
        raise HttpAddressError(f"cannot listen on {host}:{port} for {what}: {error.strerror}. {way_out}") from error


def http_certificate_of(config: Config, certificate: Certificate | None) -> Certificate | None:
    """Return the certificate for HTTP: its own, or else the game port's; None for plaintext.

    :raises ConfigError: HTTP's own certificate cannot be used, or is given while ``http_tls`` is off.
    """
    if config.http_tls:
        return certificate_of(config.http_tls_cert, config.http_tls_key, "http_tls") or certificate
    if given := config.http_tls_cert or config.http_tls_key:
        name = "http_tls_cert" if config.http_tls_cert else "http_tls_key"
        raise ConfigError(f"{name}: {given!r} is given, and http_tls is off: leave one of them out")
    return None
