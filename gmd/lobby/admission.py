"""Whether somebody may invite somebody: one limit for every way to do it."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from gm_protocol.errors import NotAvailable, TooMany
from gmd import loop_time
from gmd.arbiter import Arbiter
from gmd.games.commands import CallOff
from gmd.players.registry import Registry

from .book import Book
from .inbox import Asker
from .invitation import ANYBODY


class LobbyLimits(Struct, frozen=True, kw_only=True):
    """What bounds invitations.

    :ivar seconds: how long one waits for its answer.
    :ivar kept_seconds: how long one does that ``new_game`` has made, for a player who need not be here.
    :ivar out: how many of an inviter's may wait for answers at a time.
    :ivar received: how many may wait for one player's answer at a time.
    :ivar max_plies: after how many plies the games that are made are drawn.
    """

    seconds: float
    kept_seconds: float
    out: int
    received: int
    max_plies: int


class Admission:
    """Admits invitations as far as the limits go, and beyond that for those who have sent less than others."""

    def __init__(self, arbiter: Arbiter, registry: Registry, book: Book, limits: LobbyLimits) -> None:
        self._arbiter = arbiter
        self._registry = registry
        self._book = book
        self._limits = limits

    def room(self, player: int) -> int:
        """How many games a player would take beside those it has in hand."""
        account = self._registry.get(player)
        return 0 if account is None else max(0, account.max_games - self._book.in_hand(player))

    def could_have_room(self, player: int, asker: Asker) -> bool:
        """Whether a player has room for an asker's game, or would have if somebody else's invitation made way."""
        return self.room(player) > 0 or self._book.inbox(player).to_displace(asker, counts=True) is not None

    def could_invite(self, player: int, asker: Asker) -> bool:
        """Whether the same holds of the number of invitations that may wait for the player's answer."""
        return not self._is_full(player, asker) or self._book.inbox(player).to_displace(asker, counts=False) is not None

    def check(self, asker: Asker, invited: Iterable[int]) -> None:
        """See to it that an invitation keeps to the limits. Nothing may come between this and its being made.

        :raises TooMany: as many as may wait for answers do so: of the inviter's, or those to one of the invited.
        """
        inviter = asker.inviter
        if inviter not in (None, ANYBODY) and self._book.out(inviter) >= self._limits.out:
            message = f"max_invitations: {self._limits.out} of yours wait for answers; withdraw some, or wait"
            raise TooMany(message, self._limits.seconds)
        for player in invited:
            if self._is_full(player, asker):
                message = (
                    f"max_invitations_received: {self._limits.received} invitations wait for player {player}'s answer; "
                    "try again later"
                )
                raise TooMany(message, self._limits.seconds)

    async def make_way(self, asker: Asker, invited: Iterable[int]) -> None:
        """Have an invitation find its place, if need be in place of one by somebody who has sent more than the asker.

        :raises TooMany: as :meth:`check` does, which is still to be asked.
        """
        self.check(asker, ())
        for player in invited:
            if self._is_full(player, asker):
                await self._displace(player, asker, counts=False)

    async def make_room(self, field: str, name: str, player: int, asker: Asker) -> None:
        """Have a player take one more game, in the same manner.

        :param field: the request's, which names the player; ``name`` is how it does that.
        :raises NotAvailable: it has as many in hand as it takes.
        """
        if not self.room(player):
            await self._displace(player, asker, counts=True)
        if not self.room(player):
            raise NotAvailable(f"{field}: {name} has as many games as its max_games allows; try again later")

    def _is_full(self, player: int, asker: Asker) -> bool:
        """Whether as many invitations as may wait for a player's answer do so; the server's own may always come."""
        return asker.inviter is not None and len(self._book.inbox(player)) >= self._limits.received

    async def _displace(self, player: int, asker: Asker, *, counts: bool) -> None:
        game_id = self._book.inbox(player).to_displace(asker, counts=counts)
        if game_id is not None:
            await self.expire(game_id)

    async def expire(self, game_id: int) -> None:
        """Call a game off that has not begun, as if its time had passed; return when that is durable.

        :raises GmError: it could not be written.
        """
        live = await self._arbiter.live_game(game_id)
        self._arbiter.act(live, CallOff(None), loop_time.now())
        if live.commit is not None:
            await live.commit.wait()
