"""The conversation of a session as a state machine: bytes and replies in; requests, bytes and an end out. No I/O.

:class:`~gmd.tcp.session.Session` does the I/O: it asks :meth:`Conversation.advance` what to do next, does it, and
reports the outcome. Times are in seconds, by the caller's clock.
"""

from __future__ import annotations

from enum import Enum, IntEnum, auto
from math import inf

from msgspec import Struct

from gm_protocol.codec import InvalidRequest, decode_request
from gm_protocol.errors import BadFrame, GmError, ShuttingDown, TooMany
from gm_protocol.framing import FrameDecoder
from gm_protocol.messages import AnyRequest, Hello, Limits, Wait
from gmd.tcp.outbox import Outbox, ReplyBatch

#: A version 1 client has received its reply.
ANSWERED = "answered"
#: The client closed its sending side after a complete request.
CLIENT_CLOSED = "client_closed"
#: The client has sent nothing for too long.
IDLE = "idle"
#: The daemon stops.
STOPPING = "stopping"
#: The player was revoked.
REVOKED = "revoked"
#: The daemon waits for it no longer.
CUT_OFF = "cut_off"
#: The client does not take its replies.
STALLED = "stalled"
#: The client is gone.
LOST = "lost"
#: The server failed.
FAILED = "failed"

#: Requests in a row that came alone, each while no other reply was held. After that many, the client is assumed to
#: continue like this. If it plays several games over its connection, it soon sends two requests within the time of a
#: commit, and the wrong assumption has cost no more than that time.
SINGLES = 4


class Singles:
    """Counts a session's requests that came alone, in a row."""

    __slots__ = ("_count",)

    def __init__(self) -> None:
        self._count = 0

    def note(self, alone: bool, *, unacknowledged: bool) -> bool:
        """Note how the latest request came; return whether to read more only when the client has its reply.

        That is for a client that has long sent one request at a time, unless a reply that is held may show the end of
        a game: bytes that were sent before it left, and read after it, would look as if the client had it.

        :param alone: whether the request came alone, with no other reply held.
        :param unacknowledged: whether replies may show results that the client does not know of yet.
        """
        self._count = self._count + 1 if alone else 0
        return self._count > SINGLES and not unacknowledged


#: Requests answered, and seconds spent on them, before the replies are sent and other connections get a turn.
BATCH = 32
BATCH_SECONDS = 0.002
#: The same while others wait for their turns: as much as a turn of the scheduler counts for (``COST_SECONDS``).
LOADED_SECONDS = 0.0005
#: Bytes of replies after which a batch is over, and which may be held, or not taken, while requests behind them are
#: answered: a connection makes the server hold so many bytes, and one reply more.
MAX_REPLY_BYTES = 65_536
#: Batches of replies that may be held until what they show is durable, while requests behind them are answered. More
#: would not fit into one commit any better.
MAX_HELD = 4


class State(Enum):
    """What a conversation is doing.

    READING, SENDING -> any state, by :meth:`Conversation.advance`;
    READING -> ENDED, by :meth:`Conversation.time_passed`;
    ANSWERING, WAITING -> ANSWERING, WAITING, READING or ENDED, by :meth:`Conversation.answered`;
    ANSWERING -> READING, by :meth:`Conversation.give_up_request`.
    """

    #: No whole request is there: it waits for bytes, or for :meth:`Conversation.advance` after a batch.
    READING = auto()
    #: The peer had no room for replies, which are sent before more is answered.
    SENDING = auto()
    #: A request is being answered.
    ANSWERING = auto()
    #: A ``wait`` is being answered, while more bytes may come.
    WAITING = auto()
    #: It is over, but for the replies that are still to be sent.
    ENDED = auto()


class Closing(IntEnum):
    """Why a conversation is to end. Of several reasons the highest counts: a conversation never goes back to a lower.

    With all but the last it still answers what has been received.
    """

    OPEN = 0
    #: The server stops, or the player was revoked.
    STOPPING = auto()
    #: Its slot was given to another client.
    EVICTED = auto()
    #: The peer sends nothing more.
    PEER_ENDED = auto()
    #: It held too many bytes, which were dropped.
    CUT_OFF = auto()


class Pause(Enum):
    """What a session waits for between two batches."""

    NOTHING = auto()
    #: Until all replies are sent.
    DRAIN = auto()
    #: The same, for a client that sends one request at a time: then what has come meanwhile is read at once.
    DRAIN_AND_READ = auto()
    #: Until other connections had their turns.
    GIVE_WAY = auto()


