"""The interface of a store of players."""

from __future__ import annotations

from typing import Protocol

from gm_protocol.errors import Internal

from .account import Account


class PlayersNotWritten(Internal):
    """Raised when a change could not be made durable. If the connection to the database was lost, it may
    have been made; the message says so."""


class PlayerStore(Protocol):
    """A store of all registered players. A call returns once its change is durable; calls are made one at a time."""

    async def load(self) -> list[Account]:
        """Return every player, in the order of their ids; damaged rows are logged and left out."""

    async def newest_id(self) -> int:
        """Return the highest id of any player, even one with a damaged row; 0 without players."""

    async def add(self, account: Account) -> None:
        """Store a new player, whose id and name are unused.

        :raises PlayersNotWritten: it failed; nothing was written, or nobody knows.
        """

    async def change(self, account: Account) -> None:
        """Store a changed player.

        :raises PlayersNotWritten: it failed; nothing was written, or nobody knows.
        """
