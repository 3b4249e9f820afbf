"""One connection: reads, writes and waits for a :class:`~gmd.tcp.conversation.Conversation`, which says when."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager, suppress
from time import perf_counter

import trio

from gm_protocol.codec import InvalidRequest
from gm_protocol.errors import GmError, TooMany
from gm_protocol.messages import AnyRequest
from gmd.handlers import dispatch
from gmd.handlers.context import Authority, ClientSession
from gmd.handlers.dispatch import PendingReply
from gmd.handlers.services import Services
from gmd.net import loop_time
from gmd.net.connection_slots import ConnectionSlot, Value
from gmd.net.fair_reader import FairReader
from gmd.net.loop_time import PatientScope
from gmd.net.send_timeout import PIECE, Sending
from gmd.net.tls import CONNECTION_BYTES, TlsStream
from gmd.play.watchers import Subscription
from gmd.players.presence import Attendance
from gmd.tcp.conversation import CUT_OFF, STALLED, STOPPING, Conversation, Pause, State
from gmd.tcp.outbox import Outbox, ReplyBatch


class PlayReport:
    """Reports to the slot of a session which running game the session has played last."""

    __slots__ = ("_last", "_slot")

    def __init__(self, slot: ConnectionSlot | None) -> None:
        """:param slot: None where slots are not counted."""
        self._slot = slot
        self._last: PendingReply | None = None  # the latest reply about a game

    def begin(self, arrived: float) -> None:
        """Note that requests are being answered.

        :param arrived: when they arrived, in the loop's time.
        """
        if self._slot is not None:
            self._slot.begin(arrived)

    def note(self, reply: PendingReply) -> None:
        """Note the latest reply about a game."""
        self._last = reply

    def rest(self, client: ClientSession) -> None:
        """Note that the requests have been answered."""
        if self._slot is not None:
            value = Value.IDLE if client.player is None else Value.PLAYER
            self._slot.rest(value, loop_time.now(), self._played(self._slot, client))
        self._last = None  # otherwise an idle session would keep its last game in memory

    def _played(self, slot: ConnectionSlot, client: ClientSession) -> Hashable:
        """Return the seat in the latest game of the session's own; None once that is over."""
        if self._last is None or self._last.live is None or self._last.player is None:
            return slot.seat
        game, player = self._last.live.game, self._last.player
        if not game.seats(player):
            return slot.seat
        return None if game.over else seat_of(game.id, player)


def seat_of(game_id: int, player: int | None) -> Hashable:
    """Return the key of a game's player among the slots; a player who holds both seats has one."""
    return game_id, player


#: Bytes asked of the network at once.
READ_SIZE = 65_536
#: Bytes from which a request is counted while it is answered, for that may take long.
LARGE_REQUEST = 65_536


