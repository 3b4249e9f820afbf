"""Players stored in memory, which end with the process."""

from __future__ import annotations

from .account import Account, folded
from .store import PlayersNotWritten


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
            raise PlayersNotWritten(f"name: {account.name!r}, or the id {account.player}, exists already")
        self._accounts[account.player] = account

    async def change(self, account: Account) -> None:
        if account.player not in self._accounts:
            raise PlayersNotWritten(f"player: there is no {account.player}")
        self._accounts[account.player] = account
