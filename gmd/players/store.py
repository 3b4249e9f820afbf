"""The interface of a store of players, and the store in memory, which ends with the process."""

from __future__ import annotations

from typing import Protocol

from gmd.event_log.interface import LogFailed
from gmd.players.account import Account, folded


class PlayerStore(Protocol):
    """A store of all registered players. A call returns once its change is durable; calls are made one at a time."""

    async def load(self) -> list[Account]:
        """Return every player, in the order of their ids; damaged rows are logged and left out."""

    async def newest_id(self) -> int:
        """Return the highest id of any player, even one with a damaged row; 0 without players."""

    async def add(self, account: Account) -> None:
        """Store a new player, whose id and name are unused.

        :raises LogFailed: it failed; nothing was written, or nobody knows.
        """

    async def change(self, account: Account) -> None:
        """Store a changed player.

        :raises LogFailed: it failed; nothing was written, or nobody knows.
        """


class MemoryPlayers:
    """A store of players in a dictionary."""

    def __init__(self) -> None:
        self._accounts: dict[int, Account] = {}

    async def load(self) -> list[Account]:
        return [self._accounts[player] for player in sorted(self._accounts)]

    async def newest_id(self) -> int:
        return max(self._accounts, default=0)

    async def add(self, account: Account) -> None:
        names = {folded(other.name) for other in self._accounts.values()}
        if account.player in self._accounts or folded(account.name) in names:
            raise LogFailed(f"name: {account.name!r}, or the id {account.player}, exists already")
        self._accounts[account.player] = account

    async def change(self, account: Account) -> None:
        if account.player not in self._accounts:
            raise LogFailed(f"player: there is no {account.player}")
        self._accounts[account.player] = account
