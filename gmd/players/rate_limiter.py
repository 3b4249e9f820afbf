"""Rate limits by address: a token bucket for each."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from math import ceil

import trio

from gm_protocol.errors import TooMany
from gmd.net.addresses import source_of

#: Addresses kept, some two megabytes. Beyond that, the one whose last attempt is the oldest is forgotten.
MAX_ADDRESSES = 10_000


class RateLimiter:
    """A rate limit: so many attempts in a period, at once or spread out. Times are trio's."""

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
        """:param what: the name of the limit, for the error.
        :param limit: attempts that an address may make in a period; at least one.
        :param seconds: the period.
        :param unit: the unit counted, for the error; empty for attempts.
        :param whose: what the limit applies to, for the error.
        :param key: returns the key under which a peer (host:port) is counted; by default, its address.
        """
        self._what = what
        self._limit = limit
        self._seconds = seconds
        self._unit = f" {unit}" if unit else ""
        self._whose = whose
        self._key = key
        #: For each address: the amount used, and the time of that value. The amount falls as time passes.
        self._used: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._used)

    def take(self, peer: str) -> None:
        """Use one attempt.

        :param peer: the client, as host:port; an empty one has no limit.
        :raises TooMany: no attempt is left.
        """
        if peer:
            self.check(peer)
            self.charge(peer, 1)

    def charge(self, peer: str, amount: float) -> None:
        """Use an amount, even if less is left, for work that is already done.

        :param peer: the client, as host:port; an empty one has no limit.
        """
        if not peer:
            return
        key = self._key(peer)
        if amount < 0 and key not in self._used:
            return
        self._used[key] = (max(0.0, self._now(key) + amount), trio.current_time())
        self._used.move_to_end(key)
        if len(self._used) > MAX_ADDRESSES:
            self._used.popitem(last=False)

    def check(self, peer: str) -> None:
        """Check that an attempt is left, without using it.

        :raises TooMany: no attempt is left.
        """
        if peer and (used := self._now(self._key(peer))) + 1 > self._limit:
            raise TooMany(*self._refusal(used))

    def give_back(self, peer: str) -> None:
        """Return an attempt that should not count after all."""
        if peer:
            self.charge(peer, -1)

    def _now(self, source: str) -> float:
        used, at = self._used.get(source, (0.0, 0.0))
        return max(0.0, used - (trio.current_time() - at) * self._limit / self._seconds)

    def _refusal(self, used: float) -> tuple[str, float]:
        seconds = (used + 1 - self._limit) * self._seconds / self._limit
        used_up = f"{self._limit}{self._unit} from this {self._whose} are used up"
        return f"{self._what}: {used_up}; try again later", float(ceil(seconds))
