"""The daemon: its services, wired together, started from the log, run, and ended. Programs that embed it call this."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, closing, contextmanager, suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any

import trio

from gm_protocol.errors import GmError
from gmd.bots.opening import bot_port, running_bots
from gmd.config import EMBEDDED, Config, ConfigError
from gmd.event_log.directory import DataError
from gmd.event_log.interface import EventLog, LogFailed, Superseded
from gmd.event_log.opening import data_directory, open_log
from gmd.handlers.context import Authority
from gmd.handlers.in_process import InProcessClient
from gmd.handlers.services import Services
from gmd.http.web import HttpAddressError as HttpAddressError
from gmd.http.web import Web, http_certificate_of, opened_web
from gmd.lobby.contests import Contests, ContestStore, MemoryContests
from gmd.lobby.lobby import Lobby
from gmd.lobby.ranked import RankedPlay
from gmd.lobby.ratings import BadAnchors, read_anchors
from gmd.lobby.roster import kinds_of
from gmd.logger import get_logger
from gmd.net import loop_time
from gmd.net.connection_slots import share_of
from gmd.net.listening import Sockets, is_local, listening
from gmd.net.memory_ledger import MemoryLedger, memory_limits_of
from gmd.net.metrics import Metrics
from gmd.net.proxies import Proxies
from gmd.net.send_timeout import SendTimeout
from gmd.net.tls import Certificate, certificate_of
from gmd.play.arbiter import Arbiter
from gmd.play.budget import Budget
from gmd.play.game_lines import GameLines
from gmd.play.limits import is_private, limits_of
from gmd.play.quotas import Quotas
from gmd.play.spectators import Spectators
from gmd.players.authenticator import Authenticator
from gmd.players.passwords import Passwords
from gmd.players.registry import Registry
from gmd.players.store import MemoryPlayers, PlayerStore
from gmd.standby import elected
from gmd.tcp.listener import SessionServer
from gmd.tcp.operator import operator_listener

if TYPE_CHECKING:
    from gmd.event_log.lease import Lease


class CarriedError:
    """A context manager that keeps the exception of its block from the nurseries around it.

    Each nursery would wrap the exception in a group.

    :ivar error: the exception, to be raised again outside the nurseries.
    """

    def __init__(self) -> None:
        self.error: Exception | KeyboardInterrupt | None = None

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        if isinstance(error, (Exception, KeyboardInterrupt)):  # a cancellation belongs to one of the nurseries
            self.error = error
        return self.error is not None


logger = get_logger(__name__)

SECONDS_A_DAY = 86_400.0
#: Seconds between two prunings: short compared with days.
PERIOD_SECONDS = 3_600.0
#: Seconds of rest after each step: longer than a step takes, so that live games get most of the log's time.
REST_SECONDS = 0.05


async def prune_finished(arbiter: Arbiter, keep_days: float) -> None:
    """Remove the games that ended at least ``keep_days`` ago, now and every hour, until cancelled."""
    while True:
        with suppress(GmError):  # the log has reported it; the next attempt is in an hour
            await prune_all(arbiter, keep_days * SECONDS_A_DAY)
        await trio.sleep(PERIOD_SECONDS)


async def prune_all(arbiter: Arbiter, seconds: float) -> None:
    """Remove the games that ended at least so many seconds ago."""
    count = 0
    while pruned := await arbiter.log.prune(seconds):
        for game in pruned:
            arbiter.forget(game)
        count += len(pruned)
        await trio.sleep(REST_SECONDS)
    if count:
        logger.info("finished games pruned", games=count)


#: Seconds for pending HTTP requests once the sessions have ended: each is short, and the daemon is to exit within five.
HTTP_STOP_SECONDS = 0.25
#: Seconds for the last words of sessions once another daemon has taken over.
LOST_STOP_SECONDS = 0.25

#: A session server and the listeners it accepts sessions from.
ServedPort = tuple[SessionServer, Sequence[trio.SocketListener]]


@asynccontextmanager
async def writing(log: EventLog) -> AsyncIterator[None]:
    """Run the log; at the end, have it write what is pending."""
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_write, log)
        try:
            yield
        finally:
            log.stop()


async def _write(log: EventLog) -> None:
    """Run the log until it is stopped; cancelling the daemon does not cancel pending writes."""
    with trio.CancelScope(shield=True):
        await log.run()


@asynccontextmanager
async def serving(
    services: Services, ports: Sequence[ServedPort], local: InProcessClient, web: Web, config: Config
) -> AsyncIterator[None]:
    """Play games and answer clients; at the end, pending requests get ``config.stop_timeout`` seconds."""
    lease = services.lease
    async with trio.open_nursery() as sessions:
        web.start(sessions)  # it still reports the daemon's health while the daemon stops
        async with trio.open_nursery() as tasks:
            tasks.start_soon(services.arbiter.run)
            tasks.start_soon(services.authenticator.registry.run)
            tasks.start_soon(services.lobby.run)
            tasks.start_soon(services.ranked.run)
            tasks.start_soon(services.contests.run)
            if config.keep_finished is not None:
                tasks.start_soon(prune_finished, services.arbiter, config.keep_finished)
            if lease is not None:
                tasks.start_soon(lease.watch)
                tasks.start_soon(_cut_off_when_lost, lease, ports, local)
            for session_server, listeners in ports:
                tasks.start_soon(session_server.run, listeners, sessions)
            try:
                yield
            finally:
                with trio.CancelScope(shield=True):
                    tasks.cancel_scope.cancel()
                    await trio.lowlevel.checkpoint()  # a task that accepts may be about to use its listener
                    is_lost = lease is not None and lease.lost.is_set()
                    await _close(ports, local, LOST_STOP_SECONDS if is_lost else config.stop_timeout)
                    await web.stop(HTTP_STOP_SECONDS)
        sessions.cancel_scope.cancel()


async def _cut_off_when_lost(lease: Lease, ports: Sequence[ServedPort], local: InProcessClient) -> None:
    await lease.lost.wait()
    for session_server, _ in ports:
        session_server.cut_off(Superseded())
    await local.stop(0.0)


async def _close(ports: Sequence[ServedPort], local: InProcessClient, patience: float) -> None:
    for _, listeners in ports:
        for listener in listeners:
            await listener.aclose()
    async with trio.open_nursery() as stopping:
        stopping.start_soon(local.stop, patience)
        for session_server, _ in ports:
            stopping.start_soon(session_server.stop, patience)


async def start_services(
    arbiter: Arbiter, registry: Registry, lobby: Lobby, ranked: RankedPlay, contests: Contests, config: Config
) -> None:
    """Start what needs the log, in the order in which one needs the other.

    :raises DataError: the log cannot be read.
    """
    with explained("live games", config):
        await arbiter.start()
    with explained("registered players", config):
        await registry.start()
    with explained("invitations", config):
        await lobby.start()
    with explained("ranked games", config):
        await ranked.start()
    with explained("contests", config):
        await contests.start()


@contextmanager
def explained(what: str, config: Config) -> Iterator[None]:
    """Turn a failure to read something into a :class:`DataError` for the operator."""
    try:
        yield
    except LogFailed as error:
        from gmd.event_log.damage import unreadable  # imports SQLAlchemy, as the log that failed has done

        raise DataError(unreadable(f"the {what}", config.data, config.database, error)) from error


#: What plays games.
Played = tuple[Arbiter, Authenticator, Lobby, RankedPlay]


class Daemon:
    """A running daemon.

    :ivar arbiter: applies commands to its games, for calls without a socket.
    :ivar authenticator: checks keys and passwords; has the registered players.
    :ivar lobby: invitations between registered players.
    :ivar certificate: the game port's TLS certificate; None for plaintext.
    :ivar certificates: all certificates in use, that of HTTP included, each once.
    :ivar metrics: its counters.
    :ivar memory: the ledger of the memory that its connections hold.
    :ivar addresses: the (host, port) pairs it listens on.
    :ivar local: answers :meth:`ask`.
    :ivar http: its HTTP service; None where HTTP is off.
    :ivar http_addresses: the (host, port) pairs of HTTP; empty where HTTP is off.
    :ivar health_addresses: the (host, port) pairs of the health port; empty where there is none.
    :ivar spectators: decides who may watch live games in full.
    :ivar scheduler: decides whose connections are read next under load.
    :ivar roster: the bots that it runs.
    :ivar contests: the matches and tournaments that were reported to it.
    :ivar beliefs: the possible positions of players of blind chess.
    :ivar lease: the right to serve the database; None for games in SQLite or in memory.
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
        self.scheduler = services.scheduler
        self.roster = services.roster
        self.contests = services.contests
        self.beliefs = services.beliefs
        self.session_server = session_server
        self.certificate = certificate
        self.certificates = _different(certificate, None if http is None else http.certificate)
        self.http = http
        self.http_addresses = [] if http is None else http.addresses
        self.health_addresses = [] if web.health is None else web.health.addresses
        self.local = local
        self.lease = services.lease
        self.addresses: list[tuple[str, int]] = [listener.socket.getsockname()[:2] for listener in listeners]

    @property
    def port(self) -> int:
        """The TCP port of the game port."""
        return self.addresses[0][1]

    @property
    def http_port(self) -> int | None:
        """The TCP port of HTTP; None where HTTP is off."""
        return self.http_addresses[0][1] if self.http_addresses else None

    @property
    def health_port(self) -> int | None:
        """The TCP port of the health port, which has only health and metrics; None where there is none."""
        return self.health_addresses[0][1] if self.health_addresses else None

    async def superseded(self) -> None:
        """Return once another daemon serves the database in place of this one, which answers nothing any more.

        Close it then, and open a new one, which waits as a standby. It never returns for games in SQLite or in memory.
        """
        if self.lease is None:
            await trio.sleep_forever()
        else:
            await self.lease.lost.wait()

    async def ask(self, kind: str, /, **fields: Any) -> dict[str, Any]:
        """Send one request without a socket, from a task of the same trio program; return its reply (``PROTOCOL``).

        Each request names its own player, so requests may run concurrently; ``hello`` is not needed and has no effect.

        :param fields: the request's fields; pass one named like a Python keyword as ``**{"except": [7]}``.
        :raises gmd.Refused: the reply is an error.
        """
        return await self.local.ask(Authority.CLIENT, kind, fields)

    async def ask_as_operator(self, kind: str, /, **fields: Any) -> dict[str, Any]:
        """Send a request as the operator, who may act for any player and end any game; else as :meth:`ask`."""
        return await self.local.ask(Authority.OPERATOR, kind, fields)


