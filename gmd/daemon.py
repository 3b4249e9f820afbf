"""Wires the parts together: log, arbiter, listener; and the API for programs that embed the daemon."""

from __future__ import annotations

import gc
import resource
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from ipaddress import ip_address

import structlog
import trio

from gm_protocol.messages import Limits
from gmd.arbiter import Arbiter
from gmd.config import Config
from gmd.games.chess import MAX_PLIES
from gmd.log.opening import open_log
from gmd.spectators import Spectators
from gmd.tcp.listener import Doorkeeper

logger = structlog.get_logger(__name__)

#: Allocations between two collections of young objects. Requests make no cycles, so collecting often finds nothing.
GC_THRESHOLD = 50_000
#: Connections the kernel may hold for us between two accepts.
BACKLOG = 1024


class Daemon:
    """A running daemon.

    :ivar arbiter: its games, for calls without a socket.
    :ivar addresses: the (host, port) pairs it listens on.
    :ivar spectators: who may watch live games in full.
    """

    def __init__(
        self,
        arbiter: Arbiter,
        doorkeeper: Doorkeeper,
        listeners: list[trio.SocketListener],
        spectators: Spectators,
    ) -> None:
        self.arbiter = arbiter
        self.doorkeeper = doorkeeper
        self.spectators = spectators
        self.addresses: list[tuple[str, int]] = [listener.socket.getsockname()[:2] for listener in listeners]

    @property
    def port(self) -> int:
        """The TCP port it listens on."""
        return self.addresses[0][1]


@asynccontextmanager
async def open_daemon(config: Config) -> AsyncIterator[Daemon]:
    """Run a daemon inside a trio program for as long as the context is open.

    On leaving it stops accepting, finishes the requests in hand for up to ``config.stop_timeout`` seconds, and closes.

    :raises gmd.log.directory.DataError: the data directory cannot be used.
    :raises OSError: the address cannot be listened on.
    """
    with open_log(config.data) as log:
        arbiter = Arbiter(log, config.start_timeout, config.idle_games)
        await arbiter.start()
        listeners = await trio.open_tcp_listeners(config.port, host=config.host, backlog=BACKLOG)
        spectators = spectators_of(config, local=all(map(_is_local, listeners)))
        doorkeeper = Doorkeeper(arbiter, limits_of(config), spectators)
        async with trio.open_nursery() as writing:
            writing.start_soon(log.run)
            try:
                async with _serving(arbiter, doorkeeper, listeners, config.stop_timeout):
                    yield Daemon(arbiter, doorkeeper, listeners, spectators)
            finally:
                log.stop()


@asynccontextmanager
async def _serving(
    arbiter: Arbiter, doorkeeper: Doorkeeper, listeners: list[trio.SocketListener], patience: float
) -> AsyncIterator[None]:
    """Play games and answer clients; at the end, what is in hand gets ``patience`` seconds."""
    async with trio.open_nursery() as sessions:
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
        sessions.cancel_scope.cancel()


def spectators_of(config: Config, *, local: bool) -> Spectators:
    """Who may watch live games in full.

    :param local: whether nobody but this machine's own users can reach the daemon.
    """
    return Spectators(live=config.spectate == "live", key=config.spectator_key, trusted=local)


def _is_local(listener: trio.SocketListener) -> bool:
    return ip_address(listener.socket.getsockname()[0]).is_loopback


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
