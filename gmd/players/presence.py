"""Presence: which registered players have a session open, or have sent a request recently."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable
from math import inf

from gmd.net import loop_time
from gmd.players.account import Account, Authenticated
from gmd.players.registry import Registry


class Presence:
    """Tracks which players are present.

    A player is present while a session is open that its ``hello`` authenticated, and for some time after any request
    without a session, such as one over HTTP. A player whose key was revoked or replaced is absent until it
    authenticates again.
    """

    def __init__(self, registry: Registry, seconds: float) -> None:
        """:param seconds: how long a request counts."""
        self._registry = registry
        self._seconds = seconds
        self._sessions: Counter[Authenticated] = Counter()
        #: When each was last seen, in trio's time, in that order.
        self._seen: OrderedDict[Authenticated, float] = OrderedDict()
        self._on_come: list[Callable[[int], None]] = []

    def when_come(self, callback: Callable[[int], None]) -> None:
        """Call ``callback`` with every player who becomes present."""
        self._on_come.append(callback)

    def seen(self, player: int) -> None:
        """Record an authenticated player's request that needs no session."""
        account = self._registry.get(player)
        if account is not None and account.key is not None:
            authenticated = Authenticated(player, account.key)
            was_here = self._is_here(authenticated)
            self._seen[authenticated] = loop_time.now()
            self._seen.move_to_end(authenticated)
            self._forget_old()
            if not was_here:
                self._come(player)

    def is_here(self, player: int) -> bool:
        """Return whether the player may be expected to answer."""
        account = self._registry.get(player)
        if account is None or account.key is None:
            return False
        return self._is_here(Authenticated(player, account.key))

    def is_current(self, authenticated: Authenticated) -> bool:
        """Return whether a proof is of the player's current key."""
        account = self._registry.get(authenticated.player)
        return account is not None and account.key == authenticated.key

    def _is_here(self, authenticated: Authenticated) -> bool:
        if authenticated in self._sessions:
            return True
        return self._seen.get(authenticated, -inf) > loop_time.now() - self._seconds

    def present(self) -> list[Account]:
        """Return all present players, in the order of their ids."""
        self._forget_old()
        players = {authenticated.player for authenticated in (*self._sessions, *self._seen)}
        accounts = (self._registry.get(player) for player in sorted(players) if self.is_here(player))
        return [account for account in accounts if account is not None]

    def enter(self, authenticated: Authenticated) -> None:
        """Record that a session is this player's from now on; its end shows when the player has gone."""
        was_here = self._is_here(authenticated)
        self._sessions[authenticated] += 1
        self._seen.pop(authenticated, None)
        if not was_here:
            self._come(authenticated.player)

    def _come(self, player: int) -> None:
        for callback in self._on_come:
            callback(player)

    def leave(self, authenticated: Authenticated) -> None:
        """Record that a session is no longer this player's."""
        self._sessions[authenticated] -= 1
        if not self._sessions[authenticated]:
            del self._sessions[authenticated]

    def _forget_old(self) -> None:
        before = loop_time.now() - self._seconds
        while self._seen and next(iter(self._seen.values())) <= before:
            self._seen.popitem(last=False)


class Attendance:
    """One session's part in presence: it belongs to nobody, or to one player at a time."""

    __slots__ = ("_authenticated", "_presence")

    def __init__(self, presence: Presence) -> None:
        self._presence = presence
        self._authenticated: Authenticated | None = None

    @property
    def player(self) -> int | None:
        """The registered player whose session it is, or None."""
        return None if self._authenticated is None else self._authenticated.player

    @property
    def stands(self) -> bool:
        """Whether the player still has the key that it authenticated the session with."""
        return self._authenticated is not None and self._presence.is_current(self._authenticated)

    def enter(self, authenticated: Authenticated) -> None:
        """Make the session this player's, and no other's."""
        self.leave()
        self._authenticated = authenticated
        self._presence.enter(authenticated)

    def leave(self) -> None:
        """Detach the session from its player; called at its end, too."""
        if self._authenticated is not None:
            authenticated, self._authenticated = self._authenticated, None
            self._presence.leave(authenticated)
