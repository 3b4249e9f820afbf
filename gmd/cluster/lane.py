"""A session's requests that are on their way to one other daemon, so that they need not wait for each other."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Protocol

import trio

from gm_protocol.errors import GmError
from gm_protocol.messages import Request
from gmd.requests.context import PendingReply
from gmd.requests.session import ClientSession

from .calling import AskResult, Caller

#: Requests of one session that may be on their way at a time.
MAX_FLIGHTS = 32

_sessions = count(1)


class Pilot(Protocol):
    """The sender of requests, which sends them again if they were not carried out: the router."""

    def settle(self, reply: PendingReply, outcome: AskResult, session: ClientSession, batch: int) -> bool:
        """Give a reply its body; return whether the request is done with, and need not be sent again."""

    def recover(self, lane: Lane) -> None:
        """Send the undone requests of a session again."""


class Flight:
    """A request that was forwarded and is not answered: the commit of its reply, which has no body until then."""

    __slots__ = ("_callback", "arrived", "batch", "done", "lane", "number", "reply", "request", "shows_presence")

    def __init__(self, lane: Lane, request: Request, arrived: float, shows_presence: bool, player: int | None) -> None:
        self.lane = lane
        self.request = request
        self.arrived = arrived
        self.shows_presence = shows_presence
        self.done = False
        self.batch = lane.session.unacknowledged.next_batch()
        self.reply = PendingReply(b"", request, arrived, self, None, None, player)
        self.number = lane.add(self)
        self._callback: Callable[[GmError | None], None] | None = None

    def then(self, callback: Callable[[GmError | None], None]) -> None:
        """Call back once the reply has its body."""
        if self.done:
            callback(None)
        else:
            self._callback = callback

    async def wait(self) -> None:
        """Wait until the reply has its body."""
        settled = trio.Event()
        self.then(lambda error: settled.set())
        await settled.wait()

    def land(self) -> None:
        """Let the reply leave: it has its body."""
        self.done = True
        if self._callback is not None:
            callback, self._callback = self._callback, None
            callback(None)

    def settle(self, outcome: AskResult) -> None:
        """Take the answer of the other daemon."""
        self.lane.settled(self, outcome)


class Lane:
    """The forwarded requests of one session. They go to one daemon at a time, which answers them in order.

    :ivar session: whose they are.
    :ivar id: the number that the other daemon knows it by.
    :ivar caller: the link that they are on.
    :ivar undone: those that were not carried out, in their order: they are sent again when no other is under way.
    """

    __slots__ = ("_flights", "_idle", "_numbers", "_router", "caller", "id", "is_recovering", "session", "undone")

    def __init__(self, session: ClientSession, router: Pilot) -> None:
        self.session = session
        self.id = next(_sessions)
        self.caller: Caller | None = None
        self.undone: list[Flight] = []
        self.is_recovering = False
        self._router = router
        self._flights: dict[int, Flight] = {}
        self._numbers = count(1)
        self._idle: trio.Event | None = None

    @property
    def is_idle(self) -> bool:
        """Whether all requests are answered."""
        return not self._flights and not self.undone

    @property
    def oldest(self) -> int:
        """The number of the oldest that is not answered."""
        return next(iter(self._flights))

    def takes(self, caller: Caller) -> bool:
        """Return whether another request for a daemon may follow at once."""
        return not self.undone and len(self._flights) < MAX_FLIGHTS and (not self._flights or caller is self.caller)

    async def idle(self) -> None:
        """Return when all requests are answered."""
        while not self.is_idle:
            if self._idle is None:
                self._idle = trio.Event()
            await self._idle.wait()

    def add(self, flight: Flight) -> int:
        """Add a request; return its number."""
        number = next(self._numbers)
        self._flights[number] = flight
        self.session.unacknowledged.expected += 1
        return number

    def settled(self, flight: Flight, outcome: AskResult) -> None:
        """Take the answer to a request; when all are answered, have those sent again that were not carried out."""
        del self._flights[flight.number]
        self.session.unacknowledged.expected -= 1
        if not self._router.settle(flight.reply, outcome, self.session, flight.batch):
            self.undone.append(flight)
        else:
            flight.land()
        if not self._flights:
            if self.undone:
                self.undone.sort(key=lambda each: each.number)
                self._router.recover(self)
            else:
                self.wake()

    def wake(self) -> None:
        """Wake those who wait for :meth:`idle`."""
        if self._idle is not None:
            self._idle.set()
            self._idle = None
