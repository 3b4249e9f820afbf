"""One HTTP connection: its bytes and its timeouts. hypercorn turns the bytes into requests."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

import h11
import trio
from hypercorn.app_wrappers import ASGIWrapper
from hypercorn.config import Config
from hypercorn.events import Closed, Event, RawData, Updated
from hypercorn.protocol.h11 import H11Protocol
from hypercorn.trio.worker_context import WorkerContext
from hypercorn.typing import ASGIFramework, ConnectionState
from hypercorn.utils import parse_socket_addr

from gm_protocol.errors import TooMany
from gm_protocol.messages import Limits
from gmd.event_log.interface import Superseded
from gmd.http.errors import connection_refusal, encoded, whole_response
from gmd.http.intake import Intake
from gmd.http.plain import Plain
from gmd.http.shortcut import Shortcut
from gmd.http.streaming import Stream, Wire, bound_buffers, head_of
from gmd.http.strict import StrictConnection
from gmd.net import loop_time
from gmd.net.connection_slots import IN_USE, ConnectionSlot, Value
from gmd.net.fair_reader import FairReader
from gmd.net.loop_time import PatientScope
from gmd.net.memory_ledger import MemoryLedger
from gmd.net.proxies import Proxies
from gmd.net.send_timeout import Sending, SendTimeout
from gmd.net.tls import CONNECTION_BYTES

if TYPE_CHECKING:
    from gmd.event_log.lease import Lease

#: The most bytes read from the network at once.
PIECE = 65_536
#: Seconds for a request's head to arrive whole once it has begun: a client sends a head in one write.
HEAD_SECONDS = 10.0
#: Copies of a response's body in memory while it is sent: the application's and hypercorn's.
COPIES = 2


class _Http1(H11Protocol):
    """HTTP/1.1 only: an HTTP/2 client could leave responses unread for ever without its connection being idle."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._head = b""
        self.connection = self._strict = StrictConnection(self.config.h11_max_incomplete_size)

    async def _send_h11_event(self, event: Any) -> None:
        """Send a response's head together with the first part of its body."""
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
        """Ignore requests to upgrade to HTTP/2, and HTTP/2 prefaces."""

    async def _send_error_response(self, status_code: int) -> None:
        """Explain what is wrong with bytes that are not a request; hypercorn would send no explanation."""
        sentence = self._strict.refusal or "this is not an HTTP request; this port speaks HTTP/1.1"
        body = encoded(status_code, sentence)
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
    """A connection on a stream. The caller that opened the stream closes it."""

    def __init__(
        self,
        stream: trio.abc.Stream,
        transport: trio.SocketStream,
        app: ASGIFramework,
        shortcut: Shortcut | None,
        config: Config,
        context: WorkerContext,
        limits: Limits,
        slot: ConnectionSlot,
        memory: MemoryLedger,
        send_timeout: SendTimeout,
        proxies: Proxies,
        reader: FairReader,
        lease: Lease | None,
    ) -> None:
        """:param transport: the bare connection below the stream; the stream itself where there is no TLS.
        :param shortcut: answers plain requests without the application.
        :param limits: ``frame_seconds`` is the time for a request's head to arrive, counted from the end of the last
        request (of which :data:`HEAD_SECONDS` at most from its first byte), then the time for its body;
        ``max_message`` is the size of the largest body.
        :param slot: this connection's slot among all; it is updated with what the connection is doing.
        :param memory: the account of the bytes that the connection holds.
        :param send_timeout: how long a peer may take to read a response.
        :param proxies: the proxies whose connections carry requests of many clients.
        :param reader: reads the stream.
        :param lease: while it has run out, streams and the shortcut's answers wait.
        """
        self._stream = stream
        self._transport = transport
        self._app = app
        self._shortcut = shortcut
        self._config = config
        self._context = context
        self._seconds = limits.frame_seconds
        self._slot = slot
        self._idle = True
        #: Whether a head has begun to arrive and is not whole yet.
        self._in_head = False
        #: The last response, sent when the connection is evicted in the middle of a request.
        self._last_response = b""
        #: Bytes read but not processed yet.
        self._ahead = b""
        self._reading = PatientScope(loop_time.now() + self._seconds)
        self._intake = Intake(
            app,
            limits.max_message,
            self._seconds,
            self._reading,
            self._gone,
            self._begin,
            reader.give_way,
            self._run_stream,
        )
        self._memory = memory
        self._proxies = proxies
        self._reader = reader
        self._lease = lease
        self._sending = Sending(stream, send_timeout)
        #: Bytes received since the end of the last request; and whether anything was sent.
        self._arrived = 0
        self._is_answered = False
        #: Whether its response is a stream, which lasts until either side ends it.
        self._is_streaming = False
        #: Why the connection was cut off, if it was.
        self._cut: TooMany | None = None

    def stop(self) -> None:
        """Finish the request in progress, if any; hypercorn then closes, since its context is terminated."""
        if self._idle or self._is_streaming:
            self._reading.cancel()

    def evict(self, error: TooMany) -> bool:
        """End the connection unless a request is being answered, other than by a stream; return whether it was ended.

        :param error: answers a request that has arrived only in part.
        """
        if self._slot.value in IN_USE:
            return False
        if not self._is_between_requests and not self._is_streaming:
            self._last_response = connection_refusal(error)
        self._reading.cancel()
        return True

    async def run(self) -> None:
        """Answer requests until either side closes the connection, or the peer is too slow."""
        tls, socket = self._stream is not self._transport, self._transport.socket
        ours, peers = (
            parse_socket_addr(socket.family, address) for address in (socket.getsockname(), socket.getpeername())
        )
        self._peer = peers
        self._account = self._memory.open(self._proxies.client_of(peers), self._cut_off)
        app, state = ASGIWrapper(self._app), ConnectionState({})  # the intake runs the app
        self._http = _Http1(app, self._config, self._context, self._intake, state, tls, peers, ours, self._take)
        try:
            with trio.CancelScope() as self._whole:
                if tls:
                    self._account.hold_others(CONNECTION_BYTES)
                await self._converse()
        finally:
            self._account.close()

    async def _converse(self) -> None:
        with self._reading:
            await self._read()
        if self._cut is not None:
            await self._send_cut_off(self._cut)
        elif self._last_response:
            await self._send(self._last_response)
        elif self._reading.cancel_called:
            await self._intake.give_up()
        await self._http.handle(Closed())

    def _cut_off(self, why: TooMany) -> None:
        """Drop the bytes received so far and end the connection: it holds too much memory."""
        self._cut = why
        self._ahead = b""
        self._intake.forget()
        self._reading.cancel()

    async def _send_cut_off(self, why: TooMany) -> None:
        """Send the reason, unless that would come in the middle of a response."""
        if not self._is_answered:
            await self._send(whole_response(503, str(why), why.retry_after))

    async def _read(self) -> None:
        while not self._reading.cancel_called:
            if self._ahead:
                await self._reader.give_way()
            data, self._ahead = self._ahead or await self._receive(), b""
            if self._shortcut is not None and self._is_between_requests and (plain := self._shortcut.find(data)):
                await self._take_plain(self._shortcut, plain, data)
                continue
            await self._http.handle(RawData(data))
            if not data:
                return  # the peer sends nothing more
            self._note_arriving()

    def _begin(self) -> None:
        """Mark the connection as answering a request, which has arrived whole."""
        self._slot.begin(loop_time.now())

    def _rest(self) -> None:
        """Mark the connection as idle: its request has been answered."""
        self._idle, self._in_head, now = True, False, loop_time.now()
        self._reading.deadline = now + self._seconds
        self._is_answered, self._arrived = False, len(self._ahead)  # only what followed the request is held
        self._account.hold_requests(self._arrived)
        self._slot.rest(Value.IDLE, now)

    def _note_arriving(self) -> None:
        """Start the timeout of a head that has begun; a connection with part of a request counts as silent."""
        if self._is_between_requests:
            return
        now = loop_time.now()
        if self._slot.value is not Value.SILENT:
            self._slot.rest(Value.SILENT, now)
        if self._idle and not self._in_head:
            self._in_head = True
            self._reading.deadline = min(self._reading.deadline, now + HEAD_SECONDS)

    @property
    def _is_between_requests(self) -> bool:
        """Whether hypercorn holds no part of a request."""
        return self._idle and not self._http.connection.trailing_data[0]

    async def _take_plain(self, shortcut: Shortcut, request: Plain, data: bytes) -> None:
        """Answer a request by the shortcut once its body is whole; leave one whose body does not come to hypercorn."""
        self._idle, self._reading.deadline = False, inf
        is_late = False
        if len(data) < request.end:
            self._slot.rest(Value.SILENT, loop_time.now())
            data, is_late = await self._remaining(data, request.end)
        if len(data) >= request.end:
            await self._answer_plain(shortcut, request, data)
        else:
            await self._http.handle(RawData(data))
        if is_late:
            await self._intake.give_up()

    async def _answer_plain(self, shortcut: Shortcut, request: Plain, data: bytes) -> None:
        self._ahead = data[request.end :]
        self._begin()
        response = await shortcut.answer(request, data[request.start : request.end], self._peer)
        if self._lease is not None and not self._lease.is_valid():
            try:
                await self._lease.valid()
            except Superseded:
                self._whole.cancel()  # the client connects again, to the daemon that serves
        await self._send(response)
        self._rest()
        if self._context.terminated.is_set():
            self._reading.cancel()

    async def _remaining(self, data: bytes, end: int) -> tuple[bytes, bool]:
        """Return the bytes up to ``end``, as far as they arrive in time, and whether the time ran out."""
        whole = bytearray(data)
        with loop_time.move_on_after(self._seconds) as waiting:
            while len(whole) < end and (more := await self._receive()):
                whole += more
        return bytes(whole), waiting.cancelled_caught

    async def _receive(self) -> bytes:
        """Return the next bytes from the network; none where the peer has closed."""
        try:
            data = bytes(await self._reader.receive_some(PIECE))
        except trio.BrokenResourceError:
            return b""
        self._arrived += len(data)
        self._account.hold_requests(self._arrived)
        return data

    async def _gone(self) -> None:
        """Return when the peer has closed while a request is answered; keep anything it sends for later."""
        while len(self._ahead) < PIECE:
            if not (data := await self._receive()):
                return
            self._ahead += data
        await trio.sleep_forever()  # a peer that still sends this much has not closed

    async def _run_stream(self, stream: Stream, head_only: bool) -> None:
        """Send a stream as the response, and end the connection after it."""
        self._is_streaming = self._is_answered = True
        self._slot.rest(Value.PLAYER if stream.plays else Value.IDLE, loop_time.now())
        bound_buffers(self._transport)
        descriptor = self._transport.socket.fileno() if self._stream is self._transport else None
        wire = Wire(self._sending, descriptor, self._account, self._closed, self._lease)
        try:
            await wire.send(head_of(stream, self._config.response_headers("h11")))
            if not head_only:
                await stream.run(wire)
        except (trio.BrokenResourceError, trio.TooSlowError, Superseded):
            self._whole.cancel()  # the peer is gone, or does not read; or another daemon serves
        finally:
            stream.close()
        self._reading.cancel()
        await trio.lowlevel.checkpoint()

    async def _closed(self) -> None:
        """Return when the peer has closed while a stream is sent, or has sent more than a client of one may."""
        while self._arrived < PIECE and await self._receive():
            pass

    async def _take(self, event: Event) -> None:
        """Handle an event of hypercorn's: bytes to send, the beginning or end of a request, or the connection's end."""
        if isinstance(event, RawData):
            await self._send(event.data, COPIES)
        elif isinstance(event, Updated):
            if event.idle:
                self._rest()
                if self._http.connection.trailing_data[0]:
                    await self._reader.give_way()  # before it answers the next request, which has come already
            else:  # the intake keeps the timeout
                self._idle = False
        elif isinstance(event, Closed):
            self._reading.cancel()

    async def _send(self, data: bytes, copies: int = 1) -> None:
        """Send part of a response.

        :param copies: how many copies of the data are in memory meanwhile.
        """
        self._is_answered = True
        self._account.hold_replies(copies * len(data))
        try:
            await self._sending.send(data)
        except (trio.BrokenResourceError, trio.TooSlowError):
            self._whole.cancel()  # the peer does not read the rest
            await trio.lowlevel.checkpoint()
        self._account.hold_replies(0)
