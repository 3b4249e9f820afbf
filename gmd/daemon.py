"""Wires the parts together: log, arbiter, listeners; and the API for programs that embed the daemon."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, closing, contextmanager
from typing import Any

import trio

from gmd import loop_time
from gmd.arbiter import Arbiter
from gmd.budget import Budget
from gmd.carried_error import CarriedError
from gmd.config import EMBEDDED, Config, ConfigError
from gmd.event_log.directory import DataError
from gmd.event_log.interface import EventLog, LogFailed
from gmd.event_log.opening import data_directory, open_log
from gmd.game_lines import GameLines
from gmd.in_process import InProcessClient
from gmd.limits import is_private, limits_of, max_work_of
from gmd.listening import is_local, listening
from gmd.lobby.admission import LobbyLimits
from gmd.lobby.lobby import Lobby
from gmd.logger import get_logger
from gmd.memory_ledger import MemoryLedger, memory_limits_of
from gmd.metrics import Metrics
from gmd.patience import Patience
from gmd.places import share_of
from gmd.players.authenticator import Authenticator
from gmd.players.opening import players_beside
from gmd.players.passwords import Passwords
from gmd.players.registry import Registry
from gmd.quotas import Quotas, quota_limits
from gmd.ranked.anchors import BadAnchors, read_anchors
from gmd.ranked.play import RankedPlay
from gmd.requests.session import Authority
from gmd.retention import prune_finished
from gmd.services import Services
from gmd.spectators import Spectators
from gmd.tcp.listener import SessionServer
from gmd.tcp.operator import operator_listener
from gmd.tls import Certificate, certificate_of
from gmd.web import HttpAddressError as HttpAddressError
from gmd.web import Web, opened_web

logger = get_logger(__name__)

#: Seconds that HTTP requests in hand have once the sessions have ended: each takes a moment, and five are promised.
HTTP_STOP_SECONDS = 0.25


#: Where sessions come in, and who lets them in.
Door = tuple[SessionServer, Sequence[trio.SocketListener]]


class Daemon:
    """A running daemon.

    :ivar arbiter: its games, for calls without a socket.
    :ivar gate: its registered players.
    :ivar lobby: where they invite each other.
    :ivar certificate: its TLS, if it has any.
    :ivar certificates: all that it uses, HTTP's own among them, each once.
    :ivar metrics: what it has counted.
    :ivar memory: what its connections hold.
    :ivar addresses: the (host, port) pairs it listens on.
    :ivar local: answers :meth:`ask`.
    :ivar http: its HTTP side; None where it has none.
    :ivar http_addresses: the pairs it serves HTTP on; none where it does not.
    :ivar health_addresses: the pairs of its health port; none where it has none.
    :ivar spectators: who may watch live games in full.
    """

    def __init__(
        self,
        services: Services,
        session_server: SessionServer,
        certificate: Certificate | None,
        listeners: Sequence[trio.SocketListener],
        web: Web,
        local: InProcessClient,
    ) -> None:
        http = web.http
        self.arbiter = services.arbiter
        self.authenticator = services.authenticator
        self.lobby = services.lobby
        self.metrics = services.metrics
        self.memory = services.memory
        self.spectators = services.spectators
        self.session_server = session_server
        self.certificate = certificate
        self.certificates = _different(certificate, None if http is None else http.certificate)
        self.http = http
        self.http_addresses = [] if http is None else http.addresses
        self.health_addresses = [] if web.health is None else web.health.addresses
        self.local = local
        self.addresses: list[tuple[str, int]] = [listener.socket.getsockname()[:2] for listener in listeners]

    @property
    def port(self) -> int:
        """The TCP port it listens on."""
        return self.addresses[0][1]

    @property
    def http_port(self) -> int | None:
        """The TCP port it serves HTTP on; None where it does not."""
        return self.http_addresses[0][1] if self.http_addresses else None

    @property
    def health_port(self) -> int | None:
        """The TCP port that answers how it is, and nothing else; None where it has none."""
        return self.health_addresses[0][1] if self.health_addresses else None

    async def ask(self, kind: str, /, **fields: Any) -> dict[str, Any]:
        """Send one request without a socket, from a task of the same trio program; its reply, as ``PROTOCOL`` has it.

        Each request names its own player, and may be sent beside others: ``hello`` is not needed, and changes nothing.

        :param fields: the request's; one that is called as a word of Python's goes as ``**{"except": [7]}``.
        :raises gmd.Refused: the reply is an error.
        """
        return await self.local.ask(Authority.CLIENT, kind, fields)

    async def ask_as_operator(self, kind: str, /, **fields: Any) -> dict[str, Any]:
        """The same, as the operator, who may act for any player and end any game."""
        return await self.local.ask(Authority.OPERATOR, kind, fields)


@asynccontextmanager
async def open_daemon(
    config: Config = EMBEDDED, sockets: Sequence[socket.socket] = (), http_sockets: Sequence[socket.socket] = ()
) -> AsyncIterator[Daemon]:
    """Run a daemon inside a trio program for as long as the context is open.

    It logs as the program does (:mod:`gmd.logger`); :mod:`gmd.cli.logs` says how ``gmd serve`` does.

    On leaving it stops accepting, finishes the requests in hand for up to ``config.stop_timeout`` seconds, and closes.
    What the block raises comes out as it is.

    :param config: without one, games are in memory, and the port is any free one.
    :param sockets: listen already, for the game port, in place of the configuration's host and port.
    :param http_sockets: the same, for HTTP; of no use where that is off.
    :raises ConfigError: the certificate or its key, a trusted proxy, or an anchor, cannot be used.
    :raises gmd.event_log.directory.DataError: the data directory cannot be used.
    :raises HttpAddressError: HTTP's address, or the health port's, cannot be listened on.
    :raises CannotListen: the address cannot be listened on; it is an OSError.
    """
    certificate = certificate_of(config.tls_cert, config.tls_key)
    http_certificate = http_certificate_of(config, certificate)
    private = is_private(config, sockets, http_sockets)
    metrics, carried = Metrics(), CarriedError()
    with _stored(config, metrics) as (log, operator, authenticator):
        arbiter, lobby, ranked = await _started(config, log, authenticator, local=private)
        async with listening(config.host, config.port, sockets) as listeners:
            services = services_of(config, arbiter, authenticator, lobby, ranked, metrics, listeners, local=private)
            session_server, operators, doors = _doors_of(config, services, certificate, listeners, operator)
            local = InProcessClient(services)
            async with (
                opened_web(config, http_certificate, http_sockets, services, session_server, operators, local) as web,
                _writing(log),
                services.scheduler.running(),
                _serving(services, doors, local, web, config),
            ):
                with carried:
                    yield Daemon(services, session_server, certificate, listeners, web, local)
    if carried.error is not None:
        raise carried.error


@contextmanager
def _stored(config: Config, metrics: Metrics) -> Iterator[tuple[EventLog, trio.SocketListener | None, Authenticator]]:
    """Hold what is kept in the data directory: the log, the operator's socket, and the players beside the log."""
    with (
        loop_time.watched(),
        open_log(config.data, metrics, trust_clock=config.trust_clock) as log,
        operator_listener(data_directory(config.data)) as operator,
        closing(authenticator_of(config, log)) as authenticator,
    ):
        yield log, operator, authenticator


