"""The rules for watching live games in full: ``--spectate``."""

from __future__ import annotations

import hashlib
import hmac

from gm_protocol.errors import Unauthorized


class Spectators:
    """Decides what requests without a player see of live games that hide something."""

    def __init__(self, *, live: bool = False, key: str | None = None, trusted: bool = False) -> None:
        """:param live: whether spectators may see live games in full at all.
        :param key: the key that such a spectator must send; without one, no key is accepted.
        :param trusted: whether everyone who can reach this server may see them, without a key.
        """
        self._live = live
        self._key = (key or "").encode()
        #: Whether requests without a key see everything.
        self.unasked = live and trusted

    @property
    def takes_key(self) -> bool:
        """Whether a key shows live games in full that are not shown without it."""
        return self._live and bool(self._key) and not self.unasked

    @property
    def seal(self) -> bytes:
        """A value that changes with the key, for what a spectator gets in return for it."""
        return hashlib.sha256(self._key).digest()

    def __str__(self) -> str:
        """Return a description of the allowed spectators, for the operator."""
        if not self._live:
            return "nobody"
        if self.unasked:
            return "everybody who asks without a player: only this machine can reach the daemon"
        return "everybody who shows the spectator_key" if self._key else "nobody: there is no spectator_key"

    def may_oversee(self, key: str | None) -> bool:
        """Return whether a spectator with this key, or with none, sees everything.

        :raises Unauthorized: the key is wrong.
        """
        if key is None:
            return self.unasked
        if not self._key or not hmac.compare_digest(key.encode(), self._key):
            raise Unauthorized("spectator_key: the key is wrong, or this server has none; ask the operator for it")
        return self._live
