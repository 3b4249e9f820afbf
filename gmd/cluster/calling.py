"""The side of a link that sends asks and notes: it has connected, and does so again while the other daemon lives."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable
from itertools import islice

import trio
from msgspec import Raw

from gm_protocol.errors import GmError

from .link import Link
from .link_messages import (
    Acknowledged,
    Answer,
    Ask,
    Beat,
    Codec,
    Envelope,
    Interrupt,
    LinkMessage,
    Notes,
    Refusal,
    encode,
    error_of,
)
from .turn_writes import TurnWrites

#: Notes in one frame, and notes that are kept until they are acknowledged. More are dropped, the oldest first, and the
#: other daemon learns that there is a gap.
NOTES_A_FRAME = 500
MAX_NOTES = 200_000


class LinkLost(Exception):
    """An error: an ask was not answered, because the connection or the other daemon is gone.

    :ivar sent: whether the other daemon may have got it, and may have done what it asks.
    """

    def __init__(self, daemon: int, *, sent: bool) -> None:
        super().__init__(f"the link to daemon {daemon} was lost {'after' if sent else 'before'} the message was sent")
        self.daemon = daemon
        self.sent = sent


#: What has become of an ask: its answer, an error of the protocol, or that the link was lost.
AskResult = LinkMessage | GmError | LinkLost
#: Called with the outcome, once; it must not block.
Settle = Callable[[AskResult], None]


class Caller:
    """All connections, one at a time, to one other daemon.

    :ivar daemon: its id.
    :ivar is_gone: whether it counts as dead.
    """

    def __init__(self, daemon: int, codec: Codec, turn_writes: TurnWrites | None = None) -> None:
        self.daemon = daemon
        self.is_gone = False
        #: How many messages of each type were asked, by its name.
        self.counts: defaultdict[str, int] = defaultdict(int)
        #: Called when it is.
        self.on_gone: Callable[[], object] = lambda: None
        self._codec = codec
        self._turn_writes = turn_writes
        self._link: Link | None = None
        self._asked: dict[int, Settle] = {}
        self._last_ask = 0
        self._taken = 0  # the last ask that has begun to be sent
        self._notes: deque[tuple[str, Raw]] = deque()
        self._first_note = 0  # the number of the first that is not acknowledged
        self._next_note = 0  # the number of the first that was not sent on this connection
        self._gap = False
        self._turned = trio.Event()  # set when it has connected, or is gone
        self._acknowledged: trio.Event | None = None  # set when notes are acknowledged, or it is gone

    @property
    def is_connected(self) -> bool:
        """Whether asks are sent at once."""
        return self._link is not None and self._link.is_open

    @property
    def notes(self) -> int:
        """How many notes are not acknowledged."""
        return len(self._notes)

    @property
    def has_room(self) -> bool:
        """Whether it is connected, and does not have too much to send."""
        return self._link is not None and self._link.is_open and not self._link.is_full

    async def room(self) -> None:
        """Return when it is connected and has room.

        :raises LinkLost: the daemon is gone.
        """
        while not self.has_room:
            if self.is_gone:
                raise LinkLost(self.daemon, sent=False)
            if self._link is not None and self._link.is_open:
                await self._link.room()
            else:
                await self._turned.wait()

    def post(self, message: LinkMessage, settle: Settle) -> int:
        """Send an ask and return its number. It must be connected."""
        assert self._link is not None
        self._last_ask += 1
        self._asked[self._last_ask] = settle
        name = type(message).__name__
        self.counts[name] += 1
        self._link.post(Ask(self._last_ask, name, message))
        return self._last_ask

    def interrupt(self, ask: int) -> None:
        """Have an ask answered now, if it is not yet."""
        if ask in self._asked and self._link is not None and self._link.is_open:
            self._link.post(Interrupt(ask))

    async def ask(self, message: LinkMessage) -> LinkMessage:
        """Send an ask and return its answer.

        :raises GmError: the other daemon refused it.
        :raises LinkLost: there will be no answer.
        """
        await self.room()
        outcomes: list[AskResult] = []
        done = trio.Event()

        def settle(outcome: AskResult) -> None:
            outcomes.append(outcome)
            done.set()

        self.post(message, settle)
        await done.wait()
        outcome = outcomes[0]
        if isinstance(outcome, LinkMessage):
            return outcome
        raise outcome

    def tell(self, note: LinkMessage) -> None:
        """Send a note behind all before it; again after a reconnect, until it is acknowledged."""
        if self.is_gone:
            return
        self._notes.append((type(note).__name__, Raw(encode(note))))
        if len(self._notes) > MAX_NOTES:
            self._notes.popleft()
            self._first_note += 1
            self._gap = True
        if self._link is not None and self._link.is_open:
            self._link.write_soon()

    async def notes_acknowledged(self) -> None:
        """Return when the other daemon has taken all notes so far, or is gone."""
        end = self._first_note + len(self._notes)
        while self._first_note < end and not self.is_gone:
            if self._acknowledged is None:
                self._acknowledged = trio.Event()
            await self._acknowledged.wait()

    def _wake_waiting(self) -> None:
        if self._acknowledged is not None:
            self._acknowledged.set()
            self._acknowledged = None

    # --- Its connections ----------------------------------------------------------------------------------------------

    async def run(self, stream: trio.abc.Stream) -> None:
        """Use a connection, after the handshake, until it ends."""
        link = self._link = Link(stream, self._take, answers=False, turn_writes=self._turn_writes)
        link.on_taken = self._note_taken
        link.before_sending = self._post_notes
        self._next_note = self._first_note
        if self._notes:
            link.write_soon()
        self._turned.set()
        try:
            await link.run()
        finally:
            self._link = None
            self._turned = trio.Event()
            if self.is_gone:
                self._turned.set()
            self._lose_asks()

    def leave(self) -> None:
        """Note that the daemon is gone: nothing is sent to it any more."""
        self.is_gone = True
        self._notes.clear()
        self._turned.set()
        self._wake_waiting()
        self.on_gone()

    def _lose_asks(self) -> None:
        asked, self._asked = self._asked, {}
        taken = self._taken
        for ask, settle in asked.items():
            settle(LinkLost(self.daemon, sent=ask <= taken))

    def _note_taken(self) -> None:
        self._taken = self._last_ask

    def _post_notes(self) -> None:
        """Post the notes that were not sent on this connection, a frame of them for each so many."""
        assert self._link is not None
        self._next_note = max(self._next_note, self._first_note)
        end = self._first_note + len(self._notes)
        while self._next_note < end and not self._link.is_full:
            start = self._next_note - self._first_note
            notes = list(islice(self._notes, start, start + NOTES_A_FRAME))
            self._link.post(Notes(self._next_note, notes, self._gap))
            self._next_note += len(notes)

    def _take(self, envelope: Envelope) -> None:
        match envelope:
            case Answer():
                if envelope.id in self._asked:
                    answer = self._codec.decode(envelope.name, envelope.body)  # if it cannot be read, the ask is lost
                    self._asked.pop(envelope.id)(answer)
            case Refusal():
                if (settle := self._asked.pop(envelope.id, None)) is not None:
                    settle(error_of(envelope))
            case Acknowledged():
                while self._notes and self._first_note <= envelope.number:
                    self._notes.popleft()
                    self._first_note += 1
                self._wake_waiting()
                self._gap = self._gap and bool(self._notes)
                self._post_notes()
            case Beat():
                pass
            case _:
                raise trio.BrokenResourceError(f"daemon {self.daemon} asks on a link that is not its own")
