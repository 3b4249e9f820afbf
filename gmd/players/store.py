"""Where players are kept."""

from __future__ import annotations

from typing import Protocol

from gm_protocol.errors import Internal

from .account import Account


class PlayersNotWritten(Internal):
    """A change could not be made durable, and was not made. The daemon's own log says why."""


class PlayerStore(Protocol):
    """All registered players. What returns is durable; one call is made at a time."""

    async def load(self) -> list[Account]:
        """Every player, in the order of their ids; those whose rows are damaged are said, and left out."""

    async def newest_id(self) -> int:
        """The highest id that any player has, also one whose row is damaged; 0 where there is none."""

    async def add(self, account: Account) -> None:
        """Keep a new player, whose id and name nobody has.

        :raises PlayersNotWritten: it failed; nothing was written.
        """

    async def change(self, account: Account) -> None:
        """Keep a player as it is now.

        :raises PlayersNotWritten: it failed; nothing was written.
        """
