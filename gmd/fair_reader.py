"""Reading from a connection when it is its address's turn."""

from __future__ import annotations

import os

import trio

from .crowds import Crowd
from .fair_scheduler import CROWD, FairScheduler
from .places import Place

#: What the clients of trusted proxies count for, whose addresses are known only once they have been read.
PROXIES = "proxies"


class FairReader:
    """Reads what comes over one connection.

    From a socket nothing is read before its turn, so that what a crowd sends waits in the kernel, and its senders wait,
    too. What comes over any other stream waits here.
    """

    __slots__ = ("_ahead", "_fresh", "_place", "_scheduler", "_socket", "_source", "_stream")

    def __init__(self, stream: trio.abc.ReceiveStream, scheduler: FairScheduler, place: Place | None) -> None:
        """:param place: the connection's; None for one that waits for no turns, or whose stream does so itself."""
        self._stream = stream
        self._socket = stream.socket if place is not None and isinstance(stream, trio.SocketStream) else None
        self._scheduler = scheduler
        self._place = place
        self._fresh = True  # nothing has been read: what a new connection is for has mostly come by now
        self._ahead: bytes | bytearray | None = None

    async def receive_some(self, max_bytes: int) -> bytes | bytearray:
        """The next bytes; none where the peer has ended its side. Cancelled, it has lost none.

        Of a new connection it is a checkpoint only where it has to wait.

        :raises trio.BrokenResourceError: the peer is gone.
        """
        if self._socket is not None:
            return await self._receive_from(self._socket, max_bytes)
        if self._place is None:
            return await self._stream.receive_some(max_bytes)
        if self._ahead is None:
            self._ahead = await self._stream.receive_some(max_bytes)
        await self._scheduler.wait_turn(self._place.source or PROXIES)
        data, self._ahead = self._ahead, None
        return data

    async def give_way(self) -> None:
        """Let others have their turns before more is answered of what has been read."""
        if self._place is not None and self._scheduler.is_loaded:
            await self._scheduler.wait_turn(self._place.source or PROXIES)
        else:
            await trio.lowlevel.checkpoint()

    async def _receive_from(self, socket: trio.socket.SocketType, max_bytes: int) -> bytes:
        assert self._place is not None
        while True:
            if self._fresh:
                self._fresh = False
                await self._take_turn()
            elif (crowd := self._crowd()) is not None:
                await crowd.wait(socket.fileno())
                self._scheduler.begin(self._place.source)
            else:
                await trio.lowlevel.wait_readable(socket)
                await self._take_turn()
            try:
                return os.read(socket.fileno(), max_bytes)
            except BlockingIOError:
                pass
            except OSError as error:
                raise trio.BrokenResourceError(f"cannot read: {error.strerror}") from error

    def _crowd(self) -> Crowd | None:
        """Where to wait for bytes with the many others of the address; None where they are not many."""
        place = self._place
        return None if place is None or place.neighbours < CROWD else self._scheduler.crowd_of(place.source)

    async def _take_turn(self) -> None:
        if self._scheduler.is_loaded:
            assert self._place is not None
            await self._scheduler.wait_turn(self._place.source or PROXIES)
