"""One connection: frames in, replies out, in order."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from math import inf
from time import perf_counter

import trio

from gm_protocol.codec import InvalidRequest, decode_request
from gm_protocol.errors import BadFrame, GmError, ShuttingDown, TooMany
from gm_protocol.framing import FrameDecoder
from gm_protocol.messages import AnyRequest, Hello, Wait
from gmd import dispatch, loop_time
from gmd.dispatch import PendingReply
from gmd.fair_reader import FairReader
from gmd.loop_time import PatientScope
from gmd.places import Place
from gmd.players.presence import Visit
from gmd.requests.session import Authority, ClientSession
from gmd.services import Services
from gmd.tls import TlsStream
from gmd.watchers import Subscription

from .endings import ANSWERED, CUT_OFF, STALLED
from .outbox import Outbox, ReplyBatch
from .seat import Seat
from .singles import Singles

#: Bytes asked of the network at once.
READ_SIZE = 65_536
#: Requests answered, and seconds spent on them, before the replies are sent and everybody else gets a turn.
BATCH = 32
BATCH_SECONDS = 0.002
#: Bytes of replies after which a batch is over, and which may be held, or not taken, while requests behind them are
#: answered: a connection makes the server hold this much, and one reply more.
MAX_REPLY_BYTES = 65_536
#: Bytes from which a request counts on while it is answered, for that may take long.
LARGE_REQUEST = 65_536
#: Batches of replies that may be held until what they show is durable, while requests behind them are answered. More
#: would not fit into one commit any better.
MAX_HELD = 4


class Session:
    """A conversation on a stream, from its first byte to its last reply. Whoever opened the stream closes it.

    :ivar client: who is at its other end.
    :ivar opened: when it began, in the loop's time.
    :ivar version: of the protocol, 1 or 2, once the first message has told; 0 before.
    :ivar ended_by: what ended it, in a word; a code of the protocol where that was an error.
    """

    def __init__(
        self,
        stream: trio.abc.Stream,
        services: Services,
        authority: Authority = Authority.CLIENT,
        *,
        peer: str = "",
        place: Place | None = None,
    ) -> None:
        """:param place: is told what the session does with it."""
        takes_no_turns = isinstance(stream, TlsStream) or authority is Authority.OPERATOR
        self._reader = FairReader(stream, services.scheduler, None if takes_no_turns else place)
        self._seat = Seat(place)
        self._socket = stream.socket if isinstance(stream, trio.SocketStream) else None
        self._limits = services.limits
        self._decoder = FrameDecoder(services.limits.max_message)
        self._metrics = services.metrics
        self.client = ClientSession(
            services,
            authority,
            peer=peer,
            strict=False,
            visit=None if authority is Authority.OPERATOR else Visit(services.authenticator.presence),
            replies_sent=lambda: self._outbox.batches,
            attending=self._attending,
        )
        self._arrived = 0.0  # when the requests at hand did, in the loop's time
        self.bytes_in = 0
        self.version = 0
        self.ended_by = CUT_OFF
        self._ended = False  # the peer has sent all it will
        self._stopping = ""  # why it is to end, once it is
        self._evicted: TooMany | None = None  # its last words, where its place is another's
        self._receiving: PatientScope | None = None
        self._subscription: Subscription | None = None  # of the wait under way
        self._singles = Singles()
        self._account = services.memory.open(peer, self._cut_off)
        self._cut: TooMany | None = None  # why it was cut off, once it was
        self._answering: trio.CancelScope | None = None  # a large request
        self._outbox = Outbox(stream, services.patience, self._interrupt, services.metrics, self._account)
        self.opened = self._read_at = loop_time.now()  # when bytes last came
        self._begun: float | None = self._read_at  # when the frame that is still to be completed began

    @property
    def requests(self) -> int:
        """How many it has answered, refusals among them."""
        return self._outbox.replies

    @property
    def bytes_out(self) -> int:
        """How many bytes it has sent."""
        return self._outbox.bytes_out

    def stop(self, why: str = "stopping") -> None:
        """Answer what has been received, a wait as at its timeout, then close.

        :param why: what it is then said to have ended by.
        """
        self._stopping = why
        if self._subscription is not None:
            self._subscription.interrupt()
        self._interrupt()

    def evict(self, error: TooMany) -> None:
        """Answer what has been received, a wait as at its timeout, then say why and close."""
        self._evicted = error
        self.stop(error.code)

    def release(self) -> None:
        """Let go of its parts once nobody asks it anything more.

        They refer to it. A version 1 session is one request long, and the garbage collector, which would have to find
        them, took a tenth of its time.
        """
        del self._account, self.client, self._outbox

    def _cut_off(self, why: TooMany) -> None:
        """Let go of all bytes, and end: they are too many."""
        self._cut = why
        self._decoder.clear()
        self._outbox.abandon()
        if self._answering is not None:
            self._answering.cancel()
        if self._subscription is not None:
            self._subscription.interrupt()
        self._interrupt()

    def _interrupt(self) -> None:
        """Stop waiting for bytes: there is something to do."""
        if self._receiving is not None:
            self._receiving.cancel()

    async def run(self) -> None:
        """Converse until either side ends it, or the peer has its last reply.

        :raises trio.BrokenResourceError: the peer is gone.
        :raises trio.TooSlowError: the peer is too slow, or was cut off in the middle of a reply.
        """
        try:
            try:
                self.ended_by = await self._converse()
            except GmError as error:
                self.ended_by = error.code
                self._outbox.put_last_words(dispatch.refuse(InvalidRequest(error)), self.client)
            await self._outbox.drain()
        except trio.Cancelled:
            if self._evicted is not None:
                self.ended_by = self._evicted.code
            raise
        except trio.TooSlowError:
            self.ended_by = STALLED if self._cut is None else self._cut.code
            raise
        finally:
            self._account.close()
            self.client.leave()
            self._outbox.close()

    async def _converse(self) -> str:
        """Answer request after request; why there is no other.

        :raises BadFrame: nothing more can be read.
        :raises ShuttingDown: the server stops inside a frame.
        :raises TooMany: its place is another's, or it was cut off.
        :raises trio.TooSlowError: it was cut off in the middle of a reply.
        """
        while True:
            if self._cut is not None:
                raise self._cut if self._outbox.is_whole else trio.TooSlowError
            if self._outbox.blocked:
                await self._outbox.send()
            body = self._decoder.next_frame()
            if body is not None:
                await self._answer_batch(body)
                if self.version == 1:
                    return ANSWERED
            elif self._ended:
                self._decoder.at_end()
                return "client_closed"
            elif self._evicted is not None:
                raise self._evicted
            elif self._stopping:
                if self._decoder.pending:
                    raise ShuttingDown("the server is stopping and did not wait for the rest of this frame")
                return self._stopping
            elif not await self._receive():
                return "idle"

    async def _answer_batch(self, body: bytes | None) -> None:
        """Answer a request and those waiting behind it; their replies are sent once they may leave.

        :raises BadFrame: there is no frame behind it; what came before has been answered.
        :raises TooMany: it was cut off.
        """
        batch = ReplyBatch(self._outbox)
        deadline = perf_counter() + BATCH_SECONDS
        self._seat.begin(self._read_at)
        try:
            while body is not None:
                request = self._read(body)
                if isinstance(request, Wait):
                    batch = await self._send_before_wait(batch)
                    reply = await self._answer_wait(request)
                elif isinstance(request, InvalidRequest):
                    reply = dispatch.refuse(request, self._arrived)
                elif len(body) >= LARGE_REQUEST:
                    reply = await self._answer_large(request, len(body))
                else:
                    reply = await dispatch.answer(request, self.client, self._arrived)
                batch.add(reply, self.client)
                if self.version == 1 or len(batch.replies) >= BATCH or batch.size > MAX_REPLY_BYTES:
                    break
                if perf_counter() > deadline:
                    break
                body = self._decoder.next_frame()
        finally:
            self._note_begun()
            self._outbox.put(batch)
            if self.version != 1:
                self._seat.note(batch.about_game)
                self._seat.rest(self.client)
        await self._give_way(len(batch.replies))

    async def _send_before_wait(self, batch: ReplyBatch) -> ReplyBatch:
        """Send what was answered before a ``wait``; return the batch of its own reply."""
        self._note_begun()
        self._outbox.put(batch)
        self._seat.note(batch.about_game)
        await self._outbox.drain()
        return ReplyBatch(self._outbox)

    async def _answer_wait(self, request: Wait) -> PendingReply:
        """Answer a request; those behind it count as having arrived when it was answered, for they waited, too."""
        reply = await dispatch.answer(request, self.client, self._arrived)
        self._arrived = max(self._arrived, reply.since or 0.0)
        return reply

    async def _give_way(self, answered: int) -> None:
        """Wait until not too many replies are held, and let others have their turn where there is more to answer.

        :param answered: how many requests the latest batch had.
        """
        waiting = len(self._outbox)
        if waiting > MAX_HELD or self._outbox.size > MAX_REPLY_BYTES:
            await self._outbox.drain()
        elif waiting and self._singles.note(
            answered == waiting == 1 and not self._decoder.pending, self.client.unacknowledged
        ):
            await self._outbox.drain()
            self._take_at_hand()
        elif self._decoder.ready:
            await self._reader.give_way()

    async def _answer_large(self, request: AnyRequest, size: int) -> PendingReply:
        """Answer a request of so many bytes, which others may not have room for.

        :raises TooMany: it was cut off.
        """
        with trio.CancelScope() as self._answering:
            self._account.hold_requests(size + self._decoder.held)
            reply = await dispatch.answer(request, self.client, self._arrived)
        self._answering = None
        if self._cut is not None:
            raise self._cut
        return reply

    def _read(self, body: bytes) -> AnyRequest | InvalidRequest:
        """Return the request in a frame, or why it is none. The first frame tells the version."""
        request: AnyRequest | InvalidRequest
        try:
            request = decode_request(body, strict=self.client.strict)
        except InvalidRequest as invalid:
            request = invalid.bare()
            if invalid.kind == "hello":
                self.client.forget()
        if not self.version:
            is_hello = isinstance(request, Hello) or (isinstance(request, InvalidRequest) and request.kind == "hello")
            self.version = 2 if is_hello else 1
            self.client.strict = self.version == 2
        return request

    async def _receive(self) -> bool:
        """Wait for more bytes; False where there is no reason to wait any longer.

        :raises BadFrame: a frame, or the first one, has not arrived in time.
        """
        in_frame = self._begun is not None
        deadline = self._frame_deadline() if in_frame else self._idle_deadline()
        with PatientScope(deadline) as self._receiving:
            await self._take_bytes()
        timed_out, self._receiving = self._receiving.cancelled_caught, None
        if not timed_out or self._stopping or self._outbox.blocked or self._cut is not None:
            return True
        if in_frame:
            seconds = self._limits.frame_seconds
            raise BadFrame(f"a whole frame did not arrive within {seconds:g} seconds of its begin")
        return self._idle_deadline() > loop_time.now()  # replies have left, or are to leave, since it was set

    def _take_at_hand(self) -> None:
        """Take what has come by now, if anything has. (Through trio it would take another turn of the task's.)

        :raises trio.BrokenResourceError: the peer is gone.
        """
        if self._socket is None:
            return
        try:
            data = os.read(self._socket.fileno(), READ_SIZE)
        except BlockingIOError:
            return
        except OSError as error:
            raise trio.BrokenResourceError(f"cannot read: {error.strerror}") from error
        self._took(data)

    async def _take_bytes(self) -> None:
        self._took(await self._reader.receive_some(READ_SIZE))

    def _took(self, data: bytes | bytearray) -> None:
        self._arrived = self._read_at = loop_time.arrival()
        if data:
            if (
                self.client.unacknowledged and self._begun is None
            ):  # what begins here was sent behind the replies that have left
                self.client.unacknowledged.received(self._outbox.sent)
            self.bytes_in += len(data)
            self._metrics.bytes_in += len(data)
            self._decoder.feed(data)
            self._account.hold_requests(self._decoder.held)
            self._begun = self._read_at if self._begun is None else self._begun
        else:
            self._ended = True

    def _note_begun(self) -> None:
        """What is left behind the frames that were taken came with the bytes last read."""
        self._account.hold_requests(self._decoder.held)
        self._begun = self._read_at if self._decoder.pending else None

    def _frame_deadline(self) -> float:
        return inf if self._begun is None else self._begun + self._limits.frame_seconds

    def _idle_deadline(self) -> float:
        """When the session ends if nothing happens; while replies are held, not until they have left."""
        since = loop_time.now() if self._outbox else max(self._read_at, self._outbox.sent_at)
        return since + self._limits.idle_seconds

    @asynccontextmanager
    async def _attending(self, subscription: Subscription) -> AsyncIterator[None]:
        """Read on while a request waits, and interrupt it when another is behind it."""
        failure: Exception | None = None
        self._subscription = subscription
        if self._stopping:
            subscription.interrupt()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._listen, subscription)
            try:
                yield
            except Exception as error:
                failure = error
            nursery.cancel_scope.cancel()
        self._subscription = None
        if failure is not None:
            raise failure  # out here, where no nursery makes a group of it

    async def _listen(self, subscription: Subscription) -> None:
        try:
            while not self._decoder.ready:
                if self._ended or self.version == 1:
                    return  # the peer only listens now, or is not to say anything more
                with PatientScope(self._frame_deadline()) as waiting:
                    await self._take_bytes()
                if waiting.cancelled_caught:
                    break  # a frame was begun and not sent: the session ends with it
        except trio.BrokenResourceError:
            pass  # the peer is gone, as the sending of the reply will find
        subscription.interrupt()
