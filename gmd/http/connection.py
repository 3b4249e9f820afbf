"""One HTTP connection: its bytes, and the time it may take over them. hypercorn makes requests of the bytes."""

from __future__ import annotations

from math import inf
from typing import Any

import h11
import trio
from hypercorn.app_wrappers import ASGIWrapper
from hypercorn.config import Config
from hypercorn.events import Closed, Event, RawData, Updated
from hypercorn.protocol.h11 import H11Protocol
from hypercorn.trio.worker_context import WorkerContext
from hypercorn.typing import ASGIFramework, ConnectionState
from hypercorn.utils import parse_socket_addr

from gm_protocol.messages import Limits
from gmd import loop_time
from gmd.loop_time import PatientScope

from .errors import encoded
from .intake import Intake
from .plain import Plain
from .shortcut import Shortcut

#: Bytes asked of the network at once, and sent between two looks at the clock.
PIECE = 65_536


class _Http1(H11Protocol):
    """HTTP/1.1 alone: in HTTP/2 a client may leave responses untaken for ever, and the connection is not idle."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._head = b""

    async def _send_h11_event(self, event: Any) -> None:
        """Send a response's head with the first of its body, in one piece."""
        try:
            data = self.connection.send(event) or b""
        except h11.LocalProtocolError:
            if self.connection.their_state is not h11.ERROR:
                raise
            return
        if type(event) is h11.Response:
            self._head = data
        elif data := self._head + data:
            self._head = b""
            await self.send(RawData(data=data))

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
        app: ASGIFramework,
        shortcut: Shortcut | None,
        config: Config,
        context: WorkerContext,
        limits: Limits,
    ) -> None:
        """:param transport: the bare connection below the stream; the stream itself where there is no TLS between.
        :param shortcut: what answers plain requests without the application.
        :param limits: ``frame_seconds`` is how long a request's head may take to arrive, counted from the end of the
        last request, then its body, and how long a peer may take for each piece of a response; ``max_message`` is the
        largest body.
        """
        self._stream = stream
        self._transport = transport
        self._app = app
        self._shortcut = shortcut
        self._config = config
        self._context = context
        self._seconds = limits.frame_seconds
        self._idle = True
        #: What has been read, and not been looked at yet.
        self._ahead = b""
        self._reading = PatientScope(loop_time.now() + self._seconds)
        self._intake = Intake(app, limits.max_message, self._seconds, self._reading, self._gone)

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
        self._peer = peers
        app, state = ASGIWrapper(self._app), ConnectionState({})  # the intake has the app
        self._http = _Http1(app, self._config, self._context, self._intake, state, tls, peers, ours, self._take)
        with trio.CancelScope() as self._whole:
            with self._reading:
                await self._read()
            if self._reading.cancel_called:
                await self._intake.give_up()
            await self._http.handle(Closed())

    async def _read(self) -> None:
        while not self._reading.cancel_called:
            data, self._ahead = self._ahead or await self._receive(), b""
            if self._shortcut is not None and self._is_between_requests and (plain := self._shortcut.find(data)):
                await self._take_plain(self._shortcut, plain, data)
                continue
            await self._http.handle(RawData(data))
            if not data:
                return  # it has said all it will

    @property
    def _is_between_requests(self) -> bool:
        """Whether hypercorn has nothing of a request."""
        return self._idle and not self._http.connection.trailing_data[0]

    async def _take_plain(self, shortcut: Shortcut, request: Plain, data: bytes) -> None:
        """Answer a request that has a short way, once its body is here; one whose body does not come is hypercorn's."""
        self._idle, self._reading.deadline = False, inf
        is_late = False
        if len(data) < request.end:
            data, is_late = await self._rest(data, request.end)
        if len(data) >= request.end:
            await self._answer_plain(shortcut, request, data)
        else:
            await self._http.handle(RawData(data))
        if is_late:
            await self._intake.give_up()

    async def _answer_plain(self, shortcut: Shortcut, request: Plain, data: bytes) -> None:
        self._ahead = data[request.end :]
        await self._send(await shortcut.answer(request, data[request.start : request.end], self._peer))
        self._idle, self._reading.deadline = True, loop_time.now() + self._seconds
        if self._context.terminated.is_set():
            self._reading.cancel()

    async def _rest(self, data: bytes, end: int) -> tuple[bytes, bool]:
        """As much of some bytes as comes in time; and whether time ran out."""
        with loop_time.move_on_after(self._seconds) as waiting:
            while len(data) < end and (more := await self._receive()):
                data += more
        return data, waiting.cancelled_caught

    async def _receive(self) -> bytes:
        """What comes from the network next; nothing where the peer is gone."""
        try:
            return bytes(await self._stream.receive_some(PIECE))
        except trio.BrokenResourceError:
            return b""

    async def _gone(self) -> None:
        """Return when the peer has closed, while a request is answered. What it sends behind that is kept for then."""
        while len(self._ahead) < PIECE:
            if not (data := await self._receive()):
                return
            self._ahead += data
        await trio.sleep_forever()  # it has too much to say to be gone

    async def _take(self, event: Event) -> None:
        """What hypercorn has for us: bytes to send; that a request has begun or ended; that the connection is over."""
        if isinstance(event, RawData):
            await self._send(event.data)
        elif isinstance(event, Updated):
            self._idle = event.idle
            if event.idle:  # else the intake has the time
                self._reading.deadline = loop_time.now() + self._seconds
        elif isinstance(event, Closed):
            self._reading.cancel()

    async def _send(self, data: bytes) -> None:
        try:
            for start in range(0, len(data), PIECE):
                with loop_time.fail_after(self._seconds):
                    await self._stream.send_all(data[start : start + PIECE])
        except (trio.BrokenResourceError, trio.TooSlowError):
            self._whole.cancel()  # nobody reads what would still be said
            await trio.lowlevel.checkpoint()
