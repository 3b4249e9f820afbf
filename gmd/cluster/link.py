"""One connection between two daemons: envelopes, a sign of life, and what is posted in one turn leaves together.

The side that has connected is the caller (:mod:`gmd.cluster.calling`), the other the answerer
(:mod:`gmd.cluster.answering`).
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from contextlib import suppress

import msgspec
import trio

from gm_protocol.errors import BadFrame
from gm_protocol.framing import FrameDecoder
from gmd import loop_time
from gmd.logger import get_logger

from .link_messages import MAX_FRAME, Ask, Beat, Envelope, LinkMessage, decode_envelopes, encode, frames_of
from .turn_writes import TurnWrites

logger = get_logger(__name__)

#: Seconds between two signs of life of a side that has nothing to say; and seconds without any after which the
#: other side counts as dead: as long as a lease.
BEAT_SECONDS = 0.5
DEAD_SECONDS = 2.0
#: Bytes read at once, and written at once without a task of their own. (A larger buffer would be mapped and unmapped
#: each time.)
READ_SIZE = WRITE_SIZE = 65_536
#: Envelopes that are taken before other tasks get a turn.
ENVELOPES_A_TURN = 32
#: Bytes on their way out beyond which :meth:`Link.room` waits.
MAX_UNSENT = 4 << 20

#: Takes an envelope that has come.
Take = Callable[[Envelope], None]


class Link:
    """A connection after the handshake.

    :ivar is_open: whether envelopes can still be posted.
    """

    def __init__(
        self, stream: trio.abc.Stream, take: Take, *, answers: bool, turn_writes: TurnWrites | None = None
    ) -> None:
        """:param take: called with each envelope; it must not block.
        :param answers: whether this is the answerer's side. It reads nothing while too much is on its way out. The
            caller goes on reading, or both could wait for each other.
        :param turn_writes: writes to sockets at the ends of turns; without it a task does.
        """
        self._stream = stream
        self._socket = stream.socket if isinstance(stream, trio.SocketStream) else None
        self._take = take
        self._answers = answers
        self._posted: list[bytes] = []
        self._posted_size = 0
        self._rest = b""  # of what the socket has not taken at once
        self._writing = 0  # bytes that the link's own task is sending
        self._turn_writes = None if self._socket is None else turn_writes
        self._wakes_writer = trio.Event()
        self._has_room = trio.Event()
        self._heard = self._spoke = loop_time.now()
        self.is_open = True
        #: Called when the envelopes that were posted so far begin to be sent; and before, to post more.
        self.on_taken: Callable[[], None] = _nothing
        self.before_sending: Callable[[], None] = _nothing

    async def run(self) -> None:
        """Converse until the connection ends, breaks, or falls silent."""
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._until_end, self._write, nursery.cancel_scope)
                nursery.start_soon(self._until_end, self._beat, nursery.cancel_scope)
                await self._until_end(self._read, nursery.cancel_scope)
        finally:
            self.is_open = False
            self._has_room.set()
            self._socket = None

    def post(self, envelope: Envelope | Ask[LinkMessage]) -> None:
        """Send an envelope, together with what else is posted in this turn of the event loop."""
        self.post_encoded(encode(envelope))

    def post_encoded(self, envelope: bytes) -> None:
        """Do the same with an encoded one."""
        self._posted.append(envelope)
        self._posted_size += len(envelope)
        if len(self._posted) == 1:
            self.write_soon()

    def write_soon(self) -> None:
        """Have :attr:`before_sending` called at the end of this turn, and what was posted sent."""
        if self._turn_writes is None:
            self._wakes_writer.set()
        else:
            self._turn_writes.add(self)

    def wake(self) -> None:
        """Have the link's own task do that."""
        self._wakes_writer.set()

    @property
    def is_full(self) -> bool:
        """Whether more bytes are on their way out than should be."""
        return self._posted_size + len(self._rest) + self._writing > MAX_UNSENT

    async def room(self) -> None:
        """Return when there is room for more envelopes, or the connection has ended."""
        while self.is_full and self.is_open:
            if self._has_room.is_set():
                self._has_room = trio.Event()
            await self._has_room.wait()

    # --- The tasks ----------------------------------------------------------------------------------------------------

    async def _until_end(self, task: Callable[[], Awaitable[None]], scope: trio.CancelScope) -> None:
        """Run a task; when it returns, or the connection breaks, end the others."""
        with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
            await task()
        scope.cancel()

    async def _read(self) -> None:
        decoder = FrameDecoder(MAX_FRAME)
        while data := await self._receive():
            self._heard = loop_time.now()
            decoder.feed(data)
            try:
                await self._take_all(decoder)
            except (BadFrame, msgspec.DecodeError) as error:
                raise trio.BrokenResourceError(f"the other daemon sent what is no message: {error}") from error
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                raise
            except Exception as error:
                logger.exception("a link is closed because a message could not be taken")
                raise trio.BrokenResourceError("a message could not be taken") from error

    async def _receive(self) -> bytes | bytearray:
        """Return what has come; nothing where the other side has ended."""
        if self._socket is None:
            return await self._stream.receive_some(READ_SIZE)
        while True:
            if self._socket.fileno() < 0:  # trio would wait for a file descriptor of -1
                raise trio.ClosedResourceError("another task has closed this connection")
            await trio.lowlevel.wait_readable(self._socket)
            try:
                return os.read(self._socket.fileno(), READ_SIZE)  # trio would try this before it waits, too
            except BlockingIOError:
                continue
            except OSError as error:
                raise trio.BrokenResourceError(f"cannot read: {error.strerror}") from error

    async def _take_all(self, decoder: FrameDecoder) -> None:
        taken = 0
        while (frame := decoder.next_frame()) is not None:
            for envelope in decode_envelopes(frame):
                self._take(envelope)
                taken += 1
                if not taken % ENVELOPES_A_TURN:
                    await trio.lowlevel.checkpoint()
                    await self._until_read()
        await self._until_read()

    async def _until_read(self) -> None:
        """Wait while too much is on its way out: then the caller does not read, and must wait, too."""
        while self._answers and self.is_full and self.is_open:
            await self.room()

    def write_at_once(self) -> None:
        """Send what was posted as far as that needs no waiting. The link's own task sends the rest."""
        if self._writing or not self.is_open:
            return
        self.before_sending()
        if not self._has_unsent:
            return
        if self._socket is not None:
            data, count = self._unsent(), 0
            with suppress(OSError):  # the task meets the same error, if it is one
                count = os.write(self._socket.fileno(), data if len(data) <= WRITE_SIZE else data[:WRITE_SIZE])
            self._rest = data[count:]
        if self._has_unsent:
            trio.lowlevel.current_trio_token().run_sync_soon(self.wake)

    @property
    def _has_unsent(self) -> bool:
        return bool(self._posted or self._rest)

    def _unsent(self) -> bytes:
        """Take all bytes that were not sent."""
        data, self._rest = self._rest, b""
        if self._posted:
            self.on_taken()
            data += frames_of(self._posted, self._posted_size)
            self._posted, self._posted_size = [], 0
        self._spoke = loop_time.now()
        return data

    async def _write(self) -> None:
        while True:
            await self._wakes_writer.wait()
            self.before_sending()
            while self._has_unsent:
                data = self._unsent()
                self._writing = len(data)
                await self._stream.send_all(data)
                self._writing = 0
                if not self.is_full:
                    self._has_room.set()
                self.before_sending()
            self._wakes_writer = trio.Event()

    async def _beat(self) -> None:
        """Send a sign of life now and then; return when the other side has given none for too long.

        All links of a daemon do so in the same turns of its event loop: a turn that nothing else needs costs more than
        the sign. (The other daemon, whose links in both directions are with this one, takes two of them in one turn.)
        """
        while loop_time.now() - self._heard <= DEAD_SECONDS:
            await trio.sleep(BEAT_SECONDS - trio.current_time() % BEAT_SECONDS)
            if loop_time.now() - self._spoke >= BEAT_SECONDS / 2 and not self._has_unsent:
                self.post(Beat())


def _nothing() -> None:
    return