@asynccontextmanager
async def open_daemon(
    config: Config = EMBEDDED,
    sockets: Sequence[socket.socket] = (),
    http_sockets: Sequence[socket.socket] = (),
    health_sockets: Sequence[socket.socket] = (),
    lease: Lease | None = None,
) -> AsyncIterator[Daemon]:
    """Run a daemon inside a trio program for as long as the context is open.

    It logs by the program's configuration (:mod:`gmd.logger`); :mod:`gmd.cli.logs` has that of ``gmd serve``.

    With a database it first waits, as a standby, until no other daemon serves it (:mod:`gmd.standby`).

    At the end it stops accepting, finishes pending requests for up to ``config.stop_timeout`` seconds, and closes.
    Exceptions of the block pass through unchanged.

    :param config: by default games are kept in memory, and the port is any free one.
    :param sockets: listening sockets of the game port, in place of the configuration's host and port.
    :param http_sockets: the same for HTTP; ignored where HTTP is off. ``health_sockets`` are those of the health port.
    :param lease: the right to serve the database, if the caller has waited for it (:func:`gmd.standby.elected`).
    :raises ConfigError: the certificate or its key, a trusted proxy, an anchor, or a bot, cannot be used.
    :raises gmd.event_log.directory.DataError: the data directory cannot be used.
    :raises HttpAddressError: the daemon cannot listen on the address of HTTP or of the health port.
    :raises CannotListen: the daemon cannot listen on the game port's address; it is an OSError.
    """
    certificate = certificate_of(config.tls_cert, config.tls_key)
    http_certificate = http_certificate_of(config, certificate)
    private, kinds = is_private(config, sockets, http_sockets), kinds_of(config.bots)
    metrics, carried = Metrics(), CarriedError()
    given = Sockets(sockets, http_sockets, health_sockets)
    if lease is None and config.database is not None:
        lease = await elected(config, given)
    async with _holding(lease):
        with _stored(config, metrics, lease) as (log, operator, authenticator):
            played, contests = await _started(config, log, authenticator, lease, local=private)
            started = loop_time.now()
            if lease is not None:
                await lease.opens()
            async with listening(config.host, config.port, sockets) as listeners:
                services = services_of(config, *played, metrics, listeners, contests, local=private, lease=lease)
                session_server, operators, ports = _ports_of(config, services, certificate, listeners, operator)
                local = InProcessClient(services)
                async with (
                    opened_web(config, http_certificate, given, services, session_server, operators, local) as web,
                    writing(log),
                    bot_port(kinds, config, services) as bots,
                    services.scheduler.running(),
                    _giving_back(services, started),
                    serving(services, [*ports, *([] if bots is None else [bots.served])], local, web, config),
                    running_bots(bots, config, services, local),
                ):
                    await trio.lowlevel.checkpoint()  # what the start took is no pause
                    loop_time.report_pauses()
                    daemon = Daemon(services, session_server, certificate, listeners, web, local)
                    if lease is not None:
                        lease.show(_shown(daemon))
                    with carried:
                        yield daemon
    if carried.error is not None:
        raise carried.error