class ConversationEnd(Struct, frozen=True):
    """How a conversation ended.

    :ivar reason: a word of the log and the metrics; the error's code where there is one.
    :ivar error: the last words to the peer, if any.
    :ivar breaks_off: whether a reply was broken off in its middle, so that nothing can be sent behind it.
    """

    reason: str
    error: GmError | None = None
    breaks_off: bool = False


#: The end of every version 1 session that nothing goes wrong in.
_ANSWERED = ConversationEnd(ANSWERED)


class Conversation:
    """One conversation, from its first byte to its end.

    :ivar state: what it is doing.
    :ivar closing: why it is to end, once it is.
    :ivar end: how it ended, once it has.
    :ivar outbox: its replies on their way out.
    :ivar version: of the protocol, 1 or 2, decided by the first message; 0 before.
    :ivar request: the request to be answered, in ANSWERING and WAITING.
    :ivar request_size: its bytes.
    :ivar arrived: when it arrived.
    :ivar read_at: when bytes last came.
    :ivar evicted: the error that it was evicted with, if it was.
    :ivar cut: the error that it was cut off with, if it was.
    """

    __slots__ = (
        *("_batch_until", "_begun", "_decoder", "_limits", "_singles", "_stop_reason"),
        *("arrived", "closing", "cut", "end", "evicted", "outbox", "read_at", "request", "request_size"),
        *("state", "version"),
    )

    def __init__(self, limits: Limits, outbox: Outbox, now: float) -> None:
        self._limits = limits
        self._decoder = FrameDecoder(limits.max_message)
        self._singles = Singles()
        self._begun: float | None = now  # when the frame that is still to be completed began
        self._batch_until = 0.0
        self._stop_reason = ""
        self.outbox = outbox
        self.state = State.READING
        self.closing = Closing.OPEN
        self.end: ConversationEnd | None = None
        self.version = 0
        self.request: AnyRequest | InvalidRequest | None = None
        self.request_size = 0
        self.arrived = 0.0
        self.read_at = now
        self.evicted: TooMany | None = None
        self.cut: GmError | None = None

    # --- What happens to it -------------------------------------------------------------------------------------------

    def received(self, data: bytes | bytearray, at: float) -> None:
        """Take bytes from the peer; none where it has ended its side.

        :param at: when they had arrived at the latest.
        """
        self.arrived = self.read_at = at
        if data:
            self._decoder.feed(data)
            if self._begun is None:
                self._begun = at
        else:
            self._close(Closing.PEER_ENDED)

    def stop(self, reason: str) -> None:
        """End once what has been received is answered.

        :param reason: of the end, unless there is a stronger one.
        """
        self._stop_reason = reason
        self._close(Closing.STOPPING)

    def evict(self, error: TooMany) -> None:
        """End with an error once what has been received is answered."""
        self.evicted = error
        self._stop_reason = error.code
        self._close(Closing.EVICTED)

    def cut_off(self, error: GmError) -> None:
        """Drop all bytes, and end."""
        self.cut = error
        self._close(Closing.CUT_OFF)
        self._decoder.clear()
        self.outbox.abandon()

    def time_passed(self, now: float) -> None:
        """Note that nothing came in time. The conversation ends with that unless there is something to do."""
        if self.closing or self.outbox.blocked:
            return
        if self.in_frame:
            seconds = self._limits.frame_seconds
            self._fail(BadFrame(f"a whole frame did not arrive within {seconds:g} seconds of its begin"))
        elif self.idle_deadline(now) <= now:  # else replies have left, or are to leave, since the deadline was set
            self._end(ConversationEnd(IDLE))

    # --- What is to be done -------------------------------------------------------------------------------------------

    def advance(self, clock: float, *, loaded: bool = False) -> State:
        """Return what is to be done next, when nothing is being answered. A batch begins with the request it takes.

        :param clock: seconds by a clock that also passes while requests are read and answered.
        :param loaded: whether others wait for their turns.
        """
        self._batch_until = clock + (LOADED_SECONDS if loaded else BATCH_SECONDS)
        if self.state is not State.ENDED:
            if self.cut is not None:
                whole = self.outbox.is_whole
                self._end(ConversationEnd(self.cut.code, self.cut if whole else None, breaks_off=not whole))
            elif self.outbox.blocked:
                self.state = State.SENDING
            else:
                self._take_request()
                if self.closing and self.state is State.READING:
                    self._part()
        return self.state

    def answered(self, batch: ReplyBatch, clock: float) -> None:
        """Note that the reply to the request is in the batch; take the next request, unless the batch is over.

        :param clock: as in :meth:`advance`.
        """
        if self.version == 1:
            self._end(_ANSWERED)
        elif len(batch.replies) >= BATCH or batch.size > MAX_REPLY_BYTES or clock > self._batch_until:
            self.give_up_request()
        else:
            self._take_request()

    def give_up_request(self) -> None:
        """End a batch: nothing is being answered any more."""
        self.request = None
        self.state = State.READING

    def wait_ended(self, at: float) -> None:
        """Note when a ``wait`` was answered: the requests behind it waited, too, and count as having arrived then."""
        self.arrived = max(self.arrived, at)

    def note_begun(self) -> None:
        """Note that the bytes behind the frames that were taken came with the bytes last read."""
        self._begun = self.read_at if self._decoder.pending else None

    def pause(self, answered: int, *, unacknowledged: bool) -> Pause:
        """Return what to wait for after a batch: for replies, if too many are held, or for other connections.

        :param answered: how many requests the batch had.
        :param unacknowledged: whether replies may show results that the client does not know of yet.
        """
        if self.cut is not None:
            return Pause.NOTHING
        held = len(self.outbox)
        if held > MAX_HELD or self.outbox.size > MAX_REPLY_BYTES:
            return Pause.DRAIN
        if held and self._singles.note(
            answered == held == 1 and not self._decoder.pending, unacknowledged=unacknowledged
        ):
            return Pause.DRAIN_AND_READ
        return Pause.GIVE_WAY if self._decoder.ready else Pause.NOTHING

    # --- What can be asked of it --------------------------------------------------------------------------------------

    @property
    def strict(self) -> bool:
        """Whether misspelt options are refused, as in version 2."""
        return self.version == 2

    @property
    def in_frame(self) -> bool:
        """Whether a frame has begun, or the first is awaited, and must arrive in time."""
        return self._begun is not None

    @property
    def held(self) -> int:
        """Bytes of memory that the requests take which were not taken."""
        return self._decoder.held

    @property
    def ends_waits(self) -> bool:
        """Whether a ``wait`` is to be answered as at its timeout, because the server ends the session."""
        return bool(self._stop_reason) or self.cut is not None

    @property
    def has_next(self) -> bool:
        """Whether a whole frame, or a bad one, is there behind those that were taken: it ends a ``wait``."""
        return self._decoder.ready

    @property
    def listens(self) -> bool:
        """Whether it takes more bytes during a ``wait``."""
        return self.closing < Closing.PEER_ENDED and self.version != 1

    @property
    def frame_deadline(self) -> float:
        """When a frame that has begun must be there; infinite where none has."""
        return inf if self._begun is None else self._begun + self._limits.frame_seconds

    def idle_deadline(self, now: float) -> float:
        """Return when it ends if no frame begins; replies that are held put that off until they have left."""
        since = now if self.outbox else max(self.read_at, self.outbox.sent_at)
        return since + self._limits.idle_seconds

    # --- Transitions --------------------------------------------------------------------------------------------------

    def _take_request(self) -> None:
        """Take the next request, if it is there as a whole."""
        try:
            body = self._decoder.next_frame()
        except BadFrame as error:
            self._fail(error.with_traceback(None))  # which leads back here, and would keep the conversation in memory
            return
        if body is None:
            self.give_up_request()
            return
        request: AnyRequest | InvalidRequest
        try:
            request = decode_request(body, strict=self.version == 2)
        except InvalidRequest as invalid:
            request = invalid.bare()
        if not self.version:
            is_hello = isinstance(request, Hello) or (isinstance(request, InvalidRequest) and request.kind == "hello")
            self.version = 2 if is_hello else 1
        self.request, self.request_size = request, len(body)
        self.state = State.WAITING if isinstance(request, Wait) else State.ANSWERING

    def _close(self, closing: Closing) -> None:
        self.closing = max(self.closing, closing)

    def _part(self) -> None:
        """End, as all that was received is answered."""
        if self.closing is Closing.PEER_ENDED:
            try:
                self._decoder.at_end()
            except BadFrame as error:
                self._fail(error.with_traceback(None))  # as above
            else:
                self._end(ConversationEnd(CLIENT_CLOSED))
        elif self.evicted is not None:
            self._fail(self.evicted)
        elif self._decoder.pending:
            self._fail(ShuttingDown("the server is stopping and did not wait for the rest of this frame"))
        else:
            self._end(ConversationEnd(self._stop_reason))

    def _fail(self, error: GmError) -> None:
        self._end(ConversationEnd(error.code, error))

    def _end(self, end: ConversationEnd) -> None:
        self.end = end
        self.request = None
        self.state = State.ENDED
