"""Connections to the HTTP sides of other daemons, some of which are kept for the next request."""

from __future__ import annotations

import re
import select
from collections import defaultdict
from typing import NamedTuple

import h11
import trio

from gmd import loop_time
from gmd.cluster.handshake import HandshakeRefused
from gmd.cluster.links import Links

#: The role of such connections in the handshake of links.
ROLE = "http"
#: The most bytes read at once, and the most of a response's head.
PIECE = 65_536
#: Bytes that the kernel holds unread of a response that lasts.
STREAM_BUFFER = 65_536
#: Connections to one daemon that are kept while no request needs them.
KEPT = 32
#: Connections to one daemon that are opened at a time: the other side does few handshakes at once.
OPENING = 16
#: Seconds after which the kernel gives up a connection whose other end acknowledges nothing.
DEAD_SECONDS = 5
#: Seconds to open a connection.
OPEN_SECONDS = 5.0


#: The head of a response as all of ours are, but those of streams; and what it may say of its connection.
_HEAD = re.compile(rb"HTTP/1\.1 ([0-9]{3}) [^\r\n]*\r\n(?:[^\r\n]+\r\n)*\r\n")
_LENGTH = re.compile(rb"\r\ncontent-length: ([0-9]{1,15})\r\n", re.IGNORECASE)
_CONNECTION = re.compile(rb"\r\nconnection: [^\r\n]*", re.IGNORECASE)


class Whole(NamedTuple):
    """A whole response.

    :ivar data: its bytes, without what the head says of its connection.
    :ivar ends: whether its connection can have no other.
    """

    status: int
    data: bytes
    ends: bool


class Unreachable(Exception):
    """An error: there is no connection to a daemon; nothing was sent."""


class PeerConnection:
    """A connection to another daemon's HTTP side, which carries one request at a time."""

    __slots__ = ("_http", "_socket", "_stream", "daemon", "idle_since")

    def __init__(self, stream: trio.SocketStream, daemon: int) -> None:
        self.daemon = daemon
        self.idle_since = 0.0
        self._stream = stream
        self._socket = stream.socket
        self._http = h11.Connection(h11.CLIENT, max_incomplete_event_size=PIECE)

    async def send(self, head: h11.Request, body: bytes) -> None:
        """Send a whole request.

        :raises trio.BrokenResourceError: the connection is lost. Part of the request may have been sent.
        """
        data = self._http.send(head) or b""
        if body:
            data += self._http.send(h11.Data(data=body)) or b""
        data += self._http.send(h11.EndOfMessage()) or b""
        await self._stream.send_all(data)

    async def exchange(self, request: bytes) -> Whole:
        """Send a whole request, and return the whole response, whose head gives its length.

        h11 has no part in it: it would take several times as long as the rest.

        :raises trio.BrokenResourceError: the connection is lost, or what came is no such response.
        """
        await self._stream.send_all(request)
        data: bytes | bytearray = await self._more(True)
        while (found := _HEAD.match(data)) is None:
            data += await self._more(len(data) < PIECE)
        head = found.group()
        length = _LENGTH.search(head)
        if length is None:
            raise trio.BrokenResourceError("a response without a length")
        end = len(head) + int(length[1])
        if len(data) < end:
            data = await self._filled(bytearray(data), end)
        ends = len(data) > end
        if (own := _CONNECTION.search(head)) is not None:
            data, ends = data[: own.start()] + data[own.end() :], True
        return Whole(int(found[1]), bytes(data), ends)

    async def _filled(self, data: bytearray, end: int) -> bytearray:
        while len(data) < end:
            data += await self._more(True)
        return data

    async def _more(self, wanted: bool) -> bytes | bytearray:
        more = await self._stream.receive_some(PIECE) if wanted else b""
        if not more:
            raise trio.BrokenResourceError("the response is not whole")
        return more

    async def head(self) -> h11.Response:
        """Return the head of the response.

        :raises trio.BrokenResourceError: the connection is lost, or what came is no response.
        """
        while not isinstance(event := await self._event(), h11.Response):
            if not isinstance(event, h11.InformationalResponse):
                raise trio.BrokenResourceError("there is no response")
        return event

    async def piece(self) -> bytes:
        """Return the next part of the response's body; an empty one at its end.

        :raises trio.BrokenResourceError: the connection is lost before the end.
        """
        event = await self._event()
        return bytes(event.data) if isinstance(event, h11.Data) else b""

    async def _event(self) -> object:
        try:
            while (event := self._http.next_event()) is h11.NEED_DATA:
                self._http.receive_data(await self._stream.receive_some(PIECE))
        except (h11.RemoteProtocolError, trio.ClosedResourceError) as error:
            raise trio.BrokenResourceError(str(error)) from error
        return event

    def bound_buffer(self) -> None:
        """Bound what the kernel holds of a response that lasts while its reader is slow."""
        self._stream.setsockopt(trio.socket.SOL_SOCKET, trio.socket.SO_RCVBUF, STREAM_BUFFER)

    def renew(self) -> bool:
        """Prepare for the next request; return whether there can be one."""
        if self._http.our_state is h11.IDLE:
            return True
        if self._http.our_state is not h11.DONE or self._http.their_state is not h11.DONE:
            return False
        self._http.start_next_cycle()
        return True

    @property
    def is_open(self) -> bool:
        """Whether the other side has neither closed nor sent anything since the last response."""
        poll = select.poll()
        poll.register(self._socket.fileno(), select.POLLIN)
        return not poll.poll(0)

    def close(self) -> None:
        """Close at once; a second call has no effect."""
        self._socket.close()


