"""Presence: which registered players have a session open, or have sent a request recently."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable
from math import inf

from gmd import loop_time

from .account import Account
from .authenticated import Authenticated
from .registry import Registry


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
        #: The other daemons at which each has a session, if this daemon gets to know.
        self._elsewhere: dict[Authenticated, set[int]] = {}
        #: Called when somebody's first session at this daemon begins (True), and when its last one ends; and with
        #: everybody who is seen without a session. None where there is one daemon.
        self.on_session: Callable[[Authenticated, bool], None] | None = None
        self.on_seen: Callable[[Authenticated], None] | None = None
        #: Called with a player and its session at this daemon that has ended.
        self.on_visit_over: Callable[[int, Visit], None] | None = None

    def when_come(self, callback: Callable[[int], None]) -> None:
        """Call ``callback`` with every player who becomes present."""
        self._on_come.append(callback)

    def seen(self, player: int) -> None:
        """Record an authenticated player's request that needs no session."""
        account = self._registry.get(player)
        if account is not None and account.key is not None:
            authenticated = Authenticated(player, account.key)
            self._see(authenticated)
            if self.on_seen is not None:
                self.on_seen(authenticated)

    def _see(self, authenticated: Authenticated) -> None:
        was_here = self._is_here(authenticated)
        self._seen[authenticated] = loop_time.now()
        self._seen.move_to_end(authenticated)
        self._forget_old()
        if not was_here:
            self._come(authenticated.player)

    # --- Other daemons ------------------------------------------------------------------------------------------

    def sessions(self) -> list[Authenticated]:
        """Return those who have sessions at this daemon."""
        return list(self._sessions)

    def is_visiting(self, player: int) -> bool:
        """Return whether a player has a session at this daemon."""
        return any(each.player == player for each in self._sessions)

    def session_elsewhere(self, daemon: int, authenticated: Authenticated, *, open: bool) -> None:
        """Record that somebody has, or no longer has, sessions at another daemon."""
        if open:
            was_here = self._is_here(authenticated)
            self._elsewhere.setdefault(authenticated, set()).add(daemon)
            if not was_here:
                self._come(authenticated.player)
        elif (daemons := self._elsewhere.get(authenticated)) is not None:
            daemons.discard(daemon)
            if not daemons:
                del self._elsewhere[authenticated]

    def seen_elsewhere(self, authenticated: Authenticated) -> None:
        """Record that another daemon has seen somebody, just now."""
        self._see(authenticated)

    def forget_daemon(self, daemon: int) -> None:
        """Record that there are no sessions at another daemon."""
        for authenticated in [each for each, daemons in self._elsewhere.items() if daemon in daemons]:
            self.session_elsewhere(daemon, authenticated, open=False)

    def forget_daemons(self) -> None:
        """Record that there are no sessions at any other daemon."""
        self._elsewhere.clear()

    def daemons_of(self, player: int) -> set[int]:
        """Return the other daemons at which a player has sessions."""
        return {daemon for each, daemons in self._elsewhere.items() if each.player == player for daemon in daemons}

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
        if authenticated in self._sessions or authenticated in self._elsewhere:
            return True
        return self._seen.get(authenticated, -inf) > loop_time.now() - self._seconds

    def here(self) -> list[Account]:
        """Return all present players, in the order of their ids."""
        self._forget_old()
        players = {authenticated.player for authenticated in (*self._sessions, *self._elsewhere, *self._seen)}
        accounts = (self._registry.get(player) for player in sorted(players) if self.is_here(player))
        return [account for account in accounts if account is not None]

    def enter(self, authenticated: Authenticated) -> None:
        """Record that a session is this player's from now on; its end shows when the player has gone."""
        was_here = self._is_here(authenticated)
        self._sessions[authenticated] += 1
        self._seen.pop(authenticated, None)
        if self.on_session is not None and self._sessions[authenticated] == 1:
            self.on_session(authenticated, True)
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
            if self.on_session is not None:
                self.on_session(authenticated, False)

    def _forget_old(self) -> None:
        before = loop_time.now() - self._seconds
        while self._seen and next(iter(self._seen.values())) <= before:
            self._seen.popitem(last=False)


class Visit:
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
            if self._presence.on_visit_over is not None:
                self._presence.on_visit_over(authenticated.player, self)
