"""How often an address may try, or how much it may use: a token bucket for each."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from math import ceil

import trio

from gm_protocol.errors import TooMany

from .addresses import source_of

#: Addresses remembered, some two megabytes. Beyond that the one that has not tried for the longest is forgotten.
MAX_ADDRESSES = 10_000


class RateLimiter:
    """So many in a period, all at once or one after the other. Times are trio's."""

    def __init__(
        self,
        what: str,
        limit: int,
        seconds: float,
        *,
        unit: str = "",
        whose: str = "address",
        key: Callable[[str], str] = source_of,
    ) -> None:
        """:param what: the name of the limit, for the refusal.
        :param limit: attempts that an address may make in a period; at least one.
        :param seconds: the period.
        :param unit: what is counted, for the refusal; attempts need no name.
        :param whose: what has the limit, for the refusal.
        :param key: what stands for a peer (host:port) here: its address, unless another is given.
        """
        self._what = what
        self._limit = limit
        self._seconds = seconds
        self._unit = f" {unit}" if unit else ""
        self._whose = whose
        self._key = key
        #: For each address: what it has used up, and when that was so. It gets less as time passes.
        self._used: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._used)

    def take(self, peer: str) -> None:
        """Use up one attempt.

        :param peer: whose, as host:port; what is empty has no limit.
        :raises TooMany: there is none left.
        """
        if peer:
            self.check(peer)
            self.charge(peer, 1)

    def charge(self, peer: str, amount: float) -> None:
        """Use up so much, even where less is left: what was done cannot be refused any more.

        :param peer: whose, as host:port; what is empty has no limit.
        """
        if not peer:
            return
        source = self._key(peer)
        self._used[source] = (self._now(source) + amount, trio.current_time())
        self._used.move_to_end(source)
        if len(self._used) > MAX_ADDRESSES:
            self._used.popitem(last=False)

    def check(self, peer: str) -> None:
        """See to it that there is an attempt left, and leave it there.

        :raises TooMany: there is none.
        """
        if peer and (used := self._now(self._key(peer))) + 1 > self._limit:
            raise TooMany(*self._refusal(used))

    def give_back(self, peer: str) -> None:
        """An attempt that was used up does not count after all."""
        if peer and (source := self._key(peer)) in self._used:
            self._used[source] = (max(0.0, self._now(source) - 1), trio.current_time())

    def _now(self, source: str) -> float:
        used, at = self._used.get(source, (0.0, 0.0))
        return max(0.0, used - (trio.current_time() - at) * self._limit / self._seconds)

    def _refusal(self, used: float) -> tuple[str, float]:
        seconds = (used + 1 - self._limit) * self._seconds / self._limit
        used_up = f"{self._limit}{self._unit} from this {self._whose} are used up"
        return f"{self._what}: {used_up}; try again later", float(ceil(seconds))