async def _started(
    config: Config, log: EventLog, authenticator: Authenticator, *, local: bool
) -> tuple[Arbiter, Lobby, RankedPlay]:
    """Return what games are played by, with all that the log has of it.

    :param local: whether nobody but this machine's own users can reach the daemon.
    """
    arbiter = Arbiter(log, config.start_timeout, config.idle_games, config.max_memory // 2)
    lobby = lobby_of(config, arbiter, authenticator, local=local)
    ranked = ranked_of(config, arbiter, authenticator, lobby)
    GameLines(arbiter, authenticator.registry)
    await _start(arbiter, authenticator.registry, lobby, ranked, config.data)
    return arbiter, lobby, ranked


def _doors_of(
    config: Config,
    services: Services,
    certificate: Certificate | None,
    listeners: Sequence[trio.SocketListener],
    operator: trio.SocketListener | None,
) -> tuple[SessionServer, SessionServer | None, list[Door]]:
    """Return who lets sessions in at the game port, who does so at the operator's socket, and both with what they
    listen on.
    """
    local = all(map(is_local, listeners))
    share = share_of(config.max_connections_per_address, config.max_connections, local=local)
    session_server = SessionServer(services, certificate, share=share)
    if operator is None:
        return session_server, None, [(session_server, listeners)]
    operators = SessionServer(services, authority=Authority.OPERATOR)
    return session_server, operators, [(session_server, listeners), (operators, [operator])]


async def _start(arbiter: Arbiter, registry: Registry, lobby: Lobby, ranked: RankedPlay, data: str) -> None:
    what = "live games"
    try:
        await arbiter.start()
        what = "registered players"
        await registry.start()
        what = "invitations"
        await lobby.start()
        what = "ranked games"
        await ranked.start()
    except LogFailed as error:
        from gmd.event_log.damage import unreadable  # SQLAlchemy's, as what was raised

        raise DataError(unreadable(f"the {what} in {data}", data, error)) from error


@asynccontextmanager
async def _writing(log: EventLog) -> AsyncIterator[None]:
    """Keep the log, and at the end have it write what is in hand."""
    async with trio.open_nursery() as writing:
        writing.start_soon(_write, log)
        try:
            yield
        finally:
            log.stop()


async def _write(log: EventLog) -> None:
    """Keep the log until it is stopped: who cancels the daemon still has it finish what is in hand."""
    with trio.CancelScope(shield=True):
        await log.run()


@asynccontextmanager
async def _serving(
    services: Services,
    doors: Sequence[Door],
    local: InProcessClient,
    web: Web,
    config: Config,
) -> AsyncIterator[None]:
    """Play games and answer clients; at the end, what is in hand gets ``config.stop_timeout`` seconds."""
    async with trio.open_nursery() as sessions:
        web.start(sessions)  # it says how the daemon is also while that stops
        async with trio.open_nursery() as tasks:
            tasks.start_soon(services.arbiter.run)
            tasks.start_soon(services.authenticator.registry.run)
            tasks.start_soon(services.lobby.run)
            tasks.start_soon(services.ranked.run)
            for session_server, listeners in doors:
                tasks.start_soon(session_server.run, listeners, sessions)
            if config.keep_finished is not None:
                tasks.start_soon(prune_finished, services.arbiter, config.keep_finished)
            try:
                yield
            finally:
                tasks.cancel_scope.cancel()
                with trio.CancelScope(shield=True):
                    await _close(doors, local, config.stop_timeout)
                    await web.stop(HTTP_STOP_SECONDS)
        sessions.cancel_scope.cancel()


async def _close(doors: Sequence[Door], local: InProcessClient, patience: float) -> None:
    for _, listeners in doors:
        for listener in listeners:
            await listener.aclose()
    async with trio.open_nursery() as stopping:
        stopping.start_soon(local.stop, patience)
        for session_server, _ in doors:
            stopping.start_soon(session_server.stop, patience)


def http_certificate_of(config: Config, certificate: Certificate | None) -> Certificate | None:
    """What HTTP's TLS has: its own certificate, or else the game port's; None for plaintext.

    :raises ConfigError: its own cannot be used, or goes with ``http_tls`` off.
    """
    if config.http_tls:
        return certificate_of(config.http_tls_cert, config.http_tls_key, "http_tls") or certificate
    if given := config.http_tls_cert or config.http_tls_key:
        name = "http_tls_cert" if config.http_tls_cert else "http_tls_key"
        raise ConfigError(f"{name}: {given!r} is given, and http_tls is off: leave one of them out")
    return None


def _different(*certificates: Certificate | None) -> list[Certificate]:
    return list(dict.fromkeys(certificate for certificate in certificates if certificate is not None))


def authenticator_of(config: Config, log: EventLog) -> Authenticator:
    """Who may act as a registered player; they are kept beside the log. Its registry is still to be started."""
    registry = Registry(players_beside(log), config.max_players)
    return Authenticator(
        registry,
        config.max_failures_per_minute,
        config.max_registrations_per_hour,
        Passwords(
            max_waiting=config.max_waiting_passwords, max_waiting_of_one=config.max_waiting_passwords_per_address
        ),
        presence_seconds=config.presence_timeout,
    )


def lobby_of(config: Config, arbiter: Arbiter, authenticator: Authenticator, *, local: bool) -> Lobby:
    """Where registered players find each other. It is still to be started, when its arbiter and its gate are.

    :param local: whether nobody but this machine's own users can reach the daemon.
    """
    limits = LobbyLimits(
        seconds=config.invitation_timeout,
        kept_seconds=config.kept_seat_timeout,
        out=config.max_invitations,
        received=config.max_invitations_received,
        max_plies=config.max_plies,
    )
    quotas = Quotas(arbiter, quota_limits(config, local=local))
    return Lobby(arbiter, authenticator.registry, authenticator.presence, quotas, limits)


def ranked_of(config: Config, arbiter: Arbiter, authenticator: Authenticator, lobby: Lobby) -> RankedPlay:
    """Ranked play. It is still to be started, when the others are.

    :raises ConfigError: the anchors cannot be read.
    """
    try:
        return RankedPlay(arbiter, authenticator.registry, lobby, read_anchors(config.anchors))
    except BadAnchors as error:
        raise ConfigError(str(error)) from None


def services_of(
    config: Config,
    arbiter: Arbiter,
    authenticator: Authenticator,
    lobby: Lobby,
    ranked: RankedPlay,
    metrics: Metrics,
    listeners: Sequence[trio.SocketListener] = (),
    *,
    local: bool,
) -> Services:
    """What all ways in share.

    :param listeners: the game port's.
    :param local: whether nobody but this machine's own users can reach the daemon, on any port.
    """
    max_work = max_work_of(config, local=local)
    arbiter.bench.budget = None if max_work is None else Budget(max_work)
    return Services(
        arbiter,
        authenticator,
        lobby,
        ranked,
        limits_of(config, lobby.quotas.limits, max_work),
        metrics,
        spectators_of(config, local=all(map(is_local, listeners))),
        MemoryLedger(memory_limits_of(config, local=local)),
        Patience(config.frame_timeout, config.min_read_rate),
        config.require_registration,
    )


def spectators_of(config: Config, *, local: bool) -> Spectators:
    """Who may watch live games in full.

    :param local: whether nobody but this machine's own users can reach the daemon. Between open ids that is trust
        enough; where players are registered they are to be kept apart.
    """
    return Spectators(
        live=config.spectate == "live", key=config.spectator_key, trusted=local and not config.require_registration
    )
