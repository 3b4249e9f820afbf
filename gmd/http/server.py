"""The HTTP port: takes connections, keeps count of them, and brings them to their ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import trio
from hypercorn.config import Config as HypercornConfig
from hypercorn.logging import Logger
from hypercorn.trio.worker_context import WorkerContext
from hypercorn.typing import ASGIFramework

from gm_protocol.messages import Limits
from gmd.descriptors import is_last, say_at_once, shortage
from gmd.logger import get_logger
from gmd.tls import Certificate, HandshakeFailed, NotTls, TlsStream

from .connection import PIECE, Connection
from .errors import encoded
from .shortcut import Shortcut

logger = get_logger(__name__)

#: Seconds after which a client turned away may find room, and that it has to take this answer.
RETRY_AFTER = 5
REFUSAL_SECONDS = 1.0
#: How many clients under TLS may be turned away at a time: each costs a handshake.
MAX_TLS_REFUSALS = 64
#: How long, and how much, a connection is read on after its last response: to close it with input unread might take
#: the response back.
LINGER_SECONDS = 2.0
LINGER_BYTES = 1 << 20


class HttpServer:
    """Runs a :class:`Connection` for every client, up to a limit; nothing that goes wrong in one escapes.

    hypercorn's own server does neither, and it waits without end for a client that takes nothing.
    """

    def __init__(self, limits: Limits, max_connections: int, certificate: Certificate | None = None) -> None:
        """:param certificate: puts TLS on every connection."""
        self._limits = limits
        self._certificate = certificate
        self._max_connections = max_connections
        self._connections: set[Connection] = set()
        self._handshakes: set[trio.CancelScope] = set()
        self._refusals: set[trio.CancelScope] = set()
        self._lingering = 0
        self._context = WorkerContext(None)
        self._config = _hypercorn_config()
        self._empty = trio.Event()
        #: How many connections were refused because there were too many.
        self.turned_away = 0

    @property
    def connections(self) -> int:
        """How many connections are open, those that are about to be closed among them."""
        return self._places_taken + len(self._refusals) + self._lingering

    @property
    def _places_taken(self) -> int:
        """How many connections take a place: those with requests, and those still to agree on TLS."""
        return len(self._connections) + len(self._handshakes)

    async def run(
        self,
        app: ASGIFramework,
        listeners: Sequence[trio.SocketListener],
        connections: trio.Nursery,
        shortcut: Shortcut | None = None,
    ) -> None:
        """Accept until cancelled; the connections live on in their own nursery.

        :param shortcut: what answers plain requests without the application.
        """

        async def handle(stream: trio.SocketStream) -> None:
            await self._handle(stream, app, shortcut)

        await trio.serve_listeners(handle, list(listeners), handler_nursery=connections)

    async def stop(self, patience: float) -> None:
        """Let every connection finish the request in hand, for ``patience`` seconds at most."""
        await self._context.terminated.set()
        for connection in self._connections:
            connection.stop()
        for handshake in self._handshakes | self._refusals:
            handshake.cancel()
        with trio.move_on_after(patience):
            while self.connections:
                self._empty = trio.Event()
                await self._empty.wait()

    async def _handle(self, stream: trio.SocketStream, app: ASGIFramework, shortcut: Shortcut | None) -> None:
        try:
            if (full := self._full(stream)) is not None:
                await self._turn_away(stream, full)
            elif (secured := await self._secured(stream, self._handshakes, self._limits.frame_seconds)) is not None:
                await self._serve(secured, stream, app, shortcut)
        except (OSError, trio.BrokenResourceError):
            return  # the client was gone before it was looked at, or is now
        except Exception:
            logger.exception("http connection failed")
            return
        finally:
            self._empty.set()

    async def _serve(
        self,
        stream: trio.abc.Stream,
        transport: trio.SocketStream,
        app: ASGIFramework,
        shortcut: Shortcut | None,
    ) -> None:
        connection = Connection(stream, transport, app, shortcut, self._config, self._context, self._limits)
        self._connections.add(connection)
        try:
            await connection.run()
        finally:
            self._connections.discard(connection)
        await self._part(stream, transport)

    async def _secured(
        self, transport: trio.SocketStream, under_way: set[trio.CancelScope], seconds: float
    ) -> trio.abc.Stream | None:
        """The connection with TLS on it, where this port has it; None where there is no agreement in time.

        :param under_way: where to count the handshake for as long as it lasts.
        """
        if self._certificate is None:
            return transport
        secured = TlsStream(transport, self._certificate.context)
        with trio.move_on_after(seconds) as handshake:
            under_way.add(handshake)
            try:
                await secured.do_handshake()
                return secured
            except NotTls:
                await self._tell(transport, transport, _NOT_TLS)
            except HandshakeFailed as error:
                logger.debug("no TLS", reason=str(error))
            finally:
                under_way.discard(handshake)
        return None

    def _full(self, stream: trio.SocketStream) -> str | None:
        """Why there is no room for a connection; None where there is."""
        if self._places_taken >= self._max_connections:
            limit = self._max_connections
            return f"http_max_connections: {limit} of {limit} are open; try again later"
        why = shortage(stream.socket.fileno())
        return None if why is None else f"http_max_connections: {why}"

    async def _turn_away(self, transport: trio.SocketStream, why: str) -> None:
        self.turned_away += 1
        if is_last(transport.socket.fileno()):
            if self._certificate is None:
                say_at_once(transport.socket.fileno(), _turned_away(why))
            await trio.aclose_forcefully(transport)
        elif len(self._refusals) < MAX_TLS_REFUSALS:
            secured = await self._secured(transport, self._refusals, REFUSAL_SECONDS)
            if secured is not None:
                await self._tell(secured, transport, _turned_away(why))

    async def _tell(self, stream: trio.abc.Stream, transport: trio.SocketStream, response: bytes) -> None:
        """Send a response that belongs to no request, and part."""
        with trio.move_on_after(REFUSAL_SECONDS):
            await stream.send_all(response)
        await self._part(stream, transport)

    async def _part(self, stream: trio.abc.Stream, transport: trio.SocketStream) -> None:
        """End TLS, where there is any, and let the client read its last response."""
        if isinstance(stream, TlsStream):
            with trio.move_on_after(REFUSAL_SECONDS):
                await stream.end()
        await self._linger(transport)

    async def _linger(self, stream: trio.SocketStream) -> None:
        """Let the client read its last response, unless too many are about that."""
        if self._lingering >= self._max_connections:
            return
        self._lingering += 1
        left = LINGER_BYTES
        try:
            with trio.move_on_after(LINGER_SECONDS):
                await stream.send_eof()
                while left > 0 and (data := await stream.receive_some(PIECE)):
                    left -= len(data)
        except trio.BrokenResourceError:
            pass
        finally:
            self._lingering -= 1
            self._empty.set()


def _turned_away(sentence: str) -> bytes:
    """The response to a connection that finds no room."""
    body = encoded(503, sentence, RETRY_AFTER)
    return _response("503 Service Unavailable", body, f"retry-after: {RETRY_AFTER}\r\n")


def _response(status: str, body: bytes, headers: str = "") -> bytes:
    """A whole response behind which the connection is closed."""
    head = (
        f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\n"
        f"content-length: {len(body)}\r\n{headers}connection: close\r\n\r\n"
    )
    return head.encode() + body


#: The response to what is sent without TLS where this port has it.
_NOT_TLS = _response(
    "400 Bad Request", encoded(400, "this port speaks TLS, and what came is not: the address begins with https://")
)


def _hypercorn_config() -> HypercornConfig:
    config = HypercornConfig()
    config.logger_class = _HypercornLog
    config.include_server_header = False
    return config


class _HypercornLog(Logger):
    """hypercorn's log, which is part of ours; it says nothing but what went wrong."""

    def __init__(self, config: HypercornConfig) -> None:
        self.access_logger = self.error_logger = None

    async def exception(self, message: str, *args: Any, **kwargs: Any) -> None:
        logger.exception("http request failed", hypercorn=message)
