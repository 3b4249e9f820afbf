"""The side of a link that takes asks and notes: it has accepted the connection."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
import trio
from msgspec import Raw

from gm_protocol.errors import GmError, Internal
from gmd.logger import get_logger

from .link import Link
from .link_messages import (
    MAX_BODY,
    Acknowledged,
    Answer,
    Ask,
    Beat,
    Codec,
    Envelope,
    Interrupt,
    LinkMessage,
    Notes,
    encode,
    refusal_of,
)
from .refused_sessions import RefusedSessions
from .turn_writes import TurnWrites

logger = get_logger(__name__)


class Incoming:
    """An ask of another daemon. It is answered once, by any task and at any time; after the link's end in vain.

    :ivar daemon: who asks.
    :ivar is_lost: whether nobody waits for the answer any more.
    """

    __slots__ = ("_id", "_interrupt", "_link", "answerer", "daemon")

    def __init__(self, daemon: int, ask: int, link: Link, answerer: Answerer) -> None:
        self.daemon = daemon
        self.answerer = answerer
        self._id = ask
        self._link = link
        self._interrupt: Callable[[], None] | None = None

    @property
    def is_lost(self) -> bool:
        return not self._link.is_open

    def answer(self, message: LinkMessage) -> None:
        """Answer; refuse if the answer is too large for a frame."""
        answer = encode(Answer(self._id, type(message).__name__, message))
        if len(answer) > MAX_BODY:
            self.refuse(Internal(f"the answer has {len(answer)} bytes; servers send each other at most {MAX_BODY}"))
            return
        if self._link.is_open:
            self._link.post_encoded(answer)
        self._end()

    def refuse(self, error: GmError) -> None:
        """Answer with an error of the protocol."""
        if self._link.is_open:
            self._link.post(refusal_of(self._id, error))
        self._end()

    def when_interrupted(self, callback: Callable[[], None]) -> None:
        """Call back if the other daemon wants the answer now, or is gone."""
        self._interrupt = callback
        self.answerer.waiting[self._id] = callback
        if self.is_lost:
            callback()

    def _end(self) -> None:
        if self._interrupt is not None:
            self._interrupt = None
            self.answerer.waiting.pop(self._id, None)


#: Takes an ask, and sees to its answer; it must not block. Takes a note, with the daemon that sent it.
TakeAsk = Callable[[Any, Incoming], None]
TakeNote = Callable[[Any, int], None]
#: Answers an ask in a task of its own.
AnswerAsk = Callable[[Any, int], Awaitable[LinkMessage]]


class Handlers:
    """What is done with asks and notes, by the names of their types; all links of a daemon share it."""

    def __init__(self) -> None:
        self.asks: dict[str, TakeAsk] = {}
        self.notes: dict[str, TakeNote] = {}
        self.gaps: list[Callable[[int], None]] = []
        self.codec = Codec()
        #: How many asks each daemon has sent, by their names.
        self.counts: defaultdict[int, Counter[str]] = defaultdict(Counter)


class Answerer:
    """One accepted connection.

    :ivar waiting: callbacks of the asks that may be interrupted.
    """

    def __init__(
        self,
        stream: trio.abc.Stream,
        daemon: int,
        handlers: Handlers,
        noted: dict[int, int],
        turn_writes: TurnWrites | None = None,
    ) -> None:
        """:param daemon: the other one, which has proved itself.
        :param noted: the number of the last note of each daemon, on all its connections.
        """
        self._daemon = daemon
        self._handlers = handlers
        self._counts = handlers.counts[daemon]
        self._noted = noted
        self._link = Link(stream, self._take, answers=True, turn_writes=turn_writes)
        self.waiting: dict[int, Callable[[], None]] = {}
        #: Kept by :mod:`gmd.cluster.remote_session`: the requests of a session that wait for one before them, and the
        #: sessions whose requests were not carried out.
        self.queues: dict[int, Any] = {}
        self.refused = RefusedSessions()

    async def run(self) -> None:
        """Serve until the connection ends; then interrupt what is being answered."""
        try:
            await self._link.run()
        finally:
            for interrupt in list(self.waiting.values()):
                interrupt()

    def _take(self, envelope: Envelope) -> None:
        match envelope:
            case Ask():
                self._take_ask(envelope)
            case Interrupt():
                if (interrupt := self.waiting.get(envelope.id)) is not None:
                    interrupt()
            case Notes():
                self._take_notes(envelope)
            case Beat():
                pass
            case _:
                raise trio.BrokenResourceError(f"daemon {self._daemon} answered a request that was never sent")

    def _take_ask(self, ask: Ask[Raw]) -> None:
        incoming = Incoming(self._daemon, ask.id, self._link, self)
        self._counts[ask.name] += 1
        take = self._handlers.asks.get(ask.name)
        if take is None:
            incoming.refuse(Internal(f"this daemon takes no {ask.name} from others"))
            return
        try:
            take(self._handlers.codec.decode(ask.name, ask.body), incoming)
        except (KeyError, msgspec.DecodeError):
            logger.exception("a message of another daemon cannot be read", name=ask.name, daemon=self._daemon)
            incoming.refuse(Internal(f"this daemon cannot read {ask.name}"))
        except GmError as error:
            incoming.refuse(error)
        except Exception:
            logger.exception("a message of another daemon could not be answered", name=ask.name, daemon=self._daemon)
            incoming.refuse(Internal("the server failed on this request; its log says why"))

    def _take_notes(self, notes: Notes) -> None:
        last = self._noted.get(self._daemon, -1)
        if notes.after_gap and notes.number > last + 1:
            for note_gap in self._handlers.gaps:
                note_gap(self._daemon)
        for number, (name, body) in enumerate(notes.notes, notes.number):
            if number > last:
                self._noted[self._daemon] = number
                self._take_note(name, body)
        self._link.post(Acknowledged(notes.number + len(notes.notes) - 1))

    def _take_note(self, name: str, body: Raw) -> None:
        take = self._handlers.notes.get(name)
        try:
            if take is None:
                logger.error("a note of another daemon that nobody takes", name=name, daemon=self._daemon)
            else:
                take(self._handlers.codec.decode(name, body), self._daemon)
        except Exception:
            logger.exception("a note of another daemon could not be taken", name=name, daemon=self._daemon)