class Peers:
    """The connections of one daemon to all others."""

    def __init__(self, links: Links, idle_seconds: float) -> None:
        """:param idle_seconds: for how long a connection is kept; the other side must keep it for longer."""
        self._links = links
        self._idle_seconds = idle_seconds
        self._kept: defaultdict[int, list[PeerConnection]] = defaultdict(list)
        self._opening: defaultdict[int, trio.CapacityLimiter] = defaultdict(lambda: trio.CapacityLimiter(OPENING))

    async def take(self, daemon: int) -> PeerConnection:
        """Return a connection to a daemon, for one request.

        :raises Unreachable: there is none.
        """
        kept = self._kept[daemon]
        while kept:
            connection = kept.pop()
            if loop_time.now() - connection.idle_since < self._idle_seconds and connection.is_open:
                return connection
            connection.close()
        return await self._open(daemon)

    def give_back(self, connection: PeerConnection) -> None:
        """Keep a connection whose response is complete for the next request, or close it."""
        kept = self._kept[connection.daemon]
        if len(kept) < KEPT and connection.renew():
            connection.idle_since = loop_time.now()
            kept.append(connection)
        else:
            connection.close()

    def drop_idle(self) -> None:
        """Close the connections that nobody has used for long."""
        limit = loop_time.now() - self._idle_seconds
        for daemon, kept in [*self._kept.items()]:
            for connection in kept:
                if connection.idle_since < limit:
                    connection.close()
            kept[:] = [connection for connection in kept if connection.idle_since >= limit]
            if not kept:
                del self._kept[daemon]

    def close(self) -> None:
        """Close all connections that no request uses."""
        for kept in self._kept.values():
            for connection in kept:
                connection.close()
        self._kept.clear()

    async def _open(self, daemon: int) -> PeerConnection:
        try:
            with trio.move_on_after(OPEN_SECONDS):
                async with self._opening[daemon]:
                    stream = await self._links.open(daemon, ROLE)
                assert isinstance(stream, trio.SocketStream)
                _watch_over(stream)
                return PeerConnection(stream, daemon)
        except (OSError, trio.BrokenResourceError, HandshakeRefused) as error:
            raise Unreachable(f"daemon {daemon} cannot be reached: {error}") from error
        raise Unreachable(f"daemon {daemon} did not answer within {OPEN_SECONDS:g} seconds")


def _watch_over(stream: trio.SocketStream) -> None:
    """Have the kernel notice that the other machine is gone, also while nothing is sent."""
    if stream.socket.family not in (trio.socket.AF_INET, trio.socket.AF_INET6):
        return  # under TLS: this is a socket of this machine
    stream.setsockopt(trio.socket.SOL_SOCKET, trio.socket.SO_KEEPALIVE, 1)
    seconds = {"TCP_KEEPIDLE": DEAD_SECONDS - 3, "TCP_KEEPINTVL": 1, "TCP_KEEPCNT": 3}
    for name, value in {**seconds, "TCP_USER_TIMEOUT": DEAD_SECONDS * 1_000}.items():
        if (option := getattr(trio.socket, name, None)) is not None:
            stream.setsockopt(trio.socket.IPPROTO_TCP, option, value)
