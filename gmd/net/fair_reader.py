"""Reading from connections in fair turns between addresses."""

from __future__ import annotations

import os

import trio

from gmd.net.connection_slots import ConnectionSlot
from gmd.net.epoll_group import EpollGroup
from gmd.net.fair_scheduler import GROUPED_FROM, FairScheduler
from gmd.net.tls import TlsStream

#: The address under which clients of trusted proxies are scheduled: theirs are known only after the request is read.
PROXIES = "proxies"


class FairReader:
    """Reads from one connection.

    A socket is not read before its turn: a group's input waits in the kernel, and flow control makes the senders wait,
    too. Input from any other stream waits in this object. Under TLS another reader reads the connection in turn. This
    one waits only for what was read before: one read may hold a thousand records, each with a request.
    """

    __slots__ = ("_ahead", "_fresh", "_scheduler", "_slot", "_socket", "_source", "_stream")

    def __init__(
        self,
        stream: trio.abc.ReceiveStream,
        scheduler: FairScheduler,
        slot: ConnectionSlot | None,
        source: str | None = None,
    ) -> None:
        """:param slot: the connection's, if it has one.
        :param source: the address of a connection without a slot; without either, it waits for no turns.
        """
        self._source = source if slot is None else slot.source
        self._stream = stream
        self._socket = stream.socket if self._source is not None and isinstance(stream, trio.SocketStream) else None
        self._scheduler = scheduler
        self._slot = slot
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
            if self._fresh:
                self._fresh = False
                await self._take_turn()
            elif (group := self._group()) is not None:
                await group.wait(socket.fileno())
                self._scheduler.begin(self._source or PROXIES)
            else:
                await trio.lowlevel.wait_readable(socket)
                await self._take_turn()
            try:
                return os.read(socket.fileno(), max_bytes)
            except BlockingIOError:
                pass
            except OSError as error:
                raise trio.BrokenResourceError(f"cannot read: {error.strerror}") from error

    def _group(self) -> EpollGroup | None:
        """Return the group in which to wait for bytes; None if the address has few connections."""
        slot = self._slot
        return None if slot is None or slot.neighbours < GROUPED_FROM else self._scheduler.group_of(slot)

    async def _take_turn(self) -> None:
        if self._scheduler.is_loaded:
            await self._scheduler.wait_turn(self._source or PROXIES)
