"""The HTTP service of the daemon, which starts and stops with it, and measures the event loop's lag."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import NoReturn

import trio

from gmd.config import Config
from gmd.event_log.opening import data_directory
from gmd.handlers.in_process import InProcessClient
from gmd.handlers.services import Services
from gmd.http.app import make_app
from gmd.http.backend import Backend, Vitals
from gmd.http.claims import Claims
from gmd.http.pages.manual import BUILT, manual_in
from gmd.http.pages.session_key import session_key
from gmd.http.pages.site import Site
from gmd.http.pages.visitor import Sessions
from gmd.http.server import HttpServer
from gmd.logger import get_logger
from gmd.net.connection_slots import share_of
from gmd.net.listening import is_local
from gmd.net.metrics import Histogram
from gmd.net.proxies import Proxies
from gmd.net.tls import Certificate
from gmd.players.credentials import Credentials

#: Seconds between two samples: rare enough to cost nothing, frequent enough for a rate over a minute.
LOOK_SECONDS = 1.0


async def watch_lag(lag: Histogram) -> NoReturn:
    """Sleep repeatedly, and record by how many seconds each wake-up was late."""
    while True:
        due = trio.current_time() + LOOK_SECONDS
        await trio.sleep_until(due)
        lag.observe(trio.current_time() - due)


logger = get_logger(__name__)


class HttpService:
    """The HTTP side of a daemon.

    :ivar addresses: the (host, port) pairs it listens on.
    :ivar app: answers their requests.
    :ivar server: serves its connections.
    :ivar site: what its pages share; None without pages.
    """

    def __init__(
        self,
        config: Config,
        listeners: Sequence[trio.SocketListener],
        vitals: Vitals,
        in_process: InProcessClient,
        certificate: Certificate | None = None,
    ) -> None:
        """:param certificate: puts TLS on every connection.
        :param in_process: handles the protocol requests that routes make.
        :raises ConfigError: the setting ``trusted_proxies`` cannot be parsed.
        :raises DataError: the key of the visitors' cookies cannot be kept in the data directory or the database.
        """
        if certificate is not None and config.trusted_proxies and not config.http_tls_cert:
            logger.warning(
                "HTTP speaks TLS with the game port's certificate",
                trusted_proxies=config.trusted_proxies,
                advice="a proxy that forwards plaintext needs --no-http-tls",
            )
        self.addresses: list[tuple[str, int]] = [listener.socket.getsockname()[:2] for listener in listeners]
        self._listeners = listeners
        #: Its TLS certificate, or None.
        self.certificate = certificate
        services = vitals.services
        self._lag = services.metrics.loop_lag
        proxies = Proxies.parse(config.trusted_proxies)
        #: Which connection plays which game for its player.
        self.claims = Claims(services.limits.start_seconds)
        services.authenticator.registry.when_revoked(self.claims.forget_player)
        self.site = _site_of(config, services)
        backend = Backend(
            **{each.name: getattr(vitals, each.name) for each in fields(vitals)},
            in_process=in_process,
            credentials=Credentials(services.authenticator),
            proxies=proxies,
            claims=self.claims,
            site=self.site,
        )
        limit, is_private = config.http_max_connections, all(map(is_local, listeners))
        share = share_of(config.http_max_connections_per_address, limit, local=is_private)
        self.app = make_app(backend)
        self.server = HttpServer(
            self.app,
            services.limits,
            limit,
            services.memory,
            services.send_timeout,
            proxies,
            certificate,
            share=share,
            scheduler=services.scheduler,
            lease=services.lease,
        )
        vitals.http_ports["http"] = self.server

    async def run(self, connections: trio.Nursery) -> None:
        """Accept until cancelled; the connections live on in their own nursery."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(watch_lag, self._lag)
            if self.site is not None:
                nursery.start_soon(self.site.live.run)
            nursery.start_soon(self.server.run, self._listeners, connections)

    async def stop(self, patience: float) -> None:
        """Finish the requests in progress, within ``patience`` seconds."""
        await self.server.stop(patience)


def _site_of(config: Config, services: Services) -> Site | None:
    """Return what the pages share; None without pages."""
    if not config.pages:
        return None
    registry = services.authenticator.registry
    term = 0 if services.lease is None else services.lease.term
    key = session_key(data_directory(config.data), config.database, term)
    site = Site(Sessions(registry, services.spectators, key), config.port, manual_in(BUILT))
    registry.when_changed(site.live.recheck)
    services.arbiter.feed.when_seats_change(site.live.seats_changed)
    return site