@asynccontextmanager
async def _giving_back(services: Services, started: float) -> AsyncIterator[None]:
    """Give players back the time from when their clocks were started until requests are served.

    :param started: in the loop's time.
    """
    if services.lease is not None:
        services.arbiter.give_back(loop_time.now() - started)
    yield


def check_settings(config: Config) -> None:
    """Check what :func:`open_daemon` would find out only after its wait for the database.

    :raises ConfigError: the certificate or its key, an anchor, or a bot, cannot be used.
    """
    http_certificate_of(config, certificate_of(config.tls_cert, config.tls_key))
    kinds_of(config.bots)
    _anchors_of(config)


def _anchors_of(config: Config) -> dict[str, float]:
    try:
        return read_anchors(config.anchors)
    except BadAnchors as error:
        raise ConfigError(str(error)) from None


@contextmanager
def _stored(
    config: Config, metrics: Metrics, lease: Lease | None
) -> Iterator[tuple[EventLog, trio.SocketListener | None, Authenticator]]:
    """Open what the data directory holds: the log, the operator's socket, and the players stored with the log."""
    with (
        loop_time.watched(),
        open_log(
            config.data,
            metrics,
            trust_clock=config.trust_clock,
            database=config.database,
            allow_unsafe=config.allow_unsafe_database,
            lease=lease,
        ) as log,
        operator_listener(data_directory(config.data)) as operator,
        closing(authenticator_of(config, log)) as authenticator,
    ):
        yield log, operator, authenticator


