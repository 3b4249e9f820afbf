"""Responses that last: a route hands its connection to a stream, which sends events until either side ends it.

litestar takes no part in a stream: a route returns :class:`Streamed`, litestar ends, and the task that reads the
connection runs the stream itself. It reads while nothing is to be sent, which is how it notices that the client has
closed. The response has no length: it ends with the connection.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol, cast

import trio
from litestar import Response
from litestar.types import Receive, Scope, Send

from gmd.http.responses import stream_head
from gmd.net.memory_ledger import MemoryAccount
from gmd.net.send_timeout import PIECE, Sending

if TYPE_CHECKING:
    from gmd.event_log.lease import Lease

#: The key in a request's scope by which a stream reaches its connection.
STREAM = "gmd.stream"
#: Bytes of a connection that the kernel holds unsent: what a slow reader has not read yet is out of date.
SEND_BUFFER = 65_536
#: Milliseconds after which the kernel drops a connection whose peer acknowledges nothing: its machine has gone.
UNACKNOWLEDGED_MS = 60_000


class Wire:
    """The sending side of a connection."""

    __slots__ = ("_account", "_descriptor", "_lease", "_listen", "_sending")

    def __init__(
        self,
        sending: Sending,
        descriptor: int | None,
        account: MemoryAccount,
        listen: Callable[[], Awaitable[None]],
        lease: Lease | None,
    ) -> None:
        """:param descriptor: the socket's; None under TLS, where nothing can be sent at once.
        :param listen: returns when the client has closed.
        :param lease: while it has run out, nothing is sent.
        """
        self._sending = sending
        self._descriptor = descriptor
        self._account = account
        self._listen = listen
        self._lease = lease

    def send_now(self, data: bytes | memoryview) -> int:
        """Send as much as the kernel takes without waiting; return the number of bytes, 0 also where the peer is gone.

        A stream must have left the wire before its connection is closed: the descriptor may then be another's.
        """
        if self._descriptor is None or (self._lease is not None and not self._lease.is_valid()):
            return 0
        try:
            return os.write(self._descriptor, data)
        except OSError:  # send() says why
            return 0

    async def send(self, data: bytes | memoryview, *, is_held: bool = True) -> None:
        """Send data, of which the connection holds what cannot be sent at once.

        :param is_held: whether it waits while the lease has run out.
        :raises trio.BrokenResourceError: the peer is gone.
        :raises trio.TooSlowError: the peer reads too slowly.
        :raises Superseded: another daemon has taken over.
        """
        if is_held and self._lease is not None and not self._lease.is_valid():
            await self._lease.valid()
        if (sent := self.send_now(memoryview(data)[:PIECE])) == len(data):
            return
        self._account.hold_replies(len(data))
        try:
            await self._sending.send(memoryview(data)[sent:])
        finally:
            self._account.hold_replies(0)

    async def gone(self) -> None:
        """Return when the client has closed. It may be cancelled, and called again."""
        await self._listen()


class Stream(Protocol):
    """What sends a response that lasts.

    :ivar plays: whether its reader plays: its connection is then not given up for one that only watches.
    """

    plays: bool

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers of the response, beside those of its connection."""

    async def run(self, wire: Wire) -> None:
        """Send events until the end, or until the client has gone.

        :raises trio.BrokenResourceError: the peer is gone.
        :raises trio.TooSlowError: the peer reads too slowly.
        """


class Streamed(Response[None]):
    """A route's answer that is a stream."""

    def __init__(self, stream: Stream) -> None:
        super().__init__(None)
        self._stream = stream

    def to_asgi_response(self, *_: Any, **__: Any) -> Any:
        """Return an ASGI application that hands the stream to its connection."""
        return self._hand_over

    async def _hand_over(self, scope: Scope, _receive: Receive, _send: Send) -> None:
        cast(dict[str, Any], scope)[STREAM] = self._stream


def bound_buffers(transport: trio.SocketStream) -> None:
    """Bound what the kernel holds for a stream's reader, and for how long it waits for one that has gone."""
    transport.setsockopt(trio.socket.SOL_SOCKET, trio.socket.SO_SNDBUF, SEND_BUFFER)
    is_local = transport.socket.family not in (trio.socket.AF_INET, trio.socket.AF_INET6)
    if not is_local and (option := getattr(trio.socket, "TCP_USER_TIMEOUT", None)) is not None:
        transport.setsockopt(trio.socket.IPPROTO_TCP, option, UNACKNOWLEDGED_MS)


def head_of(stream: Stream) -> bytes:
    """Return the head of a stream's response."""
    headers = [(name.encode(), value.encode()) for name, value in stream.headers.items()]
    return stream_head(headers)
