"""One HTTP connection: it reads requests, has the application answer them, and keeps the timeouts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import trio

from gm_protocol.errors import TooMany
from gm_protocol.messages import Limits
from gmd.event_log.interface import Superseded
from gmd.http.asgi import REFUSED, Address, Application, Scope, answer, scope_of
from gmd.http.errors import error_response, too_many_response
from gmd.http.requests import Head, Refusal, RequestReader
from gmd.http.responses import CONTINUE, RawResponse
from gmd.http.streaming import Stream, Wire, bound_buffers, head_of
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
#: The paths that are answered even beyond the limit of connections, and while the lease has run out.
HEALTH_PATHS = frozenset(["/healthz", "/metrics"])


@dataclass(frozen=True, slots=True)
class ServerContext:
    """What the connections of a port share.

    :ivar app: answers their requests.
    :ivar limits: ``frame_seconds`` is the time for a request's head to arrive, counted from the end of the last
        request (of which :data:`HEAD_SECONDS` at most from its first byte), then the time for its body;
        ``max_message`` is the size of the largest body.
    :ivar memory: the accounts of the bytes that connections hold.
    :ivar send_timeout: how long a peer may take to read a response.
    :ivar proxies: the proxies whose connections carry requests of many clients.
    :ivar lease: while it has run out, only health is answered.
    :ivar stopping: set when no connection is to answer another request.
    """

    app: Application
    limits: Limits
    memory: MemoryLedger
    send_timeout: SendTimeout
    proxies: Proxies
    lease: Lease | None
    stopping: trio.Event


class Connection:
    """A connection on a stream. The caller that opened the stream closes it.

    :ivar is_refused: whether a request was refused for want of a slot.
    """

    def __init__(
        self,
        stream: trio.abc.Stream,
        transport: trio.SocketStream,
        context: ServerContext,
        slot: ConnectionSlot,
        reader: FairReader,
        full: TooMany | None,
    ) -> None:
        """:param transport: the bare connection below the stream; the stream itself where there is no TLS.
        :param slot: this connection's slot among all; it is updated with what the connection is doing.
        :param reader: reads the stream.
        :param full: why it answers nothing but one request for health or metrics, if so.
        """
        self._stream = stream
        self._transport = transport
        self._context = context
        self._slot = slot
        self._reader = reader
        self._full = full
        #: Ends the connection at once.
        self._life = trio.CancelScope()
        #: Ends the reading of a request. One that has been read whole is answered even if this was cancelled meanwhile.
        self._reading = PatientScope()
        #: The head of the request that is read or answered; None between requests, and until a head is whole.
        self._head: Head | None = None
        #: Whether a head has begun to arrive and is not whole yet.
        self._in_head = False
        #: Whether the connection was evicted: it reads no further request.
        self._is_evicted = False
        #: Bytes received since the end of the last request; and whether anything was sent.
        self._arrived, self._is_answered = 0, False
        self._is_streaming = False
        #: Why the connection was evicted or cut off, for the client.
        self._why_ended: TooMany | None = None
        self.is_refused = False

    def stop(self) -> None:
        """Finish the request in progress, if any."""
        if self._is_streaming:
            self._life.cancel()
        elif self._head is None:
            self._reading.cancel()

    def evict(self, error: TooMany) -> bool:
        """End the connection unless a request is being answered, other than by a stream; return whether it was ended.

        :param error: answers a request that has arrived only in part.
        """
        if self._slot.value in IN_USE:
            return False
        if self._head is not None or self._requests.ahead:
            self._why_ended = error
        self._is_evicted = True
        (self._life if self._is_streaming else self._reading).cancel()
        return True

    def _cut_off(self, why: TooMany) -> None:
        """Drop the bytes received so far and end the connection: it holds too much memory."""
        self._why_ended = why
        self._requests.forget()
        self._life.cancel()

    async def run(self) -> None:
        """Answer requests until either side closes the connection, or the peer is too slow."""
        is_tls, context, socket = self._stream is not self._transport, self._context, self._transport.socket
        self._server, self._client = _address(socket, socket.getsockname()), _address(socket, socket.getpeername())
        self._account = context.memory.open(context.proxies.client_of(self._client), self._cut_off)
        descriptor = None if is_tls else socket.fileno()
        sending = Sending(self._stream, context.send_timeout)
        self._wire = Wire(sending, descriptor, self._account, self._closed, context.lease)
        self._requests = RequestReader(self._receive, context.limits.max_message, self._reader.give_way)
        try:
            if is_tls:
                self._account.hold_others(CONNECTION_BYTES)
            with self._life:
                await self._answer_requests()
            if self._why_ended is not None and not self._is_answered:  # else it would come in the middle of a response
                await self._send(too_many_response(self._why_ended))
        except (trio.BrokenResourceError, trio.TooSlowError, Superseded):
            pass  # the peer is gone, or does not read; or another daemon serves
        finally:
            self._account.close()
            del self._account, self._wire, self._requests  # they refer to it, and old garbage is never collected

    async def _answer_requests(self) -> None:
        while await self._answer_next():
            self._rest()
            if self._requests.ahead:
                await self._reader.give_way()  # before the next request, which has come already
            if self._is_ending:
                return

    @property
    def _is_ending(self) -> bool:
        return self._is_evicted or self._context.stopping.is_set()

    async def _answer_next(self) -> bool:
        """Read a request and answer it; return whether the connection stays open."""
        try:
            request = await self._read()
        except Refusal as refusal:
            await self._refuse(refusal)
            return False
        if request is None or self._life.cancel_called:  # the latter where its last bytes had the connection cut off
            return False
        self._slot.begin(loop_time.now())
        return await self._answer(*request)

    async def _read(self) -> tuple[Head, bytes] | None:
        """Return the next request; None where the client has closed, or the connection has to end."""
        with loop_time.move_on_after(self._context.limits.frame_seconds) as self._reading:
            self._head = await self._requests.head()
            return None if self._head is None else (self._head, await self._read_body(self._head))
        if self._head is not None and not self._is_evicted:
            raise Refusal(408, f"the whole body did not arrive within {self._context.limits.frame_seconds:g} seconds")
        return None

    async def _read_body(self, head: Head) -> bytes:
        self._in_head = False
        if head.length == 0:
            return b""
        limits = self._context.limits
        self._reading.deadline = loop_time.now() + limits.frame_seconds
        is_wanted = head.length is None or head.length <= limits.max_message
        if is_wanted and head.is_expecting and not self._requests.ahead:
            await self._wire.send(CONTINUE, is_held=False)
        return await self._requests.body(head)

    async def _answer(self, head: Head, body: bytes) -> bool:
        """Answer a request; return whether the connection stays open."""
        scope = self._scope(head)
        is_health = scope["path"] in HEALTH_PATHS
        if self._full is not None and not is_health:
            self.is_refused = True
            await self._send(too_many_response(self._full))
            return False
        response = await answer(self._context.app, scope, body)
        if not isinstance(response, RawResponse):
            await self._run_stream(response, head)
            return False
        is_last = head.is_last or self._is_ending or self._full is not None
        await self._send(response, is_last=is_last, is_held=not is_health)
        return not is_last

    async def _refuse(self, refusal: Refusal) -> None:
        """Say what is wrong with a request; for a browser the application makes the response."""
        head = self._head
        response: RawResponse | Stream = error_response(refusal.status, refusal.sentence)
        if head is not None and head.accepts(b"text/html") and self._full is None:
            scope = {**self._scope(head), REFUSED: refusal}
            response = await answer(self._context.app, scope, b"")
        assert isinstance(response, RawResponse)
        await self._send(response)

    def _rest(self) -> None:
        """Mark the connection as idle: its request has been answered."""
        self._head, self._is_answered = None, False
        self._arrived = self._requests.ahead  # only what followed the request is held
        self._account.hold_requests(self._arrived)
        self._slot.rest(Value.IDLE, loop_time.now())

    async def _receive(self) -> bytes:
        """Return the next bytes from the network; none where the peer has closed.

        A connection with a part of a request counts as silent.
        """
        if (self._head is not None or self._requests.ahead) and not self._is_streaming:
            self._note_part()
        try:
            data = bytes(await self._reader.receive_some(PIECE))
        except trio.BrokenResourceError:
            return b""
        self._arrived += len(data)
        self._account.hold_requests(self._arrived)
        return data

    def _note_part(self) -> None:
        now = loop_time.now()
        if self._slot.value is not Value.SILENT:
            self._slot.rest(Value.SILENT, now)
        if self._head is None and not self._in_head:
            self._in_head = True
            self._reading.deadline = min(self._reading.deadline, now + HEAD_SECONDS)

    async def _run_stream(self, stream: Stream, head: Head) -> None:
        """Send a stream as the response."""
        self._is_streaming = self._is_answered = True
        self._slot.rest(Value.PLAYER if stream.plays else Value.IDLE, loop_time.now())
        bound_buffers(self._transport)
        await self._wire.send(head_of(stream))
        if head.method != "HEAD":
            await stream.run(self._wire)

    async def _closed(self) -> None:
        """Return when the peer has closed while a stream is sent, or has sent more than a client of one may."""
        while self._arrived < PIECE and await self._receive():
            pass

    async def _send(self, response: RawResponse, *, is_last: bool = True, is_held: bool = False) -> None:
        """Send a response.

        :param is_last: whether the connection is closed after it.
        :param is_held: whether it waits while the lease has run out.
        """
        self._is_answered = True
        has_body = self._head is None or self._head.method != "HEAD"
        await self._wire.send(response.encode(is_last=is_last, has_body=has_body), is_held=is_held)

    def _scope(self, head: Head) -> Scope:
        return scope_of(head, self._client, self._server, is_tls=self._stream is not self._transport)


def _address(socket: trio.socket.SocketType, address: Any) -> Address | None:
    """Return a socket's address as host and port; None for a socket of this machine alone."""
    return address[:2] if socket.family in (trio.socket.AF_INET, trio.socket.AF_INET6) else None
