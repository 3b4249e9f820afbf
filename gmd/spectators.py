"""Who may watch live games in full: ``--spectate``."""

from __future__ import annotations

import hmac

from gm_protocol.errors import Unauthorized


class Spectators:
    """What somebody without a player may see of games that hide something, while they are on."""

    def __init__(self, *, live: bool = False, key: str | None = None, trusted: bool = False) -> None:
        """:param live: whether anybody may see them in full at all.
        :param key: what such a spectator must show; where there is none, nothing will do.
        :param trusted: whether everybody who can reach this server may, without a key.
        """
        self._live = live
        self._key = (key or "").encode()
        #: Whether somebody who shows no key sees everything.
        self.unasked = live and trusted

    def __str__(self) -> str:
        """Who they are, for the operator to read."""
        if not self._live:
            return "nobody"
        if self.unasked:
            return "everybody who asks without a player: only this machine can reach the daemon"
        return "everybody who shows the spectator_key" if self._key else "nobody: there is no spectator_key"

    def may_oversee(self, key: str | None) -> bool:
        """Whether somebody who shows this key, or none, sees everything.

        :raises Unauthorized: it is not the key.
        """
        if key is None:
            return self.unasked
        if not self._key or not hmac.compare_digest(key.encode(), self._key):
            raise Unauthorized("spectator_key: it is not this server's, or this server has none")
        return self._live
