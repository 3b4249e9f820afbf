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
from gmd.logger import get_logger

from .connection import PIECE, Connection
from .errors import encoded
from .shortcut import Shortcut

logger = get_logger(__name__)

#: Seconds after which a client turned away may find room, and that it has to take this answer.
RETRY_AFTER = 5
REFUSAL_SECONDS = 1.0
#: How long, and how much, a connection is read on after its last response: to close it with input unread might take
#: the response back.
LINGER_SECONDS = 2.0
LINGER_BYTES = 1 << 20


class HttpServer:
    """Runs a :class:`Connection` for every client, up to a limit; nothing that goes wrong in one escapes.

    hypercorn's own server does neither, and it waits without end for a client that takes nothing.
    """

    def __init__(self, limits: Limits, max_connections: int) -> None:
        self._limits = limits
        self._max_connections = max_connections
        self._connections: set[Connection] = set()
        self._lingering = 0
        self._context = WorkerContext(None)
        self._config = _hypercorn_config()
        self._empty = trio.Event()
        #: How many connections were refused because there were too many.
        self.turned_away = 0

    @property
    def connections(self) -> int:
        """How many connections are open, those that are about to be closed among them."""
        return len(self._connections) + self._lingering

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
        with trio.move_on_after(patience):
            while self.connections:
                self._empty = trio.Event()
                await self._empty.wait()

    async def _handle(self, stream: trio.SocketStream, app: ASGIFramework, shortcut: Shortcut | None) -> None:
        if len(self._connections) >= self._max_connections:
            await self._turn_away(stream)
            return
        connection = Connection(stream, app, shortcut, self._config, self._context, self._limits)
        self._connections.add(connection)
        try:
            await connection.run()
        except OSError:
            return  # the client was gone before it was looked at
        except Exception:
            logger.exception("http connection failed")
            return
        finally:
            self._connections.discard(connection)
            self._empty.set()
        await self._linger(stream)

    async def _turn_away(self, stream: trio.SocketStream) -> None:
        self.turned_away += 1
        try:
            with trio.move_on_after(REFUSAL_SECONDS):
                await stream.send_all(_turned_away(self._max_connections))
        except trio.BrokenResourceError:
            return
        await self._linger(stream)

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


def _turned_away(limit: int) -> bytes:
    """The response to a connection that finds no room."""
    sentence = f"http_max_connections: {limit} of {limit} are open; try again later"
    body = encoded(503, sentence, RETRY_AFTER)
    head = (
        "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\n"
        f"content-length: {len(body)}\r\nretry-after: {RETRY_AFTER}\r\nconnection: close\r\n\r\n"
    )
    return head.encode() + body


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
