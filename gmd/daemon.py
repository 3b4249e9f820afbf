"""Wires the parts together: log, arbiter, listener; and the API for programs that embed the daemon."""

from __future__ import annotations

import gc
import resource
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import structlog
import trio

from gm_protocol.messages import Limits
from gmd.arbiter import Arbiter
from gmd.config import Config
from gmd.games.chess import MAX_PLIES
from gmd.handlers.call import Authority
from gmd.log.interface import EventLog
from gmd.log.opening import data_directory, open_log
from gmd.players.gate import Gate
from gmd.players.opening import players_beside
from gmd.players.registry import Registry
from gmd.tcp.listener import Doorkeeper
from gmd.tcp.operator import operator_listener
from gmd.tcp.tls import Certificate, certificate_of

logger = structlog.get_logger(__name__)

#: Allocations between two collections of young objects. Requests make no cycles, so collecting often finds nothing.
GC_THRESHOLD = 50_000
#: Connections the kernel may hold for us between two accepts.
BACKLOG = 1024

#: Where sessions come in, and who lets them in.
Door = tuple[Doorkeeper, Sequence[trio.SocketListener]]


class Daemon:
    """A running daemon.

    :ivar arbiter: its games, for calls without a socket.
    :ivar gate: its registered players.
    :ivar certificate: its TLS, if it has any.
    :ivar addresses: the (host, port) pairs it listens on.
    """

    def __init__(
        self,
        arbiter: Arbiter,
        gate: Gate,
        doorkeeper: Doorkeeper,
        certificate: Certificate | None,
        listeners: Sequence[trio.SocketListener],
    ) -> None:
        self.arbiter = arbiter
        self.gate = gate
        self.doorkeeper = doorkeeper
        self.certificate = certificate
        self.addresses: list[tuple[str, int]] = [listener.socket.getsockname()[:2] for listener in listeners]

    @property
    def port(self) -> int:
        """The TCP port it listens on."""
        return self.addresses[0][1]


@asynccontextmanager
async def open_daemon(config: Config, sockets: Sequence[socket.socket] = ()) -> AsyncIterator[Daemon]:
    """Run a daemon inside a trio program for as long as the context is open.

    On leaving it stops accepting, finishes the requests in hand for up to ``config.stop_timeout`` seconds, and closes.

    :param sockets: listen already, for the game port, in place of the configuration's host and port.
    :raises ConfigError: the certificate or its key cannot be used.
    :raises gmd.log.directory.DataError: the data directory cannot be used.
    :raises OSError: the address cannot be listened on.
    """
    certificate = certificate_of(config.tls_cert, config.tls_key)
    with open_log(config.data) as log:
        arbiter = Arbiter(log, config.start_timeout, config.idle_games)
        await arbiter.start()
        gate = gate_of(config, log)
        await gate.registry.start()
        doorkeeper = Doorkeeper(
            arbiter, limits_of(config), gate, certificate, registered_only=config.require_registration
        )
        listeners = [trio.SocketListener(trio.socket.from_stdlib_socket(each)) for each in sockets]
        if not listeners:
            listeners = await trio.open_tcp_listeners(config.port, host=config.host, backlog=BACKLOG)
        doors = [(doorkeeper, listeners)]
        with operator_listener(data_directory(config.data)) as listener:
            if listener is not None:
                door = Doorkeeper(arbiter, limits_of(config), gate, authority=Authority.OPERATOR)
                doors.append((door, [listener]))
            async with trio.open_nursery() as writing:
                writing.start_soon(log.run)
                try:
                    async with _serving(arbiter, gate.registry, doors, config.stop_timeout):
                        yield Daemon(arbiter, gate, doorkeeper, certificate, listeners)
                finally:
                    log.stop()


@asynccontextmanager
async def _serving(arbiter: Arbiter, registry: Registry, doors: Sequence[Door], patience: float) -> AsyncIterator[None]:
    """Play games and answer clients; at the end, what is in hand gets ``patience`` seconds."""
    async with trio.open_nursery() as sessions:
        async with trio.open_nursery() as services:
            services.start_soon(arbiter.run)
            services.start_soon(registry.run)
            for doorkeeper, listeners in doors:
                services.start_soon(doorkeeper.run, listeners, sessions)
            try:
                yield
            finally:
                services.cancel_scope.cancel()
                with trio.CancelScope(shield=True):
                    await _close(doors, patience)
        sessions.cancel_scope.cancel()


async def _close(doors: Sequence[Door], patience: float) -> None:
    for _, listeners in doors:
        for listener in listeners:
            await listener.aclose()
    async with trio.open_nursery() as stopping:
        for doorkeeper, _ in doors:
            stopping.start_soon(doorkeeper.stop, patience)


def gate_of(config: Config, log: EventLog) -> Gate:
    """Who may act as a registered player; they are kept beside the log. Its registry is still to be started."""
    registry = Registry(players_beside(log), config.max_players)
    return Gate(registry, config.max_failures_per_minute, config.max_registrations_per_hour)


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
        max_failures_per_minute=config.max_failures_per_minute,
        max_registrations_per_hour=config.max_registrations_per_hour,
        max_players=config.max_players,
    )


def prepare_process() -> None:
    """Make this process a server's: as many descriptors as it may have, and a garbage collector that seldom looks."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    gc.collect()
    gc.freeze()
    gc.set_threshold(GC_THRESHOLD, 20, 100)