class Session:
    """A conversation on a stream, from its first byte to its last reply. The caller closes the stream.

    :ivar client: who is at its other end.
    :ivar opened: when it began, in the loop's time.
    :ivar bytes_in: how many bytes it has received.
    :ivar bytes_out: how many bytes it has sent.
    :ivar ended_by: why it ended, in a word; a code of the protocol where that was an error.
    """

    def __init__(
        self,
        stream: trio.abc.Stream,
        services: Services,
        authority: Authority = Authority.CLIENT,
        *,
        peer: str = "",
        slot: ConnectionSlot | None = None,
    ) -> None:
        """:param slot: the connection's, which the session informs of what it does."""
        source = None if slot is None or authority is Authority.OPERATOR else slot.source
        self._reader = FairReader(stream, services.scheduler, source)
        self._sending = Sending(stream, services.send_timeout)
        self._seat = PlayReport(slot)
        self._is_tls = isinstance(stream, TlsStream)
        self._socket = stream.socket if isinstance(stream, trio.SocketStream) else None
        self._metrics = services.metrics
        self._account = services.memory.open(peer, self.cut_off)
        self.client = ClientSession(
            services,
            authority,
            peer=peer,
            strict=False,
            visit=None if authority is Authority.OPERATOR else Attendance(services.authenticator.presence),
            replies_sent=lambda: self._outbox.batches,
            attending=self._attending,
            hold=self._account.hold_others,
        )
        self.bytes_in = 0
        self.bytes_out = 0
        self.ended_by = CUT_OFF
        self.opened = loop_time.now()
        self._outbox = Outbox(services.metrics, self.opened, self._note_settled)
        self._conversation = Conversation(services.limits, self._outbox, self.opened)
        self._receiving: PatientScope | None = None  # the waiting for bytes between two batches
        self._subscription: Subscription | None = None  # of the wait under way
        self._answering: trio.CancelScope | None = None  # a large request
        self._settled: trio.Event | None = None  # set when replies that were held may leave

    @property
    def version(self) -> int:
        """The version of the protocol, 1 or 2, decided by the first message; 0 before."""
        return self._conversation.version

    @property
    def requests(self) -> int:
        """The number of requests that it has answered, refusals among them."""
        return self._outbox.replies

    def stop(self, why: str = STOPPING) -> None:
        """Answer what has been received, a wait as at its timeout, then close.

        :param why: the reason that is logged.
        """
        self._conversation.stop(why)
        self._interrupt_all()

    def evict(self, error: TooMany) -> bool:
        """Answer what has been received, a wait as at its timeout, then send the error and close; return True."""
        self._conversation.evict(error)
        self._interrupt_all()
        return True

    def release(self) -> None:
        """Delete the parts that refer to the session, once nothing calls it any more.

        Without this the garbage collector has to find them, which took a tenth of the time of a version 1 session: that
        is one request long.
        """
        del self._account, self.client, self._outbox, self._conversation

    def cut_off(self, why: GmError) -> None:
        """Drop all bytes and replies, and end with an error."""
        self._conversation.cut_off(why)
        if not self._outbox.is_whole:
            self._sending.cut_off()
        self._wake_drain()
        if self._answering is not None:
            self._answering.cancel()
        self._interrupt_all()

    def _interrupt_all(self) -> None:
        """End the wait under way, and the waiting for bytes."""
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
        conversation = self._conversation
        try:
            if self._is_tls:
                self._account.hold_others(CONNECTION_BYTES)
            await self._converse()
            await self._drain()
        except trio.Cancelled:
            if conversation.evicted is not None:
                self.ended_by = conversation.evicted.code
            raise
        except trio.TooSlowError:
            self.ended_by = STALLED if conversation.cut is None else conversation.cut.code
            raise
        finally:
            self._account.close()
            self.client.leave()
            self._outbox.close()
            self._socket = None

    async def _converse(self) -> None:
        """Do what the conversation says, until it has ended; then put its last words into the outbox.

        :raises trio.TooSlowError: it was cut off in the middle of a reply.
        """
        conversation = self._conversation
        scheduler = self.client.services.scheduler
        while (state := conversation.advance(perf_counter(), loaded=scheduler.is_loaded)) is not State.ENDED:
            if state is State.READING:
                await self._receive()
            elif state is State.SENDING:
                await self._send()
            else:
                await self._answer_batch()
        end = conversation.end
        assert end is not None
        self.ended_by = end.reason
        if end.breaks_off:
            raise trio.TooSlowError
        if end.error is not None:
            batch, words = ReplyBatch(self._outbox), dispatch.refuse(InvalidRequest(end.error))
            batch.add(words, may_leave=dispatch.finish(words, self.client, batch.leave))
            self._put(batch)

    # --- Answering ----------------------------------------------------------------------------------------------------

    async def _answer_batch(self) -> None:
        """Answer a request and those waiting behind it; their replies are sent once they may leave."""
        conversation, client = self._conversation, self.client
        batch = ReplyBatch(self._outbox)
        self._seat.begin(conversation.read_at)
        client.strict = conversation.strict
        try:
            while (request := conversation.request) is not None:
                if isinstance(request, InvalidRequest):
                    reply = self._refuse(request)
                elif conversation.state is State.WAITING:
                    self._note_begun()
                    before, batch = batch, ReplyBatch(self._outbox)  # so that it is put once, even if sending it fails
                    self._put(before)
                    await self._drain()
                    reply = await dispatch.answer(request, client, conversation.arrived)
                    conversation.wait_ended(reply.since or 0.0)
                elif conversation.request_size < LARGE_REQUEST:
                    reply = await dispatch.answer(request, client, conversation.arrived)
                elif (answered := await self._answer_large(request)) is not None:
                    reply = answered
                else:
                    conversation.give_up_request()
                    break
                if reply.live is not None:
                    self._seat.note(reply)
                batch.add(reply, may_leave=dispatch.finish(reply, client, batch.leave))
                conversation.answered(batch, perf_counter())
        finally:
            self._note_begun()
            self._put(batch)
            if self.version != 1:
                self._seat.rest(client)
        if conversation.state is not State.ENDED:
            await self._pause(len(batch.replies))

    def _refuse(self, request: InvalidRequest) -> PendingReply:
        """Return the refusal of an invalid request. An invalid ``hello`` leaves the session without a player."""
        if request.kind == "hello":
            self.client.forget()
        return dispatch.refuse(request, self._conversation.arrived)

    async def _answer_large(self, request: AnyRequest) -> PendingReply | None:
        """Answer a large request, which is counted meanwhile; return None where the session was cut off for it."""
        conversation = self._conversation
        with trio.CancelScope() as self._answering:
            self._account.hold_requests(conversation.request_size + conversation.held)
            reply = await dispatch.answer(request, self.client, conversation.arrived)
        self._answering = None
        return reply if conversation.cut is None else None

    async def _pause(self, answered: int) -> None:
        """Wait until not too many replies are held, and let others have their turn where there is more to answer.

        :param answered: how many requests the latest batch had.
        """
        pause = self._conversation.pause(answered, unacknowledged=bool(self.client.unacknowledged))
        if pause is Pause.NOTHING:
            return
        if pause is Pause.GIVE_WAY:
            await self._reader.give_way()
            return
        await self._drain()
        if pause is Pause.DRAIN_AND_READ:
            self._read_at_once()

    @asynccontextmanager
    async def _attending(self, subscription: Subscription) -> AsyncIterator[None]:
        """Read on while a request waits, and interrupt it when another is behind it."""
        failure: Exception | None = None
        self._subscription = subscription
        if self._conversation.ends_waits:
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
            raise failure  # outside of the nursery, which would make a group of it

    # --- Reading ------------------------------------------------------------------------------------------------------

    async def _receive(self) -> None:
        """Wait for more bytes, until there is something else to do or time is up."""
        conversation = self._conversation
        deadline = conversation.frame_deadline
        if not conversation.in_frame:
            deadline = conversation.idle_deadline(loop_time.now())
        with PatientScope(deadline) as self._receiving:
            await self._read()
        timed_out, self._receiving = self._receiving.cancelled_caught, None
        if timed_out:
            conversation.time_passed(loop_time.now())

    async def _listen(self, subscription: Subscription) -> None:
        conversation = self._conversation
        try:
            while not conversation.has_next:
                if not conversation.listens:
                    return  # the peer has ended its side, or its version has one request only
                with PatientScope(conversation.frame_deadline) as waiting:
                    await self._read()
                if waiting.cancelled_caught:
                    break  # a frame was begun and not sent: the session ends with it
        except trio.BrokenResourceError:
            pass  # the peer is gone: sending the reply will fail, too
        subscription.interrupt()

    async def _read(self) -> None:
        self._take(await self._reader.receive_some(READ_SIZE))

    def _read_at_once(self) -> None:
        """Take what has come by now, if anything has. (Through trio it would take the task another turn.)

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
        self._take(data)

    def _take(self, data: bytes | bytearray) -> None:
        conversation, unacknowledged = self._conversation, self.client.unacknowledged
        if data and unacknowledged and not conversation.in_frame:
            unacknowledged.received(self._outbox.sent)  # a frame that begins here was sent after these replies came
        conversation.received(data, loop_time.arrival())
        self.bytes_in += len(data)
        self._metrics.bytes_in += len(data)
        self._account.hold_requests(conversation.held)

    def _note_begun(self) -> None:
        self._account.hold_requests(self._conversation.held)
        self._conversation.note_begun()

    # --- Writing ------------------------------------------------------------------------------------------------------

    def _put(self, batch: ReplyBatch) -> None:
        """Send a batch once it may leave, behind those before it."""
        if self._outbox.put(batch):
            self._write()
        self._account.hold_replies(self._outbox.size)

    def _note_settled(self) -> None:
        """Send replies that were held and may leave now."""
        self._write()
        self._account.hold_replies(self._outbox.size)
        self._wake_drain()

    def _write(self) -> None:
        """Send what may leave, as much as the peer has room for, a piece at most. Only the rest wakes a task."""
        outbox, now = self._outbox, loop_time.now()
        if not outbox.release(now):
            return
        data, count = outbox.unsent(), 0
        if self._socket is not None:
            with suppress(OSError):
                count = os.write(self._socket.fileno(), data if len(data) <= PIECE else memoryview(data)[:PIECE])
                self._note_sent(count)
        outbox.wrote(data, count, now)
        if outbox.blocked:
            self._interrupt()

    async def _send(self) -> None:
        """Send what the peer had no room for.

        :raises trio.BrokenResourceError: the peer is gone.
        :raises trio.TooSlowError: the peer is too slow, or was cut off.
        """
        outbox = self._outbox
        while outbox.blocked:
            data = outbox.begin_sending()
            await self._sending.send(data, self._note_sent)
            if not outbox.is_whole:
                raise trio.TooSlowError
            outbox.end_sending(data, loop_time.now())
            self._account.hold_replies(outbox.size)

    async def _drain(self) -> None:
        """Send everything; raises what :meth:`_send` does."""
        while not self._outbox.is_empty:
            if self._outbox.blocked:
                await self._send()
            else:
                self._settled = trio.Event()
                await self._settled.wait()

    def _wake_drain(self) -> None:
        if self._settled is not None:
            self._settled.set()

    def _note_sent(self, count: int) -> None:
        self.bytes_out += count
        self._metrics.bytes_out += count
