"""One HTTP connection: its bytes, and the time it may take over them. hypercorn makes requests of the bytes."""

from __future__ import annotations

from math import inf

import h11
import trio
from hypercorn.config import Config
from hypercorn.events import Closed, Event, RawData, Updated
from hypercorn.protocol.h11 import H11Protocol
from hypercorn.trio.task_group import TaskGroup
from hypercorn.trio.worker_context import WorkerContext
from hypercorn.typing import AppWrapper, ConnectionState
from hypercorn.utils import parse_socket_addr

from .errors import encoded

#: Bytes asked of the network at once, and sent between two looks at the clock.
PIECE = 65_536


class _Http1(H11Protocol):
    """HTTP/1.1 alone: in HTTP/2 a client may leave responses untaken for ever, and the connection is not idle."""

    async def _check_protocol(self, event: h11.Request) -> None:
        """Take no request for the beginning of HTTP/2, nor for a wish for it."""

    async def _send_error_response(self, status_code: int) -> None:
        """Say what is wrong with bytes that are no request, where hypercorn says nothing."""
        body = encoded(status_code, "what came is no HTTP request; this port speaks HTTP/1.1")
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", b"%d" % len(body)),
            (b"connection", b"close"),
            *self.config.response_headers("h11"),
        ]
        await self._send_h11_event(h11.Response(status_code=status_code, headers=headers))
        await self._send_h11_event(h11.Data(data=body))
        await self._send_h11_event(h11.EndOfMessage())


class Connection:
    """A connection on a stream. Whoever opened the stream closes it."""

    def __init__(
        self,
        stream: trio.abc.Stream,
        transport: trio.SocketStream,
        app: AppWrapper,
        config: Config,
        context: WorkerContext,
        seconds: float,
    ) -> None:
        """:param transport: the bare connection below the stream; the stream itself where there is no TLS between.
        :param seconds: how long a request's head may take to arrive, counted from the end of the last request, and
        how long a peer may take for each piece of a response.
        """
        self._stream = stream
        self._transport = transport
        self._app = app
        self._config = config
        self._context = context
        self._seconds = seconds
        self._idle = True
        self._reading = trio.CancelScope(deadline=trio.current_time() + seconds)

    def stop(self) -> None:
        """Finish the request in hand, if there is one; hypercorn closes behind it, since its context is terminated."""
        if self._idle:
            self._reading.cancel()

    async def run(self) -> None:
        """Answer requests until either side ends it, or the peer is too slow."""
        tls, socket = self._stream is not self._transport, self._transport.socket
        ours, peers = (
            parse_socket_addr(socket.family, address) for address in (socket.getsockname(), socket.getpeername())
        )
        with trio.CancelScope() as self._whole:
            async with TaskGroup() as tasks:
                state = ConnectionState({})
                self._http = _Http1(self._app, self._config, self._context, tasks, state, tls, peers, ours, self._take)
                with self._reading:
                    await self._read()
                await self._http.handle(Closed())

    async def _read(self) -> None:
        while True:
            try:
                data = await self._stream.receive_some(PIECE)
            except trio.BrokenResourceError:
                return  # the peer is gone
            await self._http.handle(RawData(bytes(data)))
            if not data:
                return  # it has said all it will

    async def _take(self, event: Event) -> None:
        """What hypercorn has for us: bytes to send; that a request has begun or ended; that the connection is over."""
        if isinstance(event, RawData):
            await self._send(event.data)
        elif isinstance(event, Updated):
            self._idle = event.idle
            self._reading.deadline = trio.current_time() + self._seconds if event.idle else inf
        elif isinstance(event, Closed):
            self._reading.cancel()

    async def _send(self, data: bytes) -> None:
        try:
            for start in range(0, len(data), PIECE):
                with trio.fail_after(self._seconds):
                    await self._stream.send_all(data[start : start + PIECE])
        except (trio.BrokenResourceError, trio.TooSlowError):
            self._whole.cancel()  # nobody reads what would still be said
            await trio.lowlevel.checkpoint()
