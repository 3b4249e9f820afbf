"""Pairing of players who seek any opponent: one place in the queue for each, in order of arrival."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from itertools import islice
from math import inf
from random import Random
from typing import NamedTuple

import chess
import msgspec
import trio

from gm_protocol.errors import BadRequest, GmError, Internal, NotAvailable
from gm_protocol.messages import NewGame
from gmd.event_log.interface import TokenUse
from gmd.games.variants import resolve
from gmd.lobby.admission import Admission
from gmd.lobby.book import Asker
from gmd.lobby.invitation import Offer
from gmd.logger import get_logger
from gmd.play.live_games import LiveGame
from gmd.players.account import is_registered

logger = get_logger(__name__)

#: Chores done concurrently: they share commits, and take some milliseconds of the loop's time before other tasks run.
TOGETHER = 8

Chore = Callable[[], Awaitable[object]]


class Chores:
    """A queue of chores, which are done one after the other in the order of arrival."""

    def __init__(self) -> None:
        self._send, self._receive = trio.open_memory_channel[Chore](inf)

    def add(self, chore: Chore) -> None:
        """Queue a chore."""
        self._send.send_nowait(chore)

    async def run(self) -> None:
        """Do the queued chores, until cancelled."""
        async for chore in self._receive:
            await _do(chore)


async def do_all(chores: Iterable[Chore]) -> None:
    """Do chores concurrently, a few at a time."""
    left = iter(chores)
    while step := list(islice(left, TOGETHER)):
        async with trio.open_nursery() as nursery:
            for chore in step:
                nursery.start_soon(_do, chore)


async def _do(chore: Chore) -> None:
    try:
        await chore()
    except Internal as error:
        logger.warning("the lobby could not write what was due", reason=str(error))
    except GmError:
        pass  # the game has begun or ended meanwhile
    except Exception:
        logger.exception("the lobby failed")


class Seek(NamedTuple):
    """A player who seeks any opponent on these terms.

    :ivar color: the colour it wants; None for either.
    :ivar what: the resolved options, encoded: equal for seeks that fit each other.
    :ivar is_here: returns whether the player is still present.
    """

    player: int
    color: chess.Color | None
    terms: NewGame
    what: bytes
    is_here: Callable[[], bool]

    def fits(self, other: Seek) -> bool:
        """Return whether the two could play each other."""
        same_color = self.color is not None and self.color == other.color
        return self.what == other.what and self.player != other.player and not same_color


def what_is_played(terms: NewGame) -> bytes:
    """Return the options of a game, resolved with defaults and encoded: equal for terms of the same game.

    :raises gm_protocol.errors.GmError: the terms contradict each other, or cannot be played.
    """
    return msgspec.json.encode((resolve(terms, {}, 0, strict=True), terms.position, terms.seed, terms.fen))


class Queue:
    """The queue of seeks. A player who is not present any more is removed when its turn comes."""

    def __init__(self) -> None:
        self._seeks: dict[int, Seek] = {}
        self._alike: dict[bytes, dict[int, Seek]] = {}

    def __len__(self) -> int:
        return len(self._seeks)

    def add(self, seek: Seek) -> None:
        """Put a player at the end of the queue; an earlier seek of it is removed."""
        self.drop(seek.player)
        self._seeks[seek.player] = seek
        self._alike.setdefault(seek.what, {})[seek.player] = seek

    def drop(self, player: int) -> None:
        """Remove a player, if it is in the queue."""
        seek = self._seeks.pop(player, None)
        if seek is not None:
            del self._alike[seek.what][player]
            if not self._alike[seek.what]:
                del self._alike[seek.what]

    def find(self, player: int) -> Seek | None:
        """Return a player's seek; None if it is not in the queue, or not present any more."""
        seek = self._seeks.get(player)
        if seek is not None and not seek.is_here():
            self.drop(player)
            return None
        return seek

    def first_for(self, seek: Seek, has_room: Callable[[int], bool]) -> Seek | None:
        """Return the first seek that fits another one and whose player has room for a game; None for none."""
        for player in list(self._alike.get(seek.what, ())):
            other = self.find(player)
            if other is not None and other.fits(seek) and has_room(player):
                return other
        return None


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
