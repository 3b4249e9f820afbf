"""Wires the parts together: log, arbiter, listeners; and the API for programs that embed the daemon."""

from __future__ import annotations

import gc
import resource
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import structlog
import trio

from gm_protocol.messages import Limits
from gmd.arbiter import Arbiter
from gmd.config import Config
from gmd.games.chess import MAX_PLIES
from gmd.log.opening import open_log
from gmd.metrics import Metrics
from gmd.tcp.listener import Doorkeeper

if TYPE_CHECKING:
    from gmd.http.service import HttpService

logger = structlog.get_logger(__name__)

#: Allocations between two collections of young objects. Requests make no cycles, so collecting often finds nothing.
GC_THRESHOLD = 50_000
#: Connections the kernel may hold for us between two accepts.
BACKLOG = 1024
#: Seconds that HTTP requests in hand have once the sessions have ended: each takes a moment, and five are promised.
HTTP_STOP_SECONDS = 0.25


class HttpAddressError(Exception):
    """HTTP's address cannot be listened on. The message says what to do, for whoever starts the daemon."""


class Daemon:
    """A running daemon.

    :ivar arbiter: its games, for calls without a socket.
    :ivar metrics: what it has counted.
    :ivar addresses: the (host, port) pairs it listens on.
    :ivar http: its HTTP side; None where it has none.
    :ivar http_addresses: the pairs it serves HTTP on; none where it does not.
    """

    def __init__(
        self,
        arbiter: Arbiter,
        doorkeeper: Doorkeeper,
        metrics: Metrics,
        listeners: list[trio.SocketListener],
        http: HttpService | None,
    ) -> None:
        self.arbiter = arbiter
        self.doorkeeper = doorkeeper
        self.metrics = metrics
        self.http = http
        self.http_addresses = [] if http is None else http.addresses
        self.addresses: list[tuple[str, int]] = [listener.socket.getsockname()[:2] for listener in listeners]

    @property
    def port(self) -> int:
        """The TCP port it listens on."""
        return self.addresses[0][1]

    @property
    def http_port(self) -> int | None:
        """The TCP port it serves HTTP on; None where it does not."""
        return self.http_addresses[0][1] if self.http_addresses else None


@asynccontextmanager
async def open_daemon(config: Config) -> AsyncIterator[Daemon]:
    """Run a daemon inside a trio program for as long as the context is open.

    It logs to structlog, as the program has configured that; :mod:`gmd.cli.logs` says how ``gmd serve`` does.

    On leaving it stops accepting, finishes the requests in hand for up to ``config.stop_timeout`` seconds, and closes.

    :raises gmd.log.directory.DataError: the data directory cannot be used.
    :raises HttpAddressError: HTTP's address cannot be listened on.
    :raises OSError: the address cannot be listened on.
    """
    metrics = Metrics()
    with open_log(config.data, metrics) as log:
        arbiter = Arbiter(log, config.start_timeout, config.idle_games)
        await arbiter.start()
        doorkeeper = Doorkeeper(arbiter, limits_of(config), metrics)
        async with _http(config, arbiter, metrics, doorkeeper) as http:
            listeners = await trio.open_tcp_listeners(config.port, host=config.host, backlog=BACKLOG)
            async with trio.open_nursery() as writing:
                writing.start_soon(log.run)
                try:
                    async with _serving(arbiter, doorkeeper, listeners, http, config.stop_timeout):
                        yield Daemon(arbiter, doorkeeper, metrics, listeners, http)
                finally:
                    log.stop()


@asynccontextmanager
async def _http(
    config: Config, arbiter: Arbiter, metrics: Metrics, doorkeeper: Doorkeeper
) -> AsyncIterator[HttpService | None]:
    """HTTP's address, listened on, if it is on."""
    if not config.http:
        yield None
        return
    from gmd.http.service import HttpService  # it takes longer to import than everything else

    try:
        listeners = await trio.open_tcp_listeners(config.http_port, host=config.http_host, backlog=BACKLOG)
    except (OSError, UnicodeError) as error:  # UnicodeError: no host could have such a name
        reason = error.strerror if isinstance(error, OSError) else error
        raise HttpAddressError(
            f"cannot listen on {config.http_host}:{config.http_port} for HTTP: {reason}. "
            "Name another port with --http-port (0 takes a free one), or do without: --no-http"
        ) from error
    try:
        yield HttpService(listeners, config.http_max_connections, arbiter, limits_of(config), metrics, doorkeeper)
    finally:
        for listener in listeners:
            await listener.aclose()


@asynccontextmanager
async def _serving(
    arbiter: Arbiter,
    doorkeeper: Doorkeeper,
    listeners: list[trio.SocketListener],
    http: HttpService | None,
    patience: float,
) -> AsyncIterator[None]:
    """Play games and answer clients; at the end, what is in hand gets ``patience`` seconds."""
    async with trio.open_nursery() as sessions:
        if http is not None:
            sessions.start_soon(http.run, sessions)  # it says how the daemon is also while that stops
        async with trio.open_nursery() as services:
            services.start_soon(arbiter.run)
            services.start_soon(doorkeeper.run, listeners, sessions)
            try:
                yield
            finally:
                services.cancel_scope.cancel()
                with trio.CancelScope(shield=True):
                    for listener in listeners:
                        await listener.aclose()
                    await doorkeeper.stop(patience)
                    if http is not None:
                        await http.stop(HTTP_STOP_SECONDS)
        sessions.cancel_scope.cancel()


def limits_of(config: Config) -> Limits:
    """The limits clients are told."""
    return Limits(
        max_message=config.max_message,
        max_connections=config.max_connections,
        max_wait_seconds=config.max_wait,
        max_wait_games=100,
        max_games_page=100,
        max_plies=MAX_PLIES,
        idle_seconds=config.idle_timeout,
        frame_seconds=config.frame_timeout,
        start_seconds=config.start_timeout,
    )


def prepare_process() -> None:
    """Make this process a server's: as many descriptors as it may have, and a garbage collector that seldom looks."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    gc.collect()
    gc.freeze()
    gc.set_threshold(GC_THRESHOLD, 20, 100)
