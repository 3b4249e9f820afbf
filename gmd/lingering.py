"""Closing without losing the last reply.

A socket that is closed with input unread, or that gets input after it was closed, answers with a reset, and a reset
may destroy what its peer has not read yet. So a connection that has had its last reply is shut down for writing at
once, which its client sees as the end, and what it still sends is read and thrown away for a while.

One task does this for all of them by looking at each now and then: waiting on every socket would cost a version 1
session, which is one request long, a tenth of its time.

Whoever wants to know whether the peer has that reply is told so when the peer ends its side, or at the limits; unless
the connection was reset, or the peer's machine has not acknowledged all that was sent.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from fcntl import ioctl
from termios import TIOCOUTQ
from time import perf_counter

import trio

#: How long, and how much, a connection is read on.
LINGER_SECONDS = 2.0
LINGER_BYTES = 1 << 20
#: Time between two looks; and how long one may take, after which the next goes on with the others.
LOOK_SECONDS = 0.02
LONGEST_LOOK = 0.001
#: Bytes read of a connection in a look.
READ_SIZE = 65_536
#: Connections read on at once, unless fewer are said. Beyond that the oldest is closed as it is: they hold descriptors
#: that others need.
MAX_LINGERING = 1_024


@dataclass(slots=True)
class _Farewell:
    deadline: float
    #: To be called once the peer has its last reply, if somebody wants to know.
    received: Callable[[], None] | None
    bytes_left: int = LINGER_BYTES


class LingeringCloser:
    """The connections that have had their last reply, by their descriptors."""

    def __init__(self, most: int = MAX_LINGERING) -> None:
        """:param most: connections read on at once."""
        self._most = most
        self._lingering: dict[int, _Farewell] = {}
        self._to_look_at: list[int] = []
        self._some = trio.Event()
        self._none = trio.Event()
        self._ended = False

    def __len__(self) -> int:
        return len(self._lingering)

    def take(self, stream: trio.SocketStream, received: Callable[[], None] | None = None) -> None:
        """End a connection's sending side now, and close it when its peer has closed too, or at the limits.

        :param received: called before, if the peer has the last reply. If it has ended its side before it can have got
            it, the connection stays open, within the limits, until its machine has it.

        The stream has lost its socket when this returns; closing it does nothing any more. Once :meth:`run` has ended,
        the stream keeps it.
        """
        try:
            stream.socket.shutdown(trio.socket.SHUT_WR)
        except OSError:
            return  # the peer is gone: whoever opened the stream closes it
        if self._ended:
            return
        if len(self._lingering) >= self._most:
            self._close(next(iter(self._lingering)))
        self._lingering[stream.socket.detach()] = _Farewell(trio.current_time() + LINGER_SECONDS, received)
        self._some.set()

    async def run(self) -> None:
        """Look after them until cancelled, then close them all."""
        try:
            while True:
                await self._some.wait()
                while self._lingering:
                    await trio.sleep(LOOK_SECONDS)
                    self._look()
                self._some = trio.Event()
                self._none.set()
                self._none = trio.Event()
        finally:
            self._ended = True
            for descriptor in list(self._lingering):
                self._close(descriptor)

    async def wait_none(self) -> None:
        """Return once no connection is lingering."""
        if self._lingering:
            await self._none.wait()

    def _look(self) -> None:
        """Look at each, or at as many as there is time for."""
        self._to_look_at = self._to_look_at or list(reversed(self._lingering))
        now, until = trio.current_time(), perf_counter() + LONGEST_LOOK
        while self._to_look_at and perf_counter() < until:
            descriptor = self._to_look_at.pop()
            farewell = self._lingering.get(descriptor)
            if farewell is not None and (_has_ended(descriptor, farewell) or now >= farewell.deadline):
                self._close(descriptor)

    def _close(self, descriptor: int) -> None:
        received = self._lingering.pop(descriptor).received
        is_received = received is not None and _is_delivered(descriptor)
        os.close(descriptor)
        if received is not None and is_received:
            received()


def _has_ended(descriptor: int, farewell: _Farewell) -> bool:
    """Read some of what there is; whether that was the last of it, or is enough."""
    try:
        read = len(os.read(descriptor, READ_SIZE))
    except BlockingIOError:
        return False
    except OSError:
        farewell.received = None  # the peer has reset the connection
        return True
    if read == 0:
        return farewell.received is None or _is_delivered(descriptor)
    farewell.bytes_left -= read
    return farewell.bytes_left <= 0


def _is_delivered(descriptor: int) -> bool:
    """Whether the peer's machine has acknowledged all that was sent; taken for granted where that cannot be asked."""
    try:
        return not any(ioctl(descriptor, TIOCOUTQ, bytes(4)))
    except OSError:
        return True
