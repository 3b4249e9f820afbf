"""Replies on their way out of a session: in order, and none before what it shows is durable."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from contextlib import suppress

import trio

from gm_protocol.framing import HEADER
from gmd import loop_time
from gmd.dispatch import PendingReply, finish
from gmd.memory_ledger import Account
from gmd.metrics import Metrics
from gmd.patience import PIECE, Patience, Sending
from gmd.requests.session import ClientSession


class ReplyBatch:
    """Replies that leave together, once all of them may.

    :ivar replies: each a frame.
    :ivar size: their bytes.
    :ivar awaited: how many of them may not leave yet.
    """

    __slots__ = ("_outbox", "awaited", "replies", "size")

    def __init__(self, outbox: Outbox) -> None:
        self._outbox = outbox
        self.replies: list[PendingReply] = []
        self.size = 0
        self.awaited = 0

    def add(self, reply: PendingReply, client: ClientSession) -> None:
        """Have a reply leave with the others."""
        self.replies.append(reply)
        self.size += len(reply.body)
        if not finish(reply, client, self.leave):
            self.awaited += 1

    @property
    def about_game(self) -> PendingReply | None:
        """The last of them that is about a game."""
        return next((reply for reply in reversed(self.replies) if reply.live is not None), None)

    def leave(self) -> None:
        """One of them, which might not leave, may now."""
        self.awaited -= 1
        if not self.awaited:
            self._outbox.release(self)


class Outbox:
    """Sends replies as soon as they may leave. Where the peer has room for them, that wakes no task.

    :ivar sent_at: when replies last left, in the loop's time.
    :ivar replies: how many were let go.
    :ivar bytes_out: how many bytes were sent.
    :ivar lots: how many lots were put in.
    :ivar sent: how many of them were sent.
    :ivar is_whole: whether everything that was put in was sent, or still will be.
    """

    def __init__(
        self, stream: trio.abc.Stream, patience: Patience, wake: Callable[[], None], metrics: Metrics, account: Account
    ) -> None:
        """:param patience: how long a peer may take for what is sent.
        :param wake: called where something is to be sent that takes waiting: then somebody is to call :meth:`send`.
        :param account: the session's, where its replies are counted while it holds them.
        """
        self._socket = stream.socket if isinstance(stream, trio.SocketStream) else None
        self._stalled = Sending(stream, patience)
        self._account = account
        self._wake = wake
        self._metrics = metrics
        self.replies = 0
        self.bytes_out = 0
        self.batches = 0
        self.sent = 0
        self.is_whole = True
        self._held_size = self._unsent_size = 0  # bytes of replies that may not leave yet, and that may
        self._batches: deque[ReplyBatch] = deque()
        self._unsent: list[bytes | memoryview] = []
        self._sending = False
        self._settled = trio.Event()
        self.sent_at = loop_time.now()

    def __len__(self) -> int:
        """How many lots are held."""
        return len(self._batches)

    @property
    def size(self) -> int:
        """Bytes of replies that were put in and not sent."""
        return self._held_size + self._unsent_size

    @property
    def blocked(self) -> bool:
        """Whether something is to be sent that takes waiting."""
        return bool(self._unsent)

    def put_last_words(self, error: PendingReply, client: ClientSession) -> None:
        """Send an error that answers no request, behind everything else."""
        batch = ReplyBatch(self)
        batch.add(error, client)
        self.put(batch)

    def put(self, batch: ReplyBatch) -> None:
        """Send a batch, behind those that were put in before."""
        if not batch.replies or not self.is_whole:
            return
        self._batches.append(batch)
        self.batches += 1
        self._held_size += batch.size
        if not batch.awaited and len(self._batches) == 1:
            self._send_free()
        self._account.hold_replies(self.size)

    def release(self, batch: ReplyBatch) -> None:
        """Send a batch that may leave now, and those behind it that may, unless there is another one before it."""
        if self._batches and self._batches[0] is batch:
            self._send_free()
            self._account.hold_replies(self.size)
            self._settled.set()

    async def send(self) -> None:
        """Send what the peer had no room for.

        :raises trio.BrokenResourceError: the peer is gone.
        :raises trio.TooSlowError: the peer is too slow, or was cut off.
        """
        self._sending = True
        while self._unsent:
            data = self._unsent[0] if len(self._unsent) == 1 else b"".join(self._unsent)
            self._unsent = []
            await self._stalled.send(data, self._note_sent)
            if not self.is_whole:
                raise trio.TooSlowError
            self._unsent_size -= len(data)
            self._account.hold_replies(self.size)
        self._sending = False
        self.sent_at = loop_time.now()
        self.sent = self.batches - len(self._batches)

    async def drain(self) -> None:
        """Send everything; raises what :meth:`send` does."""
        while self._batches or self._unsent:
            if self._unsent:
                await self.send()
            else:
                self._settled = trio.Event()
                await self._settled.wait()

    def abandon(self) -> None:
        """Let go of all that is held. What comes behind it is sent only if no reply is broken off in its middle."""
        if self.blocked or self._sending:
            self.is_whole = False
            self._stalled.cut_off()
        for batch in self._batches:
            for pending in batch.replies:
                pending.body = b""  # its commit has it until that is settled
        self._batches.clear()
        self._unsent = []
        self._held_size = self._unsent_size = 0
        self._settled.set()

    def close(self) -> None:
        """Send nothing more: the stream is somebody else's, or nobody's."""
        self._batches.clear()
        self._socket = None

    def _send_free(self) -> None:
        """Send all that may leave."""
        free: list[bytes] = []
        now = loop_time.now()
        while self._batches and not self._batches[0].awaited:
            batch = self._batches.popleft()
            self._held_size -= batch.size
            for pending in batch.replies:
                body = pending.body
                free += HEADER.pack(len(body)), body  # not one bytes object: it is copied once, by the join below
            if (since := batch.replies[-1].since) is not None:
                self.replies += len(batch.replies)
                self._metrics.latency.observe(now - since, len(batch.replies))
        self._unsent += free
        if self._sending:
            self._unsent_size += sum(map(len, free))
        else:
            self._send_now()

    def _send_now(self) -> None:
        """Send as much as the peer has room for, of a long reply a piece; the rest takes waiting."""
        data = b"".join(self._unsent)
        sent = 0
        if self._socket is not None:
            with suppress(OSError):
                sent = os.write(self._socket.fileno(), data if len(data) <= PIECE else memoryview(data)[:PIECE])
                self._note_sent(sent)
        self.sent_at = loop_time.now()
        self._unsent = [] if sent == len(data) else [memoryview(data)[sent:]]
        self._unsent_size = len(data) - sent
        if self._unsent:
            self._wake()
        else:
            self.sent = self.batches - len(self._batches)

    def _note_sent(self, count: int) -> None:
        self.bytes_out += count
        self._metrics.bytes_out += count
