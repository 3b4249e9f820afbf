"""Pairing of players who seek any opponent."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from random import Random

import chess

from gm_protocol.errors import BadRequest, GmError, NotAvailable
from gm_protocol.messages import NewGame
from gmd.event_log.interface import TokenUse
from gmd.live_games import LiveGame
from gmd.players.account import is_registered

from .admission import Admission
from .chores import Chores
from .inbox import Asker
from .offer import Offer
from .queue import Queue, Seek, what_is_played

#: The asker of a game that the server makes for two players who both seek one.
_SERVER = Asker(None)


class Seeking:
    """The queue of players who seek an opponent, and their pairing.

    :ivar queue: the seeks.
    """

    def __init__(
        self,
        admission: Admission,
        offer: Callable[[Offer, str], Awaitable[LiveGame]],
        chores: Chores,
        random: Random,
    ) -> None:
        """:param offer: creates the game of an offer, requested by a peer.
        :param random: draws colours where no player chooses one.
        """
        self._admission = admission
        self._offer = offer
        self._chores = chores
        self._random = random
        self.queue = Queue()

    def seeks(self, player: int) -> bool:
        """Return whether a player is in the queue."""
        return self.queue.find(player) is not None

    def look_again(self, player: int) -> None:
        """Look for an opponent, later, for a player in the queue who may have room again."""
        if self.seeks(player):
            self._chores.add(partial(self._pair_anew, player))

    def leave(self, player: int) -> None:
        """Remove a player from the queue."""
        self.queue.drop(player)

    async def seek(
        self,
        player: int,
        color: chess.Color | None,
        terms: NewGame,
        is_here: Callable[[], bool],
        token: TokenUse | None = None,
        peer: str = "",
    ) -> LiveGame | None:
        """Create a game with the first fitting player in the queue, and invite it; if none fits, join the queue.

        :param color: the colour that the player wants; None for either.
        :param is_here: returns whether the player is still present.
        :param peer: the client, as host:port; an empty one has no limits by address.
        :returns: the game; None if the player is in the queue.
        :raises BadRequest: this player cannot seek, or not on these terms.
        :raises NotAvailable: the player has as many games as it takes.
        :raises TooMany: too many of its invitations wait for answers.
        :raises LogFailed: the log failed; the other player is at the end of the queue again.
        """
        check_inviter(player)
        asker = Asker.at(peer, player)
        self._admission.check(asker, ())
        seek = Seek(player, color, terms, what_is_played(terms), is_here)
        if not self._admission.could_have_room(player, _SERVER):
            raise NotAvailable(f"player: {player} has as many games as its max_games allows; try again later")
        other = self.queue.first_for(seek, partial(self._may_meet, asker))
        if other is None:
            self.queue.add(seek)
            return None
        return await self._pair(seek, other, asker, token, peer)

    async def _pair(
        self, seek: Seek, other: Seek, asker: Asker, token: TokenUse | None = None, peer: str = ""
    ) -> LiveGame:
        """Create a game of two seeks, and remove them from the queue unless it fails."""
        color = seek.color if other.color is None else not other.color
        white, black = seated(seek.player, other.player, color, self._random)
        was = self.queue.find(seek.player)
        for each in (seek, other):
            self.queue.drop(each.player)
        try:
            await self._admission.make_way(asker, [other.player])
            await self._admission.make_room("player", str(seek.player), seek.player, _SERVER)
            await self._admission.make_room("player", str(other.player), other.player, asker)
            return await self._offer(Offer(white, black, asker.inviter, seek.terms, token=token), peer)
        except GmError:
            for each in filter(None, (other, was)):
                self.queue.add(each)
            raise

    async def _pair_anew(self, player: int) -> None:
        """Pair a player in the queue who has room again, if an opponent in the queue fits."""
        seek = self.queue.find(player)
        if seek is not None and self._may_meet(_SERVER, player):
            other = self.queue.first_for(seek, partial(self._may_meet, _SERVER))
            if other is not None:
                await self._pair(seek, other, _SERVER)

    def _may_meet(self, asker: Asker, player: int) -> bool:
        return self._admission.could_have_room(player, asker) and self._admission.could_invite(player, asker)


def check_inviter(player: int) -> None:
    """Check that an inviter is a registered player.

    :raises BadRequest: it is not.
    """
    if not is_registered(player):
        raise BadRequest(f"player: {player} is an open id; invitations are between registered players")


def seated(one: int, other: int, color: chess.Color | None, random: Random) -> tuple[int, int]:
    """Return the players of White and of Black; ``color`` is that of the first player, None to draw it."""
    is_white = random.random() < 0.5 if color is None else color
    return (one, other) if is_white else (other, one)
