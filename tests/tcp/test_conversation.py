"""The conversation of a session, by feeding bytes: no streams, no tasks, no clock but a number."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gm_protocol.codec import InvalidRequest
from gm_protocol.errors import TooMany
from gm_protocol.framing import FrameDecoder, encode_frame
from gm_protocol.messages import Limits, Request
from gmd.net.metrics import Metrics
from gmd.tcp.conversation import STOPPING, Closing, Conversation, State
from gmd.tcp.outbox import Outbox, ReplyBatch

MAX_MESSAGE, FRAME_SECONDS, IDLE_SECONDS = 1_000, 10.0, 600.0
LIMITS = Limits(
    **dict.fromkeys(Limits.__struct_fields__, 1)
    | {"max_message": MAX_MESSAGE, "frame_seconds": FRAME_SECONDS, "idle_seconds": IDLE_SECONDS}
)

HELLO = encode_frame(b'{"kind":"hello"}')
PING = encode_frame(b'{"kind":"ping"}')
WAIT = encode_frame(b'{"kind":"wait","game_id":1}')
BAD_LENGTH = b"\xff\xff\xff\xff"
EVICTION = TooMany("max_connections: another client has the place of this session", 5.0)
CUT = TooMany("max_memory: this one holds most", 5.0)


@dataclass
class Answer:
    """A reply, as the outbox takes it."""

    body: bytes
    since: float | None = 0.0


class Peer:
    """A conversation, and what a session does for it where nothing takes time."""

    def __init__(self, room: Callable[[], int] = lambda: 1 << 30) -> None:
        """:param room: how many bytes the peer takes at once, asked before every writing."""
        self.outbox = Outbox(Metrics(), 0.0, self._write)
        self.conversation = Conversation(LIMITS, self.outbox, 0.0)
        self.room = room
        self.requests: list[Request | InvalidRequest] = []
        self.sent = b""
        self.held: list[ReplyBatch] = []

    def _write(self) -> None:
        if self.outbox.release(1.0):
            data = self.outbox.unsent()
            count = min(len(data), self.room())
            self.sent += data[:count]
            self.outbox.wrote(data, count, 1.0)

    def put(self, batch: ReplyBatch) -> None:
        """Send a batch once it may leave."""
        if self.outbox.put(batch):
            self._write()

    def send(self) -> None:
        """Send what waits for room."""
        while self.outbox.blocked:
            data = self.outbox.begin_sending()
            self.sent += bytes(data)
            self.outbox.end_sending(data, 2.0)

    def answer(self, batch: ReplyBatch, body: bytes = b"{}", clock: float = 0.0, *, may_leave: bool = True) -> None:
        """Answer the request at hand."""
        assert self.conversation.request is not None
        self.requests.append(self.conversation.request)
        batch.add(Answer(body), may_leave=may_leave)
        if not may_leave:
            self.held.append(batch)
        self.conversation.answered(batch, clock)

    def answer_batch(
        self, clock: Callable[[], float] = lambda: 0.0, may_leave: Callable[[], bool] = lambda: True
    ) -> None:
        """Answer the request at hand and those behind it, each with its number."""
        batch = ReplyBatch(self.outbox)
        while self.conversation.request is not None:
            self.answer(batch, str(len(self.requests)).encode(), clock(), may_leave=may_leave())
        self.conversation.note_begun()
        self.put(batch)

    def go_on(self, clock: Callable[[], float] = lambda: 0.0, may_leave: Callable[[], bool] = lambda: True) -> State:
        """Do all there is to do."""
        while (state := self.conversation.advance(clock())) not in (State.READING, State.ENDED):
            if state is State.SENDING:
                self.send()
            else:
                self.answer_batch(clock, may_leave)
        return state


# --- Transitions ------------------------------------------------------------------------------------------------------


def new() -> Peer:
    """Return a conversation that nothing has come to."""
    return Peer()


def between_frames() -> Peer:
    """Return one of version 2 that has answered all that came."""
    peer = Peer()
    peer.conversation.received(HELLO, 1.0)
    assert peer.go_on() is State.READING
    return peer


def in_a_frame() -> Peer:
    """Return one that has begun to receive a ``ping``."""
    peer = between_frames()
    peer.conversation.received(PING[:-1], 1.0)
    assert peer.go_on() is State.READING
    return peer


def answering() -> Peer:
    """Return one that is answering a ``ping``."""
    peer = between_frames()
    peer.conversation.received(PING, 1.0)
    assert peer.conversation.advance(0.0) is State.ANSWERING
    return peer


def waiting() -> Peer:
    """Return one that is answering a ``wait``."""
    peer = between_frames()
    peer.conversation.received(WAIT, 1.0)
    assert peer.conversation.advance(0.0) is State.WAITING
    return peer


def version_1() -> Peer:
    """Return one of version 1 that is answering its request."""
    peer = Peer()
    peer.conversation.received(PING, 1.0)
    assert peer.conversation.advance(0.0) is State.ANSWERING
    return peer


def sending() -> Peer:
    """Return one whose peer takes no more of its replies."""
    peer = between_frames()
    peer.room = lambda: 3
    peer.conversation.received(PING, 1.0)
    assert peer.conversation.advance(0.0) is State.ANSWERING
    peer.answer_batch()
    assert peer.conversation.advance(0.0) is State.SENDING
    return peer


BEFORE = {made.__name__: made for made in (new, between_frames, in_a_frame, answering, waiting, version_1, sending)}

EVENTS: dict[str, Callable[[Peer], object]] = {
    "ping": lambda peer: peer.conversation.received(PING[-1:] if in_frame(peer) else PING, 2.0),
    "wait": lambda peer: peer.conversation.received(WAIT, 2.0),
    "1 byte": lambda peer: peer.conversation.received(b"\0", 2.0),
    "bad length": lambda peer: peer.conversation.received(BAD_LENGTH, 2.0),
    "peer ends": lambda peer: peer.conversation.received(b"", 2.0),
    "time passes": lambda peer: peer.conversation.time_passed(5_000.0),
    "stop": lambda peer: peer.conversation.stop(STOPPING),
    "evict": lambda peer: peer.conversation.evict(EVICTION),
    "cut off": lambda peer: peer.conversation.cut_off(CUT),
}

#: What comes of an event in each state: the next state, or a word for how the conversation ends. While something is
#: being answered, that is answered first. ``wait`` and ``bad length`` cannot come in the middle of a frame, nor can
#: time pass while something is being answered.
TABLE = """
before         | ping      | wait     | 1 byte   | bad length | peer ends     | time passes | stop          | evict    | cut off
new            | ANSWERING | WAITING  | READING  | bad_frame  | client_closed | bad_frame   | stopping      | too_many | too_many
between_frames | ANSWERING | WAITING  | READING  | bad_frame  | client_closed | idle        | stopping      | too_many | too_many
in_a_frame     | ANSWERING |          |          |            | bad_frame     | bad_frame   | shutting_down | too_many | too_many
answering      | ANSWERING | WAITING  | READING  | bad_frame  | client_closed |             | stopping      | too_many | too_many
waiting        | ANSWERING | WAITING  | READING  | bad_frame  | client_closed |             | stopping      | too_many | too_many
version_1      | answered  | answered | answered | answered   | answered      |             | answered      | answered | answered
sending        | SENDING   | SENDING  | SENDING  | SENDING    | SENDING       | SENDING     | SENDING       | SENDING  | too_many
"""  # noqa: E501


def in_frame(peer: Peer) -> bool:
    """Whether the last byte of a ``ping`` completes it."""
    return len(peer.requests) == 1 and peer.conversation.state is State.READING and peer.conversation.in_frame


def cells() -> Iterator[tuple[str, str, str]]:
    """Yield what was before, the event and its outcome, for every cell of the table."""
    head, *rows = [[cell.strip() for cell in line.split("|")] for line in TABLE.strip().splitlines()]
    for before, *outcomes in rows:
        yield from ((before, event, outcome) for event, outcome in zip(head[1:], outcomes, strict=True) if outcome)


@pytest.mark.parametrize(("before", "event", "outcome"), list(cells()))
def test_every_event_in_every_state_leads_where_the_table_says(before: str, event: str, outcome: str) -> None:
    peer = BEFORE[before]()
    EVENTS[event](peer)
    conversation = peer.conversation
    if conversation.state in (State.ANSWERING, State.WAITING):
        peer.answer(ReplyBatch(peer.outbox))
    if conversation.state in (State.READING, State.SENDING):
        conversation.advance(0.0)
    assert outcome == (conversation.state.name if conversation.end is None else conversation.end.reason)
    assert (conversation.request is None) == (conversation.state not in (State.ANSWERING, State.WAITING))
    assert (conversation.end is None) == (conversation.state is not State.ENDED)


def test_the_table_has_every_event_state_and_end() -> None:
    outcomes = {outcome for _, _, outcome in cells()}
    ends = {"answered", "client_closed", "idle", "stopping", "bad_frame", "shutting_down", "too_many"}
    assert outcomes == {state.name for state in State if state is not State.ENDED} | ends
    assert {before for before, _, _ in cells()} == set(BEFORE)
    assert {event for _, event, _ in cells()} == set(EVENTS)


#: The events that close a conversation, the strongest last, with what it then ends by.
CLOSINGS = {
    "stop": (Closing.STOPPING, "stopping"),
    "evict": (Closing.EVICTED, "too_many"),
    "peer ends": (Closing.PEER_ENDED, "client_closed"),
    "cut off": (Closing.CUT_OFF, "too_many"),
}


@pytest.mark.parametrize("events", list(permutations(CLOSINGS, 2)), ids=" then ".join)
def test_of_several_reasons_to_end_the_strongest_counts_in_whatever_order_they_come(events: tuple[str, ...]) -> None:
    peer = between_frames()
    for event in events:
        EVENTS[event](peer)
    strongest = max(events, key=list(CLOSINGS).index)
    assert peer.conversation.closing is CLOSINGS[strongest][0]
    assert peer.go_on() is State.ENDED
    end = peer.conversation.end
    assert end is not None
    assert end.reason == CLOSINGS[strongest][1]
    assert end.error is {"cut off": CUT, "evict": EVICTION}.get(strongest)


@pytest.mark.parametrize("event", ["stop", "evict", "peer ends"])
def test_a_conversation_that_is_to_end_answers_what_has_been_received(event: str) -> None:
    peer = between_frames()
    peer.conversation.received(PING * 3, 1.0)
    EVENTS[event](peer)
    assert peer.go_on() is State.ENDED
    assert len(peer.requests) == 4


def test_one_that_is_cut_off_answers_nothing_more() -> None:
    peer = answering()
    peer.conversation.received(PING * 3, 1.0)
    EVENTS["cut off"](peer)
    peer.answer_batch()
    assert peer.go_on() is State.ENDED
    assert len(peer.requests) == 2


@pytest.mark.parametrize(("room", "breaks_off"), [(3, True), (1 << 30, False)])
def test_last_words_are_not_sent_behind_a_reply_that_was_broken_off(room: int, breaks_off: bool) -> None:
    peer = answering()
    peer.room = lambda: room
    peer.answer_batch()
    EVENTS["cut off"](peer)
    assert peer.go_on() is State.ENDED
    end = peer.conversation.end
    assert end is not None
    assert (end.breaks_off, end.error) == (breaks_off, None if breaks_off else CUT)


# --- Time -------------------------------------------------------------------------------------------------------------


def test_requests_behind_a_wait_arrived_when_it_was_answered() -> None:
    peer = waiting()
    assert peer.conversation.arrived == 1.0
    peer.conversation.wait_ended(7.0)
    assert peer.conversation.arrived == 7.0
    peer.conversation.wait_ended(0.0)
    assert peer.conversation.arrived == 7.0


# --- Any bytes, cut anywhere ------------------------------------------------------------------------------------------

bodies = st.one_of(
    st.sampled_from(
        [b'{"kind":"hello"}', b'{"kind":"ping"}', b'{"kind":"wait","game_id":1}', b'{"kind":"hello","x":', b"\0"]
    ),
    st.integers(0, 99).map(lambda number: json.dumps({"kind": "ping", "id": number}).encode()),
    st.integers(0, MAX_MESSAGE + 1).map(lambda size: b" " * size + b"1"),
    st.binary(min_size=1, max_size=30),
)
frames = st.one_of(bodies.map(encode_frame), bodies.map(encode_frame), bodies.map(encode_frame), st.binary(max_size=8))
streams = st.builds(lambda first, rest: first + b"".join(rest), st.sampled_from([HELLO, HELLO, b""]), st.lists(frames))
cuts = st.lists(st.integers(1, 60), max_size=30)


def outcome_of(peer: Peer) -> dict[str, Any]:
    """Return all that a client, or the log, can know of a conversation."""
    end = peer.conversation.end
    assert end is not None
    return {
        "requests": list(map(words_of, peer.requests)),
        "sent": peer.sent,
        "end": (end.reason, type(end.error), str(end.error), end.breaks_off),
        "version": peer.conversation.version,
    }


def words_of(request: Request | InvalidRequest) -> tuple[object, ...]:
    """Return a request as something that can be compared."""
    if isinstance(request, InvalidRequest):
        return type(request.error), str(request), request.kind, request.id
    return (request,)


def at_once(data: bytes) -> Peer:
    """Return a conversation that these bytes came to in one piece, with the end behind them."""
    peer = Peer()
    peer.conversation.received(data, 1.0)
    if peer.go_on() is State.READING:
        peer.conversation.received(b"", 1.0)
        peer.go_on()
    return peer


@given(streams, cuts, st.lists(st.integers(0, 50)), st.lists(st.booleans()), st.lists(st.sampled_from([0.0, 0.01])))
def test_the_same_comes_of_the_same_bytes_however_they_and_the_replies_are_cut(
    data: bytes, cuts: list[int], rooms: list[int], freedoms: list[bool], clocks: list[float]
) -> None:
    room, freedom, ticks = iter(rooms), iter(freedoms), iter(clocks)
    time = 0.0

    def clock() -> float:
        nonlocal time
        time += next(ticks, 0.0)
        return time

    peer = Peer(room=lambda: next(room, 1 << 30))
    start = 0
    while peer.go_on(clock, lambda: next(freedom, True)) is State.READING:
        if peer.held and next(freedom, True):
            peer.held.pop().leave()
            continue
        size = cuts.pop() if cuts else len(data)
        peer.conversation.received(data[start : start + size], 1.0)
        start += size
    while peer.held:
        peer.held.pop().leave()
    peer.send()
    expected = at_once(data)
    assert outcome_of(peer) == outcome_of(expected)
    decoder = FrameDecoder()
    decoder.feed(peer.sent)
    assert [decoder.next_frame() for _ in peer.requests] == [b"%d" % number for number in range(len(peer.requests))]
    assert decoder.pending == 0
