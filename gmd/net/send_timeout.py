"""Sending with a timeout and a lowest rate at which the peer must read."""

from __future__ import annotations

from collections.abc import Callable

import trio
from msgspec import Struct

from gmd.net import loop_time
from gmd.net.loop_time import PatientScope

#: Bytes sent between two checks of the clock, and in one turn of the event loop: a larger send takes the kernel long.
PIECE = 65_536


class SendTimeout(Struct, frozen=True):
    """A timeout for every piece of a message, and a lowest rate over all pieces once the timeout has passed.

    :ivar seconds: the timeout.
    :ivar rate: bytes a second. Without it a slow reader could make the server keep a long reply for any length of time.
    """

    seconds: float
    rate: float


class Sending:
    """Sends messages to one peer, each within its timeout, one message at a time."""

    def __init__(self, stream: trio.abc.SendStream, send_timeout: SendTimeout) -> None:
        self._stream = stream
        self._timeout = send_timeout
        self._scope: PatientScope | None = None
        self._is_over = False

    async def send(self, data: bytes | memoryview, note_sent: Callable[[int], None] | None = None) -> None:
        """Send a message, in pieces.

        :param note_sent: called with the length of every piece after it was sent.
        :raises trio.BrokenResourceError: the peer is gone.
        :raises trio.TooSlowError: the peer reads too slowly, or :meth:`cut_off` was called.
        """
        begun, sent = loop_time.now(), 0
        for start in range(0, len(data), PIECE):
            piece = memoryview(data)[start : start + PIECE]
            sent += len(piece)
            with PatientScope(self._deadline(begun, sent)) as self._scope:
                if self._is_over:
                    self._scope.cancel()
                await self._stream.send_all(piece)
            if self._scope.cancelled_caught:
                raise trio.TooSlowError
            if note_sent is not None:
                note_sent(len(piece))
        self._scope = None

    def cut_off(self) -> None:
        """Stop the present send, and make all later ones fail."""
        self._is_over = True
        if self._scope is not None:
            self._scope.cancel()

    def _deadline(self, begun: float, sent: int) -> float:
        """Return when the peer must have read the first ``sent`` bytes of a message begun at a time."""
        seconds = self._timeout.seconds
        return min(loop_time.now(), begun + sent / self._timeout.rate) + seconds