async def _started(
    config: Config, log: EventLog, authenticator: Authenticator, lease: Lease | None, *, local: bool
) -> tuple[Played, Contests]:
    """Return the services that play games, with their state loaded from the log.

    :param local: whether only this machine's users can reach the daemon.
    """
    arbiter = Arbiter(log, config.start_timeout, config.idle_games, config.max_memory // 2, lease=lease)
    lobby = lobby_of(config, arbiter, authenticator, local=local)
    ranked = ranked_of(config, arbiter, authenticator, lobby)
    contests = Contests(stores_of(log)[1])
    GameLines(arbiter, authenticator.registry)
    await start_services(arbiter, authenticator.registry, lobby, ranked, contests, config)
    return (arbiter, authenticator, lobby, ranked), contests


def _ports_of(
    config: Config,
    services: Services,
    certificate: Certificate | None,
    listeners: Sequence[trio.SocketListener],
    operator: trio.SocketListener | None,
) -> tuple[SessionServer, SessionServer | None, list[ServedPort]]:
    """Return the session servers of the game port and of the operator's socket, and both with their listeners."""
    local = all(map(is_local, listeners))
    share = share_of(config.max_connections_per_address, config.max_connections, local=local)
    proxies = Proxies.parse(config.trusted_proxies) if config.proxy_protocol else None
    session_server = SessionServer(services, certificate, share=share, proxies=proxies)
    if operator is None:
        return session_server, None, [(session_server, listeners)]
    operators = SessionServer(services, authority=Authority.OPERATOR)
    return session_server, operators, [(session_server, listeners), (operators, [operator])]


@asynccontextmanager
async def _holding(lease: Lease | None) -> AsyncIterator[None]:
    """Give the right to serve the database back at the end, when all that is known is in it."""
    try:
        yield
    finally:
        if lease is not None:
            await lease.stop(released=True)


def _shown(daemon: Daemon) -> str:
    """Return where a daemon is reached, for operators."""
    return ", ".join(f"{host}:{port}" for host, port in [*daemon.addresses, *daemon.http_addresses])


def _different(*certificates: Certificate | None) -> list[Certificate]:
    return list(dict.fromkeys(certificate for certificate in certificates if certificate is not None))


def stores_of(log: EventLog) -> tuple[PlayerStore, ContestStore]:
    """Return the stores of what is kept with the games of a log."""
    if log.database is None:
        return MemoryPlayers(), MemoryContests()
    from gmd.lobby.contest_sql import SqlContests  # both import SQLAlchemy, which takes longer than all else
    from gmd.players.sql import SqlPlayers

    return SqlPlayers(log.database), SqlContests(log.database)


def authenticator_of(config: Config, log: EventLog) -> Authenticator:
    """Return the authenticator of registered players, who are stored with the log. Its registry is not started yet."""
    registry = Registry(stores_of(log)[0], config.max_players)
    return Authenticator(
        registry,
        config.max_failures_per_minute,
        config.max_registrations_per_hour,
        Passwords(
            max_waiting=config.max_waiting_passwords, max_waiting_of_one=config.max_waiting_passwords_per_address
        ),
        presence_seconds=config.presence_timeout,
        invite=config.invite,
    )


def lobby_of(config: Config, arbiter: Arbiter, authenticator: Authenticator, *, local: bool) -> Lobby:
    """Return the lobby of registered players. Start it after its arbiter and its registry.

    :param local: whether only this machine's users can reach the daemon.
    """
    limits = limits_of(config, local=local)
    quotas = Quotas(arbiter, limits)
    return Lobby(arbiter, authenticator.registry, authenticator.presence, quotas, limits)


def ranked_of(config: Config, arbiter: Arbiter, authenticator: Authenticator, lobby: Lobby) -> RankedPlay:
    """Return ranked play. Start it after the other services.

    :raises ConfigError: the anchors cannot be read.
    """
    return RankedPlay(arbiter, authenticator.registry, lobby, _anchors_of(config))


def services_of(
    config: Config,
    arbiter: Arbiter,
    authenticator: Authenticator,
    lobby: Lobby,
    ranked: RankedPlay,
    metrics: Metrics,
    listeners: Sequence[trio.SocketListener] = (),
    contests: Contests | None = None,
    *,
    local: bool,
    lease: Lease | None = None,
) -> Services:
    """Return the services that all ports and in-process requests share.

    :param listeners: the game port's.
    :param contests: started; None for new ones in memory.
    :param local: whether only this machine's users can reach the daemon, on any port.
    :param lease: the right to serve the database; None for games in SQLite or in memory.
    """
    max_work = lobby.limits.max_work_per_minute
    arbiter.cpu_queue.budget = None if max_work is None else Budget(max_work)
    return Services(
        arbiter,
        authenticator,
        lobby,
        ranked,
        lobby.limits,
        metrics,
        spectators_of(config, local=local and all(map(is_local, listeners))),
        MemoryLedger(memory_limits_of(config, local=local)),
        SendTimeout(config.frame_timeout, config.min_read_rate),
        config.require_registration,
        Contests(MemoryContests()) if contests is None else contests,
        lease=lease,
    )


def spectators_of(config: Config, *, local: bool) -> Spectators:
    """Return the rules for watching live games in full.

    :param local: whether only this machine's users can reach the daemon. Open ids then need no key; registered players
        do, because games must stay hidden between them.
    """
    return Spectators(
        live=config.spectate == "live", key=config.spectator_key, trusted=local and not config.require_registration
    )
