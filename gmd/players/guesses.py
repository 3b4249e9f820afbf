"""How often passwords may be guessed: by address, and beside that by player, where the player is known there.

A player is known at an address where it was let in from there, or registered: by key or password, since the start.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from functools import partial

from gm_protocol.errors import TooMany
from gmd.addresses import source_of
from gmd.rate_limiter import RateLimiter

from .account import folded
from .fair_queue import OURSELVES, QueuedClient

#: Attempts in a minute that a player has to itself at an address where it is known, when all others are used up there:
#: enough for its programs to come in one after the other, and too few to guess a password by.
OWN_PER_MINUTE = 10
#: Pairs of a player and an address remembered, some 200 bytes each. Beyond that the address that has the most forgets
#: the one used longest ago: an attacker with many players of its own makes no others unknown.
MAX_KNOWN = 10_000

#: What a refusal says behind the limit, for somebody whose password may be right.
WHY = "too many wrong keys and passwords have come from there, so this password was not compared"

_Key = tuple[str, str]


class Guesses:
    """Lets passwords be compared as often as that is no way to guess one.

    Attempts are counted by address (:class:`RateLimiter`), and a class or a lab has one. So a player who was let
    in from an address before has some attempts there of its own, which its neighbours cannot use up by other names.
    """

    def __init__(self, failures: RateLimiter, own: int = OWN_PER_MINUTE) -> None:
        """:param failures: what is counted by address, wrong keys among it.
        :param own: how many attempts a known player has to itself in a minute.
        """
        self._failures = failures
        self._own = RateLimiter("max_failures_per_minute", own, 60.0, whose="player at this address", key=str)
        #: The players known at each address, those seen last at the end; and how many there are in all.
        self._known: dict[str, OrderedDict[str, None]] = {}
        self._known_count = 0

    def know(self, name: str, peer: str) -> None:
        """Note that a player was let in, or has registered, from somewhere."""
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
        """A player is known nowhere any more."""
        name = folded(name)
        for source in [source for source, here in self._known.items() if name in here]:
            self._drop(source, name)

    def _drop(self, source: str, name: str) -> None:
        del self._known[source][name]
        self._known_count -= 1
        if not self._known[source]:
            del self._known[source]

    def client(self, name: str, peer: str) -> QueuedClient:
        """Whoever waits for a password of that name to be compared."""
        return QueuedClient(source_of(peer), self._is_known(name, peer)) if peer else OURSELVES

    def _is_known(self, name: str, peer: str) -> bool:
        source, name = _key(name, peer)
        return name in self._known.get(source, ())

    def take(self, name: str, peer: str) -> Callable[[], None]:
        """Use up one attempt at a player's password; what is returned gives it back, where it was right.

        :param peer: whose attempt it is, as host:port.
        :raises TooMany: there is none left.
        """
        counter, source = self._counter(name, peer)
        counter.take(source)
        return partial(counter.give_back, source)

    def check(self, name: str, peer: str) -> None:
        """See to it that there is an attempt left, and leave it there.

        :raises TooMany: there is none.
        """
        self._counter(name, peer)

    def _counter(self, name: str, peer: str) -> tuple[RateLimiter, str]:
        """Where an attempt is counted, and as whose."""
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
