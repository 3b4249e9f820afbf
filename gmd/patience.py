"""How long a peer may take over what it is sent."""

from __future__ import annotations

from collections.abc import Callable

import trio
from msgspec import Struct

from gmd import loop_time
from gmd.loop_time import PatientScope

#: Bytes sent between two looks at the clock, and in one turn of the event loop: the kernel takes its time over more.
PIECE = 65_536


class Patience(Struct, frozen=True):
    """So long for every piece; and over all pieces no slower than a rate, once so long has passed.

    :ivar seconds: so long.
    :ivar rate: bytes a second. Whoever reads slower could make the server keep a long reply for as long as it likes.
    """

    seconds: float
    rate: float


class Sending:
    """Sends to one peer with patience; one message at a time, be it of several pieces."""

    def __init__(self, stream: trio.abc.SendStream, patience: Patience) -> None:
        self._stream = stream
        self._patience = patience
        self._scope: PatientScope | None = None
        self._is_over = False

    async def send(self, data: bytes | memoryview, note_sent: Callable[[int], None] | None = None) -> None:
        """Send all of it.

        :param note_sent: told the length of every piece that was sent.
        :raises trio.BrokenResourceError: the peer is gone.
        :raises trio.TooSlowError: the peer is too slow, or the sending was cut off.
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
        """Send nothing more, neither of what is being sent nor of anything else."""
        self._is_over = True
        if self._scope is not None:
            self._scope.cancel()

    def _deadline(self, begun: float, sent: int) -> float:
        """When the peer must have taken so many bytes that are sent since a time."""
        seconds = self._patience.seconds
        return min(loop_time.now(), begun + sent / self._patience.rate) + seconds
