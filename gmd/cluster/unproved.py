"""The connections to the port for links that have not proved yet who they are: few in all, and from each address."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import trio

from gmd.addresses import source_of

#: Connections that may be in their handshake at a time, and those of one address. More are closed at once.
MAX_UNPROVED = 256
MAX_UNPROVED_FROM_ADDRESS = 64


class Unproved:
    """The connections that are in their handshake.

    A stranger who holds as many as one address may have keeps no other address out.
    """

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    @contextmanager
    def place(self, stream: trio.abc.Stream) -> Iterator[bool]:
        """Count a connection for as long as the context is open; it is False where there are too many already."""
        address = _address_of(stream)
        if self._counts.total() >= MAX_UNPROVED or self._counts[address] >= MAX_UNPROVED_FROM_ADDRESS:
            yield False
            return
        self._counts[address] += 1
        try:
            yield True
        finally:
            self._counts[address] -= 1
            if not self._counts[address]:
                del self._counts[address]


def _address_of(stream: trio.abc.Stream) -> str:
    """Return the address of the other end; an empty one for a stream that is no connection of the network."""
    if not isinstance(stream, trio.SocketStream):
        return ""
    try:
        host, port = stream.socket.getpeername()[:2]
    except OSError:  # it has ended already
        return ""
    return source_of(f"[{host}]:{port}" if ":" in host else f"{host}:{port}")
