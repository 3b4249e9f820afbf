"""The HTTP port: it accepts connections, counts and limits them, and closes them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from typing import Any

import trio
from hypercorn.config import Config as HypercornConfig
from hypercorn.logging import Logger
from hypercorn.trio.worker_context import WorkerContext
from hypercorn.typing import ASGIFramework
from msgspec import structs

from gm_protocol.messages import Limits
from gmd import loop_time
from gmd.addresses import source_of
from gmd.descriptors import is_last, say_at_once, shortage
from gmd.fair_reader import FairReader
from gmd.fair_scheduler import FairScheduler
from gmd.lingering import MAX_LINGERING, LingeringCloser
from gmd.listening import accept
from gmd.logger import get_logger
from gmd.memory_ledger import MemoryLedger
from gmd.patience import Patience
from gmd.places import Full, Place, Places
from gmd.tls import HANDSHAKE_BYTES, Certificate, HandshakeFailed, NotTls, TlsStream

from .connection import Connection
from .errors import whole_response
from .peers import Proxies
from .reserve import RETRY_AFTER, health_alone
from .shortcut import Shortcut

logger = get_logger(__name__)

#: Seconds that a client has to read a refusal, or the last response on its connection.
REFUSAL_SECONDS = 1.0
#: Seconds after a response when a connection may be evicted for another from the same address: twice as long as
#: reconchess's client and browsers leave one idle in a game.
IDLE_SECONDS = 5.0
#: Connections read beyond the limit, so that health and metrics are still answered; and for how many seconds.
RESERVE = 64
RESERVE_SECONDS = 2.0
#: The most evicted connections that may still have a last response to send; beyond that they are cut off.
MAX_LEAVING = 1_024
#: The most TLS clients refused at a time: each costs a handshake.
MAX_TLS_REFUSALS = 64


class _Guest:
    """A connection from its acceptance to its end, and the means to evict it."""

    def __init__(self, transport: trio.SocketStream, scope: trio.CancelScope) -> None:
        self.transport = transport
        self.scope = scope
        #: The connection; None until the TLS handshake is complete, where there is one.
        self.connection: Connection | None = None

    def evict(self, response: bytes) -> None:
        """Answer a partial request with this response; cut off one that is being answered; close an idle connection."""
        if self.connection is None or not response or not self.connection.evict(response):
            self.scope.cancel()
        else:
            self.scope.deadline = trio.current_time() + REFUSAL_SECONDS


class HttpServer:
    """Runs a :class:`Connection` for every client that gets a place; no error in one reaches the others.

    hypercorn's own server does neither, and waits without end for a client that reads nothing.
    """

    def __init__(
        self,
        limits: Limits,
        max_connections: int,
        memory: MemoryLedger,
        patience: Patience,
        proxies: Proxies,
        certificate: Certificate | None = None,
        *,
        share: int | None = None,
        name: str = "http_max_connections",
        scheduler: FairScheduler | None = None,
    ) -> None:
        """:param memory: the accounts of what connections hold.
        :param patience: how long a client may take to read a response.
        :param proxies: their connections carry requests of many clients, and count for no address.
        :param certificate: puts TLS on every connection.
        :param share: the most connections from one address; without it, as many as from all.
        :param name: the name of the setting with the limit.
        :param scheduler: chooses the connection to read next while the loop is loaded; without one, all are read.
        """
        self._limits = limits
        self._memory = memory
        self._patience = patience
        self._proxies = proxies
        self._name = name
        self._scheduler = scheduler or FairScheduler()
        self._places = Places(max_connections, share or max_connections, IDLE_SECONDS)
        self._reserve = Places(RESERVE, RESERVE, 0.0)
        self._certificate = certificate
        self._connections: set[Connection] = set()
        self._handshakes: set[trio.CancelScope] = set()
        self._refusals: set[trio.CancelScope] = set()
        self._lingering = LingeringCloser(min(max_connections, MAX_LINGERING))
        self._context = WorkerContext(None)
        self._config = _hypercorn_config()
        self._empty = trio.Event()
        #: The number of connections refused because there were too many.
        self.turned_away = 0

    @property
    def connections(self) -> int:
        """The number of open connections, including those about to be closed."""
        return len(self._connections) + len(self._handshakes) + len(self._refusals) + len(self._lingering)

    @property
    def evicted(self) -> int:
        """The number of connections evicted to make room for others."""
        return self._places.evicted

    async def run(
        self,
        app: ASGIFramework,
        listeners: Sequence[trio.SocketListener],
        connections: trio.Nursery,
        shortcut: Shortcut | None = None,
    ) -> None:
        """Accept until cancelled; the connections live on in their own nursery.

        :param shortcut: answers plain requests without the application.
        """

        def begin(stream: trio.SocketStream) -> None:
            connections.start_soon(self._handle, stream, app, shortcut)

        connections.start_soon(self._lingering.run)

        async def accept_and_close(listener: trio.SocketListener) -> None:
            async with listener:
                await accept(listener, begin, self._note_short)

        async with trio.open_nursery() as nursery:
            for listener in listeners:
                nursery.start_soon(accept_and_close, listener)

    def _note_short(self, error: OSError) -> None:
        logger.warning("cannot accept", reason=error.strerror, connections=len(self._connections))

    async def stop(self, patience: float) -> None:
        """Let every connection finish its request in progress, within ``patience`` seconds."""
        await self._context.terminated.set()
        for connection in self._connections:
            connection.stop()
        for handshake in self._handshakes | self._refusals:
            handshake.cancel()
        with trio.move_on_after(patience):
            while self._connections or self._handshakes or self._refusals:
                self._empty = trio.Event()
                await self._empty.wait()
            await self._lingering.wait_none()

    async def _handle(self, stream: trio.SocketStream, app: ASGIFramework, shortcut: Shortcut | None) -> None:
        try:
            with trio.CancelScope() as scope:
                if (why := shortage(stream.socket.fileno())) is not None:
                    self._note_turned_away()
                    await self._turn_away(stream, f"{self._name}: {why}")
                else:
                    await self._admit(_Guest(stream, scope), app, shortcut)
        except (OSError, trio.BrokenResourceError):
            return  # the client has closed, perhaps before it was accepted
        except Exception:
            logger.exception("http connection failed")
            return
        finally:
            await trio.aclose_forcefully(stream)
            self._empty.set()

    async def _admit(self, guest: _Guest, app: ASGIFramework, shortcut: Shortcut | None) -> None:
        """Serve a connection in a place, or in the reserve where none is free."""
        try:
            place = self._enter(self._places, guest)
        except Full as full:
            await self._admit_beyond(guest, app, self._sentence(full))
            return
        try:
            await self._serve(guest, place, app, shortcut, self._limits)
        finally:
            place.leave()

    async def _admit_beyond(self, guest: _Guest, app: ASGIFramework, sentence: str) -> None:
        """Serve a connection that has no place: health and metrics only."""
        try:
            place = self._enter(self._reserve, guest)
        except Full:
            self._note_turned_away()
            await self._turn_away(guest.transport, sentence)
            return
        seconds = min(RESERVE_SECONDS, self._limits.frame_seconds)
        try:
            alone = health_alone(app, sentence, self._note_turned_away)
            await self._serve(guest, place, alone, None, structs.replace(self._limits, frame_seconds=seconds))
        finally:
            place.leave()

    def _enter(self, places: Places, guest: _Guest) -> Place:
        """Return a place for a connection, which may evict another.

        :raises Full: no place is free, and no connection can be evicted.
        """

        def evict(full: Full) -> None:
            leaving = len(self._connections) - len(self._places) - len(self._reserve)
            guest.evict(_turned_away(self._sentence(full)) if leaving < MAX_LEAVING else b"")

        host, port = guest.transport.socket.getpeername()[:2]
        source = "" if self._proxies.trusts(host) else source_of(f"{host}:{port}")
        return places.enter(source, evict, loop_time.now())

    def _sentence(self, full: Full) -> str:
        if full.by_source:
            return f"{self._name}_per_address: {full.limit} of {full.limit} from this address are open; close some"
        return f"{self._name}: {full.limit} of {full.limit} are open; try again later"

    def _note_turned_away(self) -> None:
        self.turned_away += 1

    async def _serve(
        self, guest: _Guest, place: Place, app: ASGIFramework, shortcut: Shortcut | None, limits: Limits
    ) -> None:
        transport = guest.transport
        reader = FairReader(transport, self._scheduler, place)
        stream = await self._secured(transport, self._handshakes, limits.frame_seconds, reader)
        if stream is None:
            return
        if stream is not transport:
            reader = FairReader(stream, self._scheduler, place)
        connection = Connection(
            stream,
            transport,
            app,
            shortcut,
            self._config,
            self._context,
            limits,
            place,
            self._memory,
            self._patience,
            self._proxies,
            reader,
        )
        guest.connection = connection
        self._connections.add(connection)
        try:
            await connection.run()
        finally:
            self._connections.discard(connection)
            place.leave()
        await self._part(stream, transport)

    async def _secured(
        self,
        transport: trio.SocketStream,
        under_way: set[trio.CancelScope],
        seconds: float,
        reader: FairReader | None = None,
    ) -> trio.abc.Stream | None:
        """Return the connection with TLS on it, where this port has it; None if the handshake fails or takes too long.

        :param under_way: the set that holds the handshake while it lasts.
        :param reader: reads the transport.
        """
        if self._certificate is None:
            return transport
        receive = None if reader is None else reader.receive_some
        secured = TlsStream(transport, self._certificate.context, receive)
        peer = self._proxies.client_of(transport.socket.getpeername()[:2])
        with (
            trio.move_on_after(seconds) as handshake,
            closing(self._memory.open(peer, lambda _: handshake.cancel())) as account,
        ):
            account.hold_requests(HANDSHAKE_BYTES)
            under_way.add(handshake)
            try:
                await secured.do_handshake()
                return secured
            except NotTls:
                await self._send_and_close(transport, transport, _NOT_TLS)
            except HandshakeFailed as error:
                logger.debug("no TLS", reason=str(error))
            finally:
                under_way.discard(handshake)
        return None

    async def _turn_away(self, transport: trio.SocketStream, sentence: str) -> None:
        if is_last(transport.socket.fileno()):
            if self._certificate is None:
                say_at_once(transport.socket.fileno(), _turned_away(sentence))
            await trio.aclose_forcefully(transport)
        elif len(self._refusals) < MAX_TLS_REFUSALS:
            secured = await self._secured(transport, self._refusals, REFUSAL_SECONDS)
            if secured is not None:
                await self._send_and_close(secured, transport, _turned_away(sentence))

    async def _send_and_close(self, stream: trio.abc.Stream, transport: trio.SocketStream, response: bytes) -> None:
        """Send a response that belongs to no request, and close."""
        with trio.move_on_after(REFUSAL_SECONDS):
            await stream.send_all(response)
        await self._part(stream, transport)

    async def _part(self, stream: trio.abc.Stream, transport: trio.SocketStream) -> None:
        """End TLS, where there is any, and let the client read its last response."""
        if isinstance(stream, TlsStream):
            with trio.move_on_after(REFUSAL_SECONDS):
                await stream.end()
        self._lingering.take(transport)


def _turned_away(sentence: str) -> bytes:
    """Return the response to a connection that is refused or evicted."""
    return whole_response(503, sentence, RETRY_AFTER)


#: The response to plaintext on a port with TLS.
_NOT_TLS = whole_response(400, "this port requires TLS; use an https:// address")


def _hypercorn_config() -> HypercornConfig:
    config = HypercornConfig()
    config.logger_class = _HypercornLog
    config.include_server_header = False
    return config


class _HypercornLog(Logger):
    """hypercorn's log as a part of ours; it logs errors only."""

    def __init__(self, config: HypercornConfig) -> None:
        self.access_logger = self.error_logger = None

    async def exception(self, message: str, *args: Any, **kwargs: Any) -> None:
        logger.exception("http request failed", hypercorn=message)
