"""The way to this daemon itself, for requests of which other daemons answer parts."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

from gm_protocol.errors import GmError

from .calling import Settle
from .forwarding import Forward
from .link_messages import LinkMessage
from .refused_sessions import RefusedSessions


class LocalIncoming:
    """What this daemon forwards to itself. See :class:`~gmd.cluster.answering.Incoming`."""

    __slots__ = ("_interrupt", "_settle", "answerer", "daemon", "is_lost")

    def __init__(self, answerer: Any, daemon: int, settle: Settle) -> None:
        self.answerer = answerer
        self.daemon = daemon
        self.is_lost = False
        self._settle: Settle | None = settle
        self._interrupt: Callable[[], None] | None = None

    def answer(self, message: LinkMessage) -> None:
        """Answer."""
        self._end(message)

    def refuse(self, error: GmError) -> None:
        """Answer with an error of the protocol."""
        self._end(error)

    def when_interrupted(self, callback: Callable[[], None]) -> None:
        """Call back if the answer is wanted now."""
        self._interrupt = callback

    def interrupt(self) -> None:
        """Have it answered now."""
        if self._settle is not None and self._interrupt is not None:
            self._interrupt()

    def _end(self, outcome: LinkMessage | GmError) -> None:
        settle, self._settle = self._settle, None
        if settle is not None:
            settle(outcome)


class Loopback:
    """A caller of this daemon. See :class:`~gmd.cluster.calling.Caller`.

    :ivar queues, refused: as an :class:`~gmd.cluster.answering.Answerer` has them.
    """

    has_room = True

    def __init__(self, daemon: int, take: Callable[[Forward, Any], None]) -> None:
        self.daemon = daemon
        self.queues: dict[int, Any] = {}
        self.refused = RefusedSessions()
        self._take = take
        self._numbers = count(1)
        self._asked: dict[int, LocalIncoming] = {}

    def post(self, message: Forward, settle: Settle) -> int:
        """Answer a request; return its number."""
        number = next(self._numbers)

        def settled(outcome: Any) -> None:
            self._asked.pop(number, None)
            settle(outcome)

        incoming = self._asked[number] = LocalIncoming(self, self.daemon, settled)
        self._take(message, incoming)
        return number

    def interrupt(self, ask: int) -> None:
        """Have a request answered now."""
        if (incoming := self._asked.get(ask)) is not None:
            incoming.interrupt()

    async def room(self) -> None:
        """Return: there is room."""
