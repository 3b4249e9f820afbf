"""Frames: a 4-byte network-order signed length, then that many bytes. No I/O.

>>> decoder = FrameDecoder(limit=1024)
>>> decoder.feed(encode_frame(b'{"kind":"ping"}') + b"\\x00\\x00")
>>> decoder.next_frame()
b'{"kind":"ping"}'
>>> decoder.next_frame() is None, decoder.pending
(True, 2)
"""

from __future__ import annotations

import struct

from .errors import BadFrame

#: The default port of the protocol.
DEFAULT_PORT = 7100

#: Largest request body a server takes unless configured otherwise, in bytes: a PGN of some 100,000 moves.
DEFAULT_MAX_MESSAGE = 1 << 20

HEADER = struct.Struct(">i")
HEADER_SIZE = HEADER.size

#: Most bytes of taken frames that stay at the front of the buffer; more are removed at once.
MAX_TAKEN = 1 << 16


def encode_frame(body: bytes) -> bytes:
    """Return a body with its header, to be written in one call."""
    return HEADER.pack(len(body)) + body


class FrameDecoder:
    """A decoder that splits a byte stream into frame bodies.

    It holds at most one unfinished frame (4 + ``limit`` bytes) besides the bytes fed last: a length over the limit is
    refused as soon as its header has arrived, before any of the body is kept. No memory is reserved by length: memory
    grows with the bytes that arrive, and exceeds them by at most an eighth.

    :param limit: largest body accepted, in bytes.
    """

    def __init__(self, limit: int = DEFAULT_MAX_MESSAGE) -> None:
        self.limit = limit
        self._buffer = bytearray()
        self._start = 0  # where in the buffer the next frame begins

    def feed(self, data: bytes | bytearray) -> None:
        """Add bytes from the network, in pieces of any size."""
        if self._start:
            del self._buffer[: self._start]
            self._start = 0
        self._buffer += data

    def next_frame(self) -> bytes | None:
        """Return the next complete body; None if more bytes are needed.

        :raises BadFrame: the next header's length is not between 1 and the limit. Every later call raises this, too:
            nothing after a bad header can be read.
        """
        buffer, start = self._buffer, self._start
        body = start + HEADER_SIZE
        size = len(buffer)
        if size < body:
            return None
        (length,) = HEADER.unpack_from(buffer, start)
        if not 0 < length <= self.limit:
            raise BadFrame(
                f"frame length {length} is not between 1 and {self.limit}: "
                "send a 4-byte network-order length, then that many bytes of JSON"
            )
        end = body + length
        if size < end:
            return None
        frame = bytes(buffer[body:end])
        if end == size:
            buffer.clear()  # otherwise an idle session would hold the memory of its largest request
            end = 0
        elif end > MAX_TAKEN:
            del buffer[:end]  # otherwise a session that has begun another frame would hold it
            end = 0
        self._start = end
        return frame

    @property
    def pending(self) -> int:
        """The number of bytes held that belong to no taken frame."""
        return len(self._buffer) - self._start

    @property
    def held(self) -> int:
        """The bytes of memory that its buffer takes."""
        return self._buffer.__alloc__()

    def clear(self) -> None:
        """Discard all bytes that were fed and not taken."""
        self._buffer.clear()
        self._start = 0

    @property
    def ready(self) -> bool:
        """Whether :meth:`next_frame` would return a frame or raise."""
        if self.pending < HEADER.size:
            return False
        (length,) = HEADER.unpack_from(self._buffer, self._start)
        return not 0 < length <= self.limit or self.pending >= HEADER.size + int(length)

    def at_end(self) -> None:
        """Check that the stream has not ended inside a frame.

        :raises BadFrame: it has.
        """
        if self.pending:
            raise BadFrame(f"the connection ended inside a frame, {self.pending} bytes into it")
