"""Limits on guessing passwords: by address, and also by player, where the player is known at the address.

A player is known at an address from which it was admitted, by key or password, or registered, since the start.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from functools import partial

from gm_protocol.errors import TooMany
from gmd.net.addresses import source_of
from gmd.players.account import folded
from gmd.players.fair_queue import OURSELVES, QueuedClient
from gmd.players.rate_limiter import RateLimiter

#: Attempts in a minute reserved for a player at an address where it is known, once the address has used up its own:
#: enough for the player's programs to log in one after the other, and too few to guess a password.
OWN_PER_MINUTE = 10
#: The most pairs of player and address kept, some 200 bytes each. Beyond that the address with the most pairs loses
#: the one used longest ago, so that an attacker with many players cannot evict those of others.
MAX_KNOWN = 10_000

#: The end of a refusal after the limit, for a client whose password may be right.
WHY = "too many wrong keys and passwords have come from this address, so this password was not checked"

_Key = tuple[str, str]


class Guesses:
    """Limits password comparisons to a rate at which passwords cannot be guessed.

    Attempts are counted by address (:class:`RateLimiter`), but a class or a lab may share one. So a player admitted
    from an address before has attempts of its own there, which its neighbours cannot use up with other names.
    """

    def __init__(self, failures: RateLimiter, own: int = OWN_PER_MINUTE) -> None:
        """:param failures: counts attempts by address, including wrong keys.
        :param own: attempts in a minute for a known player.
        """
        self._failures = failures
        self._own = RateLimiter("max_failures_per_minute", own, 60.0, whose="player at this address", key=str)
        #: The players known at each address, the one seen last at the end; and their number over all addresses.
        self._known: dict[str, OrderedDict[str, None]] = {}
        self._known_count = 0

    def know(self, name: str, peer: str) -> None:
        """Record that a player was admitted or has registered from an address."""
        if not peer:
            return
        source, name = _key(name, peer)
        here = self._known.setdefault(source, OrderedDict())
        if name in here:
            here.move_to_end(name)
            return
        here[name] = None
        self._known_count += 1
        if self._known_count > MAX_KNOWN:
            most = max(self._known, key=lambda source: len(self._known[source]))
            self._drop(most, next(iter(self._known[most])))

    def forget(self, name: str) -> None:
        """Forget a player at all addresses."""
        name = folded(name)
        for source in [source for source, here in self._known.items() if name in here]:
            self._drop(source, name)

    def _drop(self, source: str, name: str) -> None:
        del self._known[source][name]
        self._known_count -= 1
        if not self._known[source]:
            del self._known[source]

    def client(self, name: str, peer: str) -> QueuedClient:
        """Return the client that waits for a password of this name to be compared."""
        return QueuedClient(source_of(peer), self._is_known(name, peer)) if peer else OURSELVES

    def _is_known(self, name: str, peer: str) -> bool:
        source, name = _key(name, peer)
        return name in self._known.get(source, ())

    def take(self, name: str, peer: str) -> Callable[[], None]:
        """Use up one attempt at a player's password; return a function that gives it back, for a right one.

        :param peer: the client, as host:port.
        :raises TooMany: no attempt is left.
        """
        counter, source = self._counter(name, peer)
        counter.take(source)
        return partial(counter.give_back, source)

    def check(self, name: str, peer: str) -> None:
        """Check that an attempt is left, without using it up.

        :raises TooMany: none is left.
        """
        self._counter(name, peer)

    def _counter(self, name: str, peer: str) -> tuple[RateLimiter, str]:
        """Return the counter for an attempt, and the key to count it under."""
        try:
            self._failures.check(peer)
            return self._failures, peer
        except TooMany as refusal:
            if not self._is_known(name, peer):
                raise _explained(refusal) from None
        mine = f"{source_of(peer)} {folded(name)}"
        try:
            self._own.check(mine)
        except TooMany as refusal:
            raise _explained(refusal) from None
        return self._own, mine


def _explained(refusal: TooMany) -> TooMany:
    assert refusal.retry_after is not None
    return TooMany(f"{refusal}: {WHY}", refusal.retry_after)


def _key(name: str, peer: str) -> _Key:
    return source_of(peer), folded(name)
