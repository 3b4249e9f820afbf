"""Replies on their way out of a session: in order, and none before what it shows is durable."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial

import trio
from msgspec import Struct

from gm_protocol.errors import GmError
from gm_protocol.framing import HEADER
from gm_protocol.messages import AnyRequest
from gmd import dispatch, loop_time
from gmd.event_log.interface import Commit
from gmd.memory_ledger import Account
from gmd.patience import Patience, Sending
from gmd.requests.call import Call


class PendingReply(Struct, frozen=True, gc=False):
    """A reply, by its place in a lot, that may not leave before a commit is durable."""

    place: int
    request: AnyRequest
    commit: Commit
    #: Why the request was refused, if it was.
    code: str | None


class _ReplyBatch(Struct, eq=False):
    """Replies that leave together."""

    replies: list[bytes]
    held: Sequence[PendingReply]
    #: When the last byte of their requests was read, in the loop's time; None where they answer none.
    arrived: float | None
    #: Their bytes.
    size: int
    #: How many commits are still to be settled.
    awaited: int = 0


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
        self, stream: trio.abc.Stream, patience: Patience, wake: Callable[[], None], call: Call, account: Account
    ) -> None:
        """:param patience: how long a peer may take for what is sent.
        :param wake: called where something is to be sent that takes waiting: then somebody is to call :meth:`send`.
        :param call: the session's, where its requests are counted.
        :param account: the session's, where its replies are counted while it holds them.
        """
        self._socket = stream.socket if isinstance(stream, trio.SocketStream) else None
        self._stalled = Sending(stream, patience)
        self._account = account
        self._wake = wake
        self._call = call
        self.replies = 0
        self.bytes_out = 0
        self.batches = 0
        self.sent = 0
        self.is_whole = True
        self._held_size = self._unsent_size = 0  # bytes of replies that may not leave yet, and that may
        self._batches: deque[_ReplyBatch] = deque()
        self._unsent: list[bytes] = []
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

    def put_last_words(self, error: bytes) -> None:
        """Send an error that answers no request, behind everything else."""
        self._put(_ReplyBatch([error], (), None, len(error)))

    def put(self, replies: list[bytes], held: Sequence[PendingReply] = ()) -> None:
        """Send replies together, each a frame, once what they tell is durable, or an error for what never will be."""
        if replies:
            self._put(_ReplyBatch(replies, held, self._call.arrived, sum(map(len, replies))))

    def _put(self, batch: _ReplyBatch) -> None:
        if not self.is_whole:
            return
        self._batches.append(batch)
        self.batches += 1
        self._held_size += batch.size
        if batch.held:
            commits = {each.commit for each in batch.held}
            batch.awaited = len(commits)
            for commit in commits:
                commit.then(partial(self._settle, batch, commit))
        elif len(self._batches) == 1:
            self._send_free()
        self._account.hold_replies(self.size)

    async def send(self) -> None:
        """Send what the peer had no room for.

        :raises trio.BrokenResourceError: the peer is gone.
        :raises trio.TooSlowError: the peer is too slow, or was cut off.
        """
        self._sending = True
        while self._unsent:
            data, self._unsent = b"".join(self._unsent), []
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
            batch.replies = [b""] * len(batch.replies)  # its commits have the lot until they are settled
        self._batches.clear()
        self._unsent = []
        self._held_size = self._unsent_size = 0
        self._settled.set()

    def close(self) -> None:
        """Send nothing more: the stream is somebody else's, or nobody's."""
        self._batches.clear()
        self._socket = None

    def _settle(self, batch: _ReplyBatch, commit: Commit, error: GmError | None) -> None:
        """A commit is durable or has failed."""
        for held in batch.held:
            if held.commit is not commit:
                continue
            if error is not None:
                batch.replies[held.place] = dispatch.fail(held.request, error, self._call)
            else:
                dispatch.count(held.request, held.code, self._call)
        batch.awaited -= 1
        if not batch.awaited and self._batches and self._batches[0] is batch:
            self._send_free()
            self._account.hold_replies(self.size)
            self._settled.set()

    def _send_free(self) -> None:
        """Send all that may leave."""
        free: list[bytes] = []
        now = loop_time.now()
        while self._batches and not self._batches[0].awaited:
            batch = self._batches.popleft()
            self._held_size -= batch.size
            for reply in batch.replies:
                free += HEADER.pack(len(reply)), reply  # not one bytes object: it is copied once, by the join below
            if batch.arrived is not None:
                self.replies += len(batch.replies)
                self._call.services.metrics.latency.observe(now - batch.arrived, len(batch.replies))
        self._unsent += free
        if self._sending:
            self._unsent_size += sum(map(len, free))
        else:
            self._send_now()

    def _send_now(self) -> None:
        """Send as much as the peer has room for; the rest takes waiting, and finds out if it is gone."""
        data = b"".join(self._unsent)
        sent = 0
        if self._socket is not None:
            with suppress(OSError):
                sent = os.write(self._socket.fileno(), data)
                self._note_sent(sent)
        self.sent_at = loop_time.now()
        self._unsent = [] if sent == len(data) else [data[sent:]]
        self._unsent_size = len(data) - sent
        if self._unsent:
            self._wake()
        else:
            self.sent = self.batches - len(self._batches)

    def _note_sent(self, count: int) -> None:
        self.bytes_out += count
        self._call.services.metrics.bytes_out += count
