"""The limits of invitations, the same for every request that makes one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable

from gm_protocol.errors import NotAvailable, TooMany
from gm_protocol.messages import Limits
from gmd.lobby.book import Asker, Book
from gmd.lobby.invitation import ANYBODY
from gmd.players.registry import Registry


class Admission:
    """Admits invitations within the limits; beyond them, one displaces another of an inviter who sent more."""

    def __init__(
        self, expire: Callable[[int], Awaitable[None]], registry: Registry, book: Book, limits: Limits
    ) -> None:
        """:param expire: calls off a game that has not begun."""
        self._expire = expire
        self._registry = registry
        self._book = book
        self._limits = limits

    def room(self, player: int) -> int:
        """Return how many more games a player takes."""
        account = self._registry.get(player)
        return 0 if account is None else max(0, account.max_games - self._book.in_hand(player))

    def could_have_room(self, player: int, asker: Asker) -> bool:
        """Return whether a player has room for an asker's game, or would have after displacing another invitation."""
        return self.room(player) > 0 or self._book.inbox(player).to_displace(asker, counts=True) is not None

    def could_invite(self, player: int, asker: Asker) -> bool:
        """Return whether an asker may invite a player, if need be by displacing another invitation to the player."""
        return not self._is_full(player, asker) or self._book.inbox(player).to_displace(asker, counts=False) is not None

    def check(self, asker: Asker, invited: Iterable[int]) -> None:
        """Check that an invitation is within the limits. The caller must make it before the next checkpoint.

        :raises TooMany: too many invitations wait for answers: of the inviter, or to one of the invited players.
        """
        inviter = asker.inviter
        if inviter not in (None, ANYBODY) and self._book.out(inviter) >= self._limits.max_invitations:
            message = (
                f"max_invitations: {self._limits.max_invitations} of yours wait for answers; withdraw some, or wait"
            )
            raise TooMany(message, self._limits.invitation_seconds)
        for player in invited:
            if self._is_full(player, asker):
                message = (
                    f"max_invitations_received: {self._limits.max_invitations_received} invitations wait for player "
                    f"{player}'s answer; "
                    "try again later"
                )
                raise TooMany(message, self._limits.invitation_seconds)

    async def make_way(self, asker: Asker, invited: Iterable[int]) -> None:
        """Make way for an invitation, if need be by displacing one of an inviter who has sent more than the asker.

        Call :meth:`check` afterwards.

        :raises TooMany: too many invitations of the inviter wait for answers.
        """
        self.check(asker, ())
        for player in invited:
            if self._is_full(player, asker):
                await self._displace(player, asker, counts=False)

    async def make_room(self, field: str, name: str, player: int, asker: Asker) -> None:
        """Make room for one more game of a player, if need be by displacing an invitation in the same way.

        :param field: the request's field that names the player; ``name`` is its value, quoted.
        :raises NotAvailable: the player has as many games as it takes.
        """
        if not self.room(player):
            await self._displace(player, asker, counts=True)
        if not self.room(player):
            raise NotAvailable(f"{field}: {name} has as many games as its max_games allows; try again later")

    def _is_full(self, player: int, asker: Asker) -> bool:
        """Return whether an asker's invitation to a player would exceed the limit; the server's own never do."""
        return asker.inviter is not None and len(self._book.inbox(player)) >= self._limits.max_invitations_received

    async def _displace(self, player: int, asker: Asker, *, counts: bool) -> None:
        game_id = self._book.inbox(player).to_displace(asker, counts=counts)
        if game_id is not None:
            await self._expire(game_id)
