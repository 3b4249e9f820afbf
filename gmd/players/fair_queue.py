"""A queue that one address cannot fill: known clients first, and within each kind the addresses in rounds."""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple

import trio

from gm_protocol.errors import TooMany

#: Turns of known clients in a row, after which one of the others has its turn: a stranger who has the right password
#: gets in, too, however many accounts an attacker has of its own.
KNOWN_IN_A_ROW = 3
#: Seconds after which a client that was refused may find a place.
RETRY_AFTER = 5.0


class QueuedClient(NamedTuple):
    """Who waits for a turn.

    :ivar source: what stands for its address (:func:`gmd.addresses.source_of`); empty for this process and the
        operator, who wait behind nobody's limit.
    :ivar known: whether its player was let in from there lately.
    """

    source: str
    known: bool


#: This process, and the operator.
OURSELVES = QueuedClient("", known=True)


class _Waiter:
    """Somebody in the queue.

    :ivar called: set when its turn has come, or it is refused.
    """

    __slots__ = ("called", "client", "refusal")

    def __init__(self, client: QueuedClient) -> None:
        self.client = client
        self.called = trio.Event()
        self.refusal: TooMany | None = None


class _Rounds:
    """Waiters, taken in rounds: the first one of every source, then the second one of every source."""

    def __init__(self) -> None:
        self._by_source: OrderedDict[str, deque[_Waiter]] = OrderedDict()

    def __bool__(self) -> bool:
        return bool(self._by_source)

    def __contains__(self, source: str) -> bool:
        return source in self._by_source

    def add(self, waiter: _Waiter) -> None:
        self._by_source.setdefault(waiter.client.source, deque()).append(waiter)

    def pop(self) -> _Waiter:
        """Take the next one."""
        source, waiters = self._by_source.popitem(last=False)
        waiter = waiters.popleft()
        if waiters:
            self._by_source[source] = waiters
        return waiter

    def remove(self, waiter: _Waiter) -> bool:
        """Take one out; return whether it was there."""
        waiters = self._by_source.get(waiter.client.source, deque())
        if waiter not in waiters:
            return False
        waiters.remove(waiter)
        if not waiters:
            del self._by_source[waiter.client.source]
        return True

    def newest(self, source: str) -> _Waiter:
        """Return the one of a source that would have its turn last."""
        return self._by_source[source][-1]

    def longest(self) -> str:
        """Return the source that has the most waiters."""
        return max(self._by_source, key=lambda source: len(self._by_source[source]))


class FairQueue:
    """Gives turns, so many at a time; whoever finds none free waits.

    Where the queue is full, a newcomer takes the place of the newest waiter of the address that has the most, if that
    has more than the newcomer's own would have then; so an address is refused only by its own doing, or where there are
    more addresses than places. A known client takes the place of an unknown one even then.
    """

    def __init__(self, what: str, at_a_time: int, max_waiting: int, max_of_one: int) -> None:
        """:param what: the name of the limit, for refusals; that of one address has ``_per_address`` behind it.
        :param at_a_time: turns at a time.
        :param max_waiting: how many may wait.
        :param max_of_one: how many of one address may.
        """
        self._what = what
        self._at_a_time = at_a_time
        self._max_waiting = max_waiting
        self._max_of_one = max_of_one
        self._running = 0
        self._known, self._others = _Rounds(), _Rounds()
        self._known_in_a_row = 0
        #: How many wait, by source; those without an address, who have no limit, are not among them.
        self._waiting: Counter[str] = Counter()

    def __len__(self) -> int:
        return self._waiting.total()

    @asynccontextmanager
    async def turn(self, client: QueuedClient) -> AsyncIterator[None]:
        """Wait for a turn, and have it for as long as the block lasts.

        :raises TooMany: too many wait; or one who had more right to the place has taken it.
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
                self._pass_on()  # its turn had come in this very moment
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
        (self._known if client.known else self._others).add(waiter)
        return waiter

    def _make_room(self, client: QueuedClient) -> None:
        """Refuse somebody who waits, so that this one may.

        :raises TooMany: nobody has less right to a place.
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
        found = self._known.remove(waiter) or self._others.remove(waiter)
        if found:
            self._forget(waiter)
        return found

    def _forget(self, waiter: _Waiter) -> None:
        """Count somebody no more who waits no longer."""
        source = waiter.client.source
        if source:
            self._waiting[source] -= 1
            if not self._waiting[source]:
                del self._waiting[source]

    def _pass_on(self) -> None:
        """Give a turn that has ended to the next one, if anybody waits."""
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
