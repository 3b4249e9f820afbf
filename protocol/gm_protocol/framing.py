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

#: Bytes of frames that were taken, and are still in front of what was not, beyond which they are thrown away at once.
MAX_TAKEN = 1 << 16


def encode_frame(body: bytes) -> bytes:
    """``body`` with its header before it, to be written in one call."""
    return HEADER.pack(len(body)) + body


class FrameDecoder:
    """Cuts a byte stream into frame bodies.

    Holds at most one unfinished frame (4 + ``limit`` bytes) besides what was last fed: a length over the limit is
    refused as soon as its header is there, before any of its body is kept. A length reserves nothing: memory grows with
    the bytes that come, and is at most an eighth more than they.

    :param limit: largest body accepted, in bytes.
    """

    def __init__(self, limit: int = DEFAULT_MAX_MESSAGE) -> None:
        self.limit = limit
        self._buffer = bytearray()
        self._start = 0  # where in the buffer the next frame begins

    def feed(self, data: bytes | bytearray) -> None:
        """Add bytes as they came from the network, cut anywhere."""
        if self._start:
            del self._buffer[: self._start]
            self._start = 0
        self._buffer += data

    def next_frame(self) -> bytes | None:
        """The next whole body, or None while more bytes are needed.

        :raises BadFrame: the next header's length is not between 1 and the limit. Every later call raises again:
            nothing behind a bad header can be read.
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
            buffer.clear()  # or an idle session would hold its largest request for as long as it idles
            end = 0
        elif end > MAX_TAKEN:
            del buffer[:end]  # or one that has begun another frame would
            end = 0
        self._start = end
        return frame

    @property
    def pending(self) -> int:
        """Bytes held that no frame has been made of yet."""
        return len(self._buffer) - self._start

    @property
    def held(self) -> int:
        """Bytes of memory that its buffer takes."""
        return self._buffer.__alloc__()

    def clear(self) -> None:
        """Forget all that was fed and not taken."""
        self._buffer.clear()
        self._start = 0

    @property
    def ready(self) -> bool:
        """Whether :meth:`next_frame` would give a frame, or raise."""
        if self.pending < HEADER.size:
            return False
        (length,) = HEADER.unpack_from(self._buffer, self._start)
        return not 0 < length <= self.limit or self.pending >= HEADER.size + int(length)

    def at_end(self) -> None:
        """The stream has ended.

        :raises BadFrame: it ended inside a frame.
        """
        if self.pending:
            raise BadFrame(f"the connection ended inside a frame, {self.pending} bytes into it")
