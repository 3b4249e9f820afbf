"""The accounts of all daemons, alike: the lobby's owner changes them, and every other daemon takes each change in.

A change is acknowledged to its client when every living daemon has taken it in. One that does not answer counts as dead
as soon as its lease is over, and then it answers no client.
"""

from __future__ import annotations

from gmd.cluster.link_messages import Done
from gmd.cluster.links import Links
from gmd.players.account import Account
from gmd.players.registry import Registry

from .everybody import Everybody
from .messages import AccountIs, KeyUsed
from .reporter import Reporter


class Accounts:
    """The part of one daemon in the accounts of all."""

    def __init__(self, registry: Registry, links: Links, everybody: Everybody, reporter: Reporter, me: int) -> None:
        self._registry = registry
        self._everybody = everybody
        self._reporter = reporter
        self._me = me
        self._stamp = 0
        #: The stamps of the last messages about players, since the accounts were read.
        self._stamps: dict[int, int] = {}
        registry.spread = self._spread
        registry.on_used = self._used
        links.on_ask(AccountIs, self._on_account)
        links.on_note(KeyUsed, self._on_used)

    def follow(self) -> None:
        """Follow another owner of the lobby, or become it."""
        self._stamps.clear()
        self._registry.on_used = None if self._reporter.lobby == self._me else self._used

    async def reload(self) -> None:
        """Read all accounts again. Changes that come meanwhile are not lost.

        :raises GmError: they cannot be read.
        """
        await self._registry.reload()

    async def _spread(self, player: int) -> None:
        """Return when every other daemon has a player as it is, or later."""
        await self._everybody.ask(lambda: self._message(player))

    def _message(self, player: int) -> AccountIs:
        account = self._registry.get(player)
        assert account is not None
        self._stamp += 1
        return AccountIs(account, self._stamp)

    async def _on_account(self, ask: AccountIs, daemon: int) -> Done:
        player = ask.account.player
        if daemon == self._reporter.lobby and ask.stamp > self._stamps.get(player, 0):
            self._stamps[player] = ask.stamp
            self._registry.take_in(ask.account)
        return Done()

    def _used(self, account: Account) -> None:
        if account.key is not None:
            self._reporter.tell(KeyUsed(account.player, account.key))

    def _on_used(self, note: KeyUsed, _daemon: int) -> None:
        account = self._registry.get(note.player)
        if account is not None and account.key == note.key:
            self._registry.note_use(account)
