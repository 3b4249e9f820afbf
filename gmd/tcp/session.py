"""One connection: frames in, replies out, in order."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from math import inf
from time import perf_counter
from typing import NamedTuple

import trio

from gm_protocol.codec import InvalidRequest, decode_request, encode, error_reply
from gm_protocol.errors import BadFrame, GmError, ShuttingDown
from gm_protocol.framing import FrameDecoder, encode_frame
from gm_protocol.messages import AnyRequest, Hello, Limits, Wait
from gmd.arbiter import Arbiter
from gmd.handlers import dispatch
from gmd.handlers.call import Authority, Call
from gmd.log.interface import Commit
from gmd.players.gate import Gate, Peer
from gmd.watchers import Bell

#: Bytes asked of the network at once.
READ_SIZE = 65_536
#: Requests answered, and seconds spent on them, before the replies are sent and everybody else gets a turn.
BATCH = 32
BATCH_SECONDS = 0.002
#: Bytes sent between two looks at the clock: a peer has ``frame_seconds`` to take this much.
SEND_SIZE = 65_536


class _Held(NamedTuple):
    """A reply, by its place in a batch, that may not leave before a commit is durable."""

    place: int
    request: AnyRequest
    commit: Commit


class Session:
    """A conversation on a stream, from its first byte to its last reply. Whoever opened the stream closes it."""

    def __init__(
        self,
        stream: trio.abc.Stream,
        arbiter: Arbiter,
        limits: Limits,
        gate: Gate,
        peer: Peer,
        authority: Authority = Authority.CLIENT,
        *,
        registered_only: bool = False,
    ) -> None:
        self._stream = stream
        self._limits = limits
        self._decoder = FrameDecoder(limits.max_message)
        self._call = Call(
            arbiter, limits, None, False, 0.0, self._attending, gate, peer, registered_only, authority=authority
        )
        self._version: int | None = None  # 1 or 2, once the first message has told
        self._ended = False  # the peer has sent all it will
        self._stopping = False
        self._receiving: trio.CancelScope | None = None
        self._bell: Bell | None = None  # of the wait under way
        self._read_at = trio.current_time()  # when bytes last came
        self._begun: float | None = self._read_at  # when the frame that is still to be completed began

    @property
    def player(self) -> int | None:
        """The player its ``hello`` named."""
        return self._call.player

    def stop(self) -> None:
        """Answer what has been received, a wait as at its timeout, then close."""
        self._stopping = True
        if self._bell is not None:
            self._bell.interrupt()
        if self._receiving is not None:
            self._receiving.cancel()

    async def run(self) -> None:
        """Converse until either side ends it, or the peer has its last reply.

        :raises trio.BrokenResourceError: the peer is gone.
        :raises trio.TooSlowError: the peer reads nothing.
        """
        try:
            await self._converse()
        except GmError as error:
            await self._send([encode(error_reply(error, None, None))])

    async def _converse(self) -> None:
        """Answer request after request.

        :raises BadFrame: nothing more can be read.
        :raises ShuttingDown: the server stops inside a frame.
        """
        while True:
            body = self._decoder.next_frame()
            if body is not None:
                await self._answer_batch(body)
                if self._version == 1:
                    return
            elif self._ended:
                self._decoder.at_end()
                return
            elif self._stopping:
                if self._decoder.pending:
                    raise ShuttingDown("the server is stopping and did not wait for the rest of this frame")
                return
            elif not await self._receive():
                return

    async def _answer_batch(self, body: bytes | None) -> None:
        """Answer a request and those waiting behind it, and send the replies once they may leave.

        :raises BadFrame: there is no frame behind it; what came before has been answered.
        """
        replies: list[bytes] = []
        held: list[_Held] = []
        deadline = perf_counter() + BATCH_SECONDS
        try:
            while body is not None:
                request = self._read(body, replies)
                if isinstance(request, Wait):
                    self._note_begun()
                    await self._send(replies, held)
                    replies, held = [], []
                if request is not None:
                    reply, commit = await dispatch.answer(request, self._call)
                    if commit is not None and not commit.done:
                        held.append(_Held(len(replies), request, commit))
                    replies.append(reply)
                if self._version == 1 or len(replies) >= BATCH or perf_counter() > deadline:
                    break
                body = self._decoder.next_frame()
        finally:
            self._note_begun()
            await self._send(replies, held)

    def _read(self, body: bytes, replies: list[bytes]) -> AnyRequest | None:
        """The request in a frame; or None, with its refusal among the replies. The first tells the version."""
        first, request, kind = self._version is None, None, None
        try:
            request = decode_request(body, strict=self._call.strict)
        except InvalidRequest as invalid:
            kind = invalid.kind
            if kind == "hello":
                self._call.forget()
            replies.append(dispatch.invalid(invalid))
        if first:
            self._version = 2 if isinstance(request, Hello) or kind == "hello" else 1
            self._call.strict = self._version == 2
        return request

    async def _receive(self) -> bool:
        """Wait for more bytes; False where there is no reason to wait any longer.

        :raises BadFrame: a frame, or the first one, has not arrived in time.
        """
        in_frame = self._begun is not None
        deadline = self._frame_deadline() if in_frame else trio.current_time() + self._limits.idle_seconds
        with trio.CancelScope(deadline=deadline) as self._receiving:
            await self._take_bytes()
        timed_out, self._receiving = self._receiving.cancelled_caught, None
        if not timed_out or self._stopping:
            return True
        if in_frame:
            seconds = self._limits.frame_seconds
            raise BadFrame(f"a whole frame did not arrive within {seconds:g} seconds of its begin")
        return False

    async def _take_bytes(self) -> None:
        data = await self._stream.receive_some(READ_SIZE)
        self._call.arrived = self._read_at = trio.current_time()
        if data:
            self._decoder.feed(data)
            self._begun = self._read_at if self._begun is None else self._begun
        else:
            self._ended = True

    def _note_begun(self) -> None:
        """What is left behind the frames that were taken came with the bytes last read."""
        self._begun = self._read_at if self._decoder.pending else None

    def _frame_deadline(self) -> float:
        return inf if self._begun is None else self._begun + self._limits.frame_seconds

    @asynccontextmanager
    async def _attending(self, bell: Bell) -> AsyncIterator[None]:
        """Read on while a request waits, and interrupt it when another is behind it."""
        failure: Exception | None = None
        self._bell = bell
        if self._stopping:
            bell.interrupt()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._listen, bell)
            try:
                yield
            except Exception as error:
                failure = error
            nursery.cancel_scope.cancel()
        self._bell = None
        if failure is not None:
            raise failure  # out here, where no nursery makes a group of it

    async def _listen(self, bell: Bell) -> None:
        try:
            while not self._decoder.ready:
                if self._ended or self._version == 1:
                    return  # the peer only listens now, or is not to say anything more
                with trio.CancelScope(deadline=self._frame_deadline()) as waiting:
                    await self._take_bytes()
                if waiting.cancelled_caught:
                    break  # a frame was begun and not sent: the session ends with it
        except trio.BrokenResourceError:
            pass  # the peer is gone, as the sending of the reply will find
        bell.interrupt()

    async def _send(self, replies: list[bytes], held: Sequence[_Held] = ()) -> None:
        """Send replies, each a frame, once what they tell is durable, or an error in place of what never will be."""
        for place, request, commit in held:
            try:
                await commit.wait()
            except GmError as error:
                replies[place] = dispatch.refusal(error, request)
        data = memoryview(b"".join(map(encode_frame, replies)))
        for start in range(0, len(data), SEND_SIZE):
            with trio.fail_after(self._limits.frame_seconds):
                await self._stream.send_all(data[start : start + SEND_SIZE])
