"""Reading from connections in fair turns between addresses."""

from __future__ import annotations

import os

import trio

from gmd.net.fair_scheduler import FairScheduler
from gmd.net.tls import TlsStream

#: The address under which clients of trusted proxies are scheduled: theirs are known only after the request is read.
PROXIES = "proxies"


class FairReader:
    """Reads from one connection.

    A socket is not read before its turn: flow control makes the senders wait, too. Input from any other stream waits in
    this object. Under TLS another reader reads the connection in turn. This one waits only for what was read before:
    one read may hold a thousand records, each with a request.
    """

    __slots__ = ("_ahead", "_fresh", "_scheduler", "_socket", "_source", "_stream")

    def __init__(self, stream: trio.abc.ReceiveStream, scheduler: FairScheduler, source: str | None) -> None:
        """:param source: the address whose turns the connection takes, empty for a proxy's; None to wait for none."""
        self._source = source
        self._stream = stream
        self._socket = stream.socket if source is not None and isinstance(stream, trio.SocketStream) else None
        self._scheduler = scheduler
        self._fresh = True  # not read yet: a new connection's first request has usually arrived
        self._ahead: bytes | bytearray | None = None

    async def receive_some(self, max_bytes: int) -> bytes | bytearray:
        """Return the next bytes, empty at the end of the stream. Cancellation loses no bytes.

        The first call for a socket is a checkpoint only if it has to wait.

        :raises trio.BrokenResourceError: the peer is gone.
        """
        if self._socket is not None:
            return await self._receive_from(self._socket, max_bytes)
        if self._source is None:
            return await self._stream.receive_some(max_bytes)
        if self._ahead is None:
            reads = self._reads
            self._ahead = await self._stream.receive_some(max_bytes)
            if reads != self._reads:
                data, self._ahead = self._ahead, None
                return data
        await self._scheduler.wait_turn(self._source or PROXIES)
        data, self._ahead = self._ahead, None
        return data

    @property
    def _reads(self) -> int:
        """The number of reads that have waited for their turns below TLS; 0 without TLS."""
        return self._stream.reads if isinstance(self._stream, TlsStream) else 0

    async def give_way(self) -> None:
        """Give other connections their turns before the next request of those already read is answered."""
        if self._source is not None and self._scheduler.is_loaded:
            await self._scheduler.wait_turn(self._source or PROXIES)
        else:
            await trio.lowlevel.checkpoint()

    async def _receive_from(self, socket: trio.socket.SocketType, max_bytes: int) -> bytes:
        while True:
            if not self._fresh:
                await trio.lowlevel.wait_readable(socket)
            self._fresh = False
            if self._scheduler.is_loaded:
                await self._scheduler.wait_turn(self._source or PROXIES)
            try:
                return os.read(socket.fileno(), max_bytes)
            except BlockingIOError:
                pass
            except OSError as error:
                raise trio.BrokenResourceError(f"cannot read: {error.strerror}") from error
