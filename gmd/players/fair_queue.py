"""A queue that one address cannot fill: known clients first, and among equals round-robin by address."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple

import trio

from gm_protocol.errors import TooMany
from gmd.net.round_robin import RoundRobin

#: Turns of known clients in a row before an unknown client gets one: a new client with the right password gets in,
#: however many accounts an attacker has.
KNOWN_IN_A_ROW = 3
#: Seconds after which a refused client may retry.
RETRY_AFTER = 5.0


class QueuedClient(NamedTuple):
    """A client waiting for a turn.

    :ivar source: stands for its address (:func:`gmd.net.addresses.source_of`); empty for this process and the operator,
        who have no limit.
    :ivar known: whether its player was admitted from that address before.
    """

    source: str
    known: bool


#: This process and the operator.
OURSELVES = QueuedClient("", known=True)


class _Waiter:
    """A client in the queue.

    :ivar called: set when its turn has come, or when it is refused.
    """

    __slots__ = ("called", "client", "refusal")

    def __init__(self, client: QueuedClient) -> None:
        self.client = client
        self.called = trio.Event()
        self.refusal: TooMany | None = None


class FairQueue:
    """Gives out a limited number of turns at a time; other clients wait.

    When the queue is full, a newcomer replaces the newest waiter of the address with the most waiters, if that address
    has more than the newcomer's own would then have. So an address is refused only because of its own waiters, or when
    there are more addresses than places. Even then a known client replaces an unknown one.
    """

    def __init__(self, what: str, at_a_time: int, max_waiting: int, max_of_one: int) -> None:
        """:param what: the name of the limit, for refusals; the limit of one address adds ``_per_address``.
        :param at_a_time: the number of turns at a time.
        :param max_waiting: the most clients waiting.
        :param max_of_one: the most clients waiting from one address.
        """
        self._what = what
        self._at_a_time = at_a_time
        self._max_waiting = max_waiting
        self._max_of_one = max_of_one
        self._running = 0
        self._known, self._others = RoundRobin[_Waiter](), RoundRobin[_Waiter]()
        self._known_in_a_row = 0
        #: The number of waiters by source, without clients that have no address and no limit.
        self._waiting: Counter[str] = Counter()

    def __len__(self) -> int:
        return self._waiting.total()

    @asynccontextmanager
    async def turn(self, client: QueuedClient) -> AsyncIterator[None]:
        """Wait for a turn, and hold it during the block.

        :raises TooMany: too many are waiting, or another client with precedence has taken the place.
        """
        if self._running < self._at_a_time:
            self._running += 1
        else:
            await self._wait(client)
        try:
            yield
        finally:
            self._pass_on()

    async def _wait(self, client: QueuedClient) -> None:
        waiter = self._join(client)
        try:
            await waiter.called.wait()
        except BaseException:
            if not self._take_out(waiter) and waiter.refusal is None:
                self._pass_on()  # its turn had just come
            raise
        if waiter.refusal is not None:
            raise waiter.refusal

    def _join(self, client: QueuedClient) -> _Waiter:
        if client.source:
            if self._waiting[client.source] >= self._max_of_one:
                raise self._refusal(f"_per_address: {self._max_of_one} from this address wait to be compared")
            if len(self) >= self._max_waiting:
                self._make_room(client)
            self._waiting[client.source] += 1
        waiter = _Waiter(client)
        (self._known if client.known else self._others).add(client.source, waiter)
        return waiter

    def _make_room(self, client: QueuedClient) -> None:
        """Refuse a waiter to make room for this client.

        :raises TooMany: no waiter ranks below this client.
        """
        source, most = self._waiting.most_common(1)[0]
        if most <= self._waiting[client.source] + 1:
            if not (client.known and self._others):
                raise self._full()
            source = self._others.longest()
        waiter = (self._others if source in self._others else self._known).newest(source)
        self._take_out(waiter)
        waiter.refusal = self._full()
        waiter.called.set()

    def _take_out(self, waiter: _Waiter) -> bool:
        source = waiter.client.source
        found = self._known.remove(source, waiter) or self._others.remove(source, waiter)
        if found:
            self._forget(waiter)
        return found

    def _forget(self, waiter: _Waiter) -> None:
        """Remove a former waiter from the counts."""
        source = waiter.client.source
        if source:
            self._waiting[source] -= 1
            if not self._waiting[source]:
                del self._waiting[source]

    def _pass_on(self) -> None:
        """Pass a turn that has ended to the next waiter, if there is one."""
        if not self._known and not self._others:
            self._running -= 1
            return
        known = bool(self._known) and (self._known_in_a_row < KNOWN_IN_A_ROW or not self._others)
        self._known_in_a_row = self._known_in_a_row + 1 if known else 0
        waiter = (self._known if known else self._others).pop()
        self._forget(waiter)
        waiter.called.set()

    def _full(self) -> TooMany:
        return self._refusal(f": {self._max_waiting} wait to be compared")

    def _refusal(self, text: str) -> TooMany:
        return TooMany(f"{self._what}{text}; try again later", RETRY_AFTER)
