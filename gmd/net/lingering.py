"""Lingering close: closing a connection without losing the last reply.

A socket that is closed with input unread, or that gets input after it was closed, answers with a reset. A reset may
destroy data that the peer has not read yet. So after its last reply a connection is shut down for writing at once,
which the client sees as the end of the stream. For a while, its further input is read and discarded.

One task polls all lingering connections: waiting on every socket would cost a version 1 session, which is one request
long, a tenth of its time.

A caller that needs to know whether the peer has the last reply gets a callback when the peer ends its side, or at the
limits. There is none if the connection was reset, or if the peer's machine has not acknowledged all that was sent.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from fcntl import ioctl
from termios import TIOCOUTQ
from time import perf_counter

import trio

#: How long a connection lingers, in seconds, and how many bytes of its input are discarded, at most.
LINGER_SECONDS = 2.0
LINGER_BYTES = 1 << 20
#: Seconds between two polls; and how long a poll may take: the next one continues with the remaining connections.
LOOK_SECONDS = 0.02
LONGEST_LOOK = 0.001
#: Bytes read from a connection in a poll.
READ_SIZE = 65_536
#: Default of the connections that linger at once. Beyond that the oldest is closed at once, because lingering
#: connections hold descriptors that others need.
MAX_LINGERING = 1_024


@dataclass(slots=True)
class _Lingering:
    deadline: float
    #: Called once the peer has its last reply; None if no caller needs to know.
    received: Callable[[], None] | None
    bytes_left: int = LINGER_BYTES


class LingeringCloser:
    """Closes connections after their last reply, as the module describes."""

    def __init__(self, most: int = MAX_LINGERING) -> None:
        """:param most: connections that may linger at once."""
        self._most = most
        self._lingering: dict[int, _Lingering] = {}
        self._to_look_at: list[int] = []
        self._some = trio.Event()
        self._none = trio.Event()
        self._ended = False

    def __len__(self) -> int:
        return len(self._lingering)

    def take(self, stream: trio.SocketStream, received: Callable[[], None] | None = None) -> None:
        """Shut a connection down for writing now, and close it when its peer has closed too, or at the limits.

        The stream has lost its socket when this returns, and closing the stream has no effect. After :meth:`run` has
        ended, the stream keeps its socket.

        :param received: called before the close if the peer has the last reply. If the peer ended its side before the
            reply reached it, the connection stays open, within the limits, until the peer's machine acknowledges it.
        """
        try:
            stream.socket.shutdown(trio.socket.SHUT_WR)
        except OSError:
            return  # the peer is gone; the stream's owner closes it
        if self._ended:
            return
        if len(self._lingering) >= self._most:
            self._close(next(iter(self._lingering)))
        self._lingering[stream.socket.detach()] = _Lingering(trio.current_time() + LINGER_SECONDS, received)
        self._some.set()

    async def run(self) -> None:
        """Poll the lingering connections until cancelled, then close them all."""
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
        """Return once no connection lingers."""
        if self._lingering:
            await self._none.wait()

    def _look(self) -> None:
        """Poll each connection, or as many as there is time for."""
        self._to_look_at = self._to_look_at or list(reversed(self._lingering))
        now, until = trio.current_time(), perf_counter() + LONGEST_LOOK
        while self._to_look_at and perf_counter() < until:
            descriptor = self._to_look_at.pop()
            lingering = self._lingering.get(descriptor)
            if lingering is not None and (_has_ended(descriptor, lingering) or now >= lingering.deadline):
                self._close(descriptor)

    def _close(self, descriptor: int) -> None:
        received = self._lingering.pop(descriptor).received
        is_received = received is not None and _is_delivered(descriptor)
        os.close(descriptor)
        if received is not None and is_received:
            received()


def _has_ended(descriptor: int, lingering: _Lingering) -> bool:
    """Read some input; return whether the peer has ended its side or has sent as much as is discarded."""
    try:
        read = len(os.read(descriptor, READ_SIZE))
    except BlockingIOError:
        return False
    except OSError:
        lingering.received = None  # the peer has reset the connection
        return True
    if read == 0:
        return lingering.received is None or _is_delivered(descriptor)
    lingering.bytes_left -= read
    return lingering.bytes_left <= 0


def _is_delivered(descriptor: int) -> bool:
    """Return whether the peer's machine has acknowledged all that was sent; True where the system cannot tell."""
    try:
        return not any(ioctl(descriptor, TIOCOUTQ, bytes(4)))
    except OSError:
        return True
