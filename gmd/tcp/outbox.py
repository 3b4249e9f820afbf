"""The replies of a session on their way out: in order, and none before what it shows is durable. No I/O."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Protocol

from gm_protocol.framing import HEADER
from gmd.net.metrics import Metrics


class Reply(Protocol):
    """An encoded reply.

    :ivar since: since when it could be given, in seconds; None for the last words of a session, which answer nothing.
    """

    body: bytes
    since: float | None


class ReplyBatch:
    """Replies that leave together, once all of them may.

    :ivar replies: the replies, each a frame.
    :ivar size: their bytes.
    :ivar awaited: how many of them may not leave yet.
    """

    __slots__ = ("_outbox", "awaited", "replies", "size")

    def __init__(self, outbox: Outbox) -> None:
        self._outbox = outbox
        self.replies: list[Reply] = []
        self.size = 0
        self.awaited = 0

    def add(self, reply: Reply, *, may_leave: bool) -> None:
        """Add a reply.

        :param may_leave: whether it may leave at once; else :meth:`leave` is called when it may.
        """
        self.replies.append(reply)
        self.size += len(reply.body)
        if not may_leave:
            self.awaited += 1

    def leave(self) -> None:
        """Let a reply leave that could not when it was added."""
        self.awaited -= 1
        if not self.awaited:
            self._outbox.settle(self)


class Outbox:
    """The replies of one session that were put in and not sent. Times are in seconds.

    :ivar batches: how many batches were put in.
    :ivar sent: how many of them were sent.
    :ivar sent_at: when replies last left.
    :ivar replies: how many replies were allowed to leave, last words excepted.
    :ivar is_whole: whether everything that was put in was sent, or still will be: no reply was broken off.
    """

    __slots__ = (
        *("_held", "_held_size", "_metrics", "_sending", "_settled", "_unsent", "_unsent_size"),
        *("batches", "is_whole", "replies", "sent", "sent_at"),
    )

    def __init__(self, metrics: Metrics, now: float, settled: Callable[[], None]) -> None:
        """:param settled: called when batches that were held may leave."""
        self._metrics = metrics
        self._settled = settled
        self.batches = 0
        self.sent = 0
        self.sent_at = now
        self.replies = 0
        self.is_whole = True
        self._held: deque[ReplyBatch] = deque()
        self._held_size = self._unsent_size = 0  # bytes of replies that may not leave yet, and of those that may
        self._unsent: list[bytes | memoryview] = []
        self._sending = False

    def __len__(self) -> int:
        """Return how many batches are held."""
        return len(self._held)

    @property
    def size(self) -> int:
        """Bytes of replies that were put in and not sent."""
        return self._held_size + self._unsent_size

    @property
    def blocked(self) -> bool:
        """Whether replies may leave that the peer has no room for."""
        return bool(self._unsent)

    @property
    def is_empty(self) -> bool:
        """Whether everything was sent that was put in."""
        return not self._held and not self._unsent

    def put(self, batch: ReplyBatch) -> bool:
        """Put a batch behind those that were put in before; return whether it may leave now."""
        if not batch.replies or not self.is_whole:
            return False
        self._held.append(batch)
        self.batches += 1
        self._held_size += batch.size
        return not batch.awaited and len(self._held) == 1

    def settle(self, batch: ReplyBatch) -> None:
        """Note that a batch may leave now: it does, unless one before it may not."""
        if self._held and self._held[0] is batch:
            self._settled()

    def release(self, now: float) -> bool:
        """Release all batches that may leave; return whether they are to be sent now.

        Otherwise the sending that has begun takes them along.
        """
        free: list[bytes] = []
        while self._held and not self._held[0].awaited:
            batch = self._held.popleft()
            self._held_size -= batch.size
            for reply in batch.replies:
                body = reply.body
                free += HEADER.pack(len(body)), body  # not one bytes object: it is copied once, when they are joined
            if (since := batch.replies[-1].since) is not None:
                self.replies += len(batch.replies)
                self._metrics.latency.observe(now - since, len(batch.replies))
        self._unsent += free
        if self._sending:
            self._unsent_size += sum(map(len, free))
        return not self._sending

    def unsent(self) -> bytes:
        """Return all bytes that may leave. :meth:`wrote` says how many of them did."""
        return b"".join(self._unsent)

    def wrote(self, data: bytes, count: int, now: float) -> None:
        """Note that of :meth:`unsent` so many bytes were written at once; the rest waits for room."""
        self.sent_at = now
        self._unsent = [] if count == len(data) else [memoryview(data)[count:]]
        self._unsent_size = len(data) - count
        if not self._unsent:
            self.sent = self.batches - len(self._held)

    def begin_sending(self) -> bytes | memoryview:
        """Take the bytes that wait for room, to be sent however long that takes; then call :meth:`end_sending`."""
        self._sending = True
        data = self._unsent[0] if len(self._unsent) == 1 else b"".join(self._unsent)
        self._unsent = []
        return data

    def end_sending(self, data: bytes | memoryview, now: float) -> None:
        """Note that what :meth:`begin_sending` gave was sent."""
        self._unsent_size -= len(data)
        if not self._unsent:
            self._sending = False
            self.sent_at = now
            self.sent = self.batches - len(self._held)

    def abandon(self) -> None:
        """Drop all that is held. Later batches are sent only if no reply is broken off in its middle."""
        if self.blocked or self._sending:
            self.is_whole = False
        for batch in self._held:
            for pending in batch.replies:
                pending.body = b""  # its commit holds the reply until it is settled
        self.close()
        self._unsent = []
        self._held_size = self._unsent_size = 0

    def close(self) -> None:
        """Forget the batches that are held: none is released any more."""
        self._held.clear()
