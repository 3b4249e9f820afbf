"""The matchmaker: it pairs the players who are present and want ranked games, up to each player's number of games.

It runs when something has happened: a player has come, has changed its settings, or has a game less. Otherwise only
time makes it run: a pause of a player who did not answer ends, or two players who have just met may meet again. A
player who wants no more ranked games is invited to none. Invitations that it has not accepted are called off, so that
nobody waits for it; its games in progress go on.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from random import Random, SystemRandom

import trio

from gm_protocol.endings import Cause, Ending
from gm_protocol.errors import GmError
from gmd import loop_time
from gmd.event_log.interface import Playing
from gmd.event_log.seats import is_ranked
from gmd.game_feed import GameFeed
from gmd.games.game_note import GameNote
from gmd.lobby.lobby import Lobby
from gmd.lobby.offer import Offer
from gmd.logger import get_logger
from gmd.players.account import Account
from gmd.players.registry import Registry

from .backoff import Backoff
from .pair_history import PairHistory
from .pairing import Candidate, Pairing, pair
from .ratings import Ratings

logger = get_logger(__name__)

_EXPIRED = Ending(Cause.EXPIRED)

#: Seconds between an event and a run, so that events at about the same time, as after a start, are decided together.
#: reconchess's client sends requests every five seconds.
GATHER_SECONDS = 0.5
#: Seconds for which two players who have just met are kept apart, if there are others. When their game ends both have
#: room, and perhaps nobody else: without this pause they would meet for ever.
APART_SECONDS = 15.0

#: Seconds until a retry of something that failed, such as a game that could not be written.
RETRY_SECONDS = 60.0


class Matchmaker:
    """Invites players to ranked games with each other."""

    def __init__(
        self, feed: GameFeed, registry: Registry, lobby: Lobby, ratings: Ratings, random: Random | None = None
    ) -> None:
        """:param random: breaks ties."""
        self._registry, self._lobby, self._ratings = registry, lobby, ratings
        self._random = random or SystemRandom()
        self._pair_history, self._backoff = PairHistory(), Backoff()
        self._happened = trio.Event()
        #: When to run again because something failed, in trio's time.
        self._retry: float | None = None
        #: Games made here that may not have begun; those made before a restart expire by themselves.
        self._made: set[int] = set()
        #: Players who want no more ranked games and may still have invitations.
        self._leaving: set[int] = set()
        #: The number of the last game given to each player.
        self._last: dict[int, int] = {}
        self._given = 0
        feed.when_seats_change(self._on_seats)
        registry.when_set(self._on_set)
        lobby.presence.when_come(self._on_come)
        feed.when_called_off(self._on_called_off)

    def start(self, playing: Iterable[Playing]) -> None:
        """Begin with the ranked games that are not over, once the ratings have been started."""
        self._pair_history.start(playing, self._ratings.record)

    async def run(self) -> None:
        """Pair players who have room, until cancelled."""
        again = inf
        while True:
            with trio.move_on_at(again):
                await self._happened.wait()
            await trio.sleep(GATHER_SECONDS)
            self._happened = trio.Event()
            try:
                again = await self._look()
            except Exception:
                logger.exception("the matchmaker failed")
                again = trio.current_time() + RETRY_SECONDS

    # --- Events -------------------------------------------------------------------------------------------------

    def _on_seats(self, game: GameNote) -> None:
        if not is_ranked(game.created):
            if game.over and any(map(self._wants, game.named)):
                self._happened.set()  # a player has more room
            return
        now = trio.current_time()
        self._pair_history.note(game, now + APART_SECONDS)
        if game.over or game.begun:
            self._made.discard(game.id)
        for player, seated in zip(game.named, game.players, strict=True):
            assert player is not None
            if seated is not None and not game.over:
                self._backoff.restored(player)
                self._happened.set()  # the player may be invited to another game
            elif seated is None and game.ending == _EXPIRED:
                self._backoff.tried(player, now)
        if game.over:
            self._happened.set()

    def _on_called_off(self, game: GameNote, player: int) -> None:
        if is_ranked(game.created):
            self._backoff.tried(player, trio.current_time())

    def _on_set(self, account: Account) -> None:
        if account.ranked:
            self._leaving.discard(account.player)
            self._backoff.asked(account.player, trio.current_time())
            self._happened.set()
        else:
            self._on_left(account)

    def _on_left(self, account: Account) -> None:
        if not account.ranked and self._untaken(account.player):
            self._leaving.add(account.player)
            self._happened.set()

    def _on_come(self, player: int) -> None:
        self._happened.set()

    def _wants(self, player: int | None) -> bool:
        account = None if player is None else self._registry.get(player)
        return account is not None and account.ranked

    # --- Actions ------------------------------------------------------------------------------------------------

    async def _look(self) -> float:
        """Pair players who have room; return when to run again if nothing happens, in trio's time."""
        while self._leaving:
            await self._call_off(self._leaving.pop())
        now = trio.current_time()
        here = [account for account in self._lobby.presence.here() if account.ranked]
        apart = self._pair_history.look(now, apart=len(here) > 2)
        candidates = [self._candidate(account) for account in here if not self._backoff.rests(account.player, now)]
        self._retry = None
        async with trio.open_nursery() as nursery:
            for pairing in pair(candidates, self._pair_history, self._random):
                nursery.start_soon(self._invite, pairing)
        times = (apart, self._backoff.next_end(now), self._retry)
        return min((time for time in times if time is not None), default=inf)

    def _untaken(self, player: int) -> list[int]:
        """Return the games to which a player was invited here and that it has not answered."""
        return [each.game_id for each in self._lobby.book.received(player) if each.game_id in self._made]

    async def _call_off(self, player: int) -> None:
        for game_id in self._untaken(player):
            try:
                await self._lobby.decline(game_id, player, loop_time.now())
            except GmError as error:  # it has begun or ended; or it cannot be written, and expires
                logger.info("a ranked game was not called off", game_id=game_id, reason=str(error))

    def _candidate(self, account: Account) -> Candidate:
        rating = self._ratings.of(account.player, account.version)
        room, last = self._room(account.player), self._last.get(account.player, 0)
        return Candidate(account.player, room, rating.rating, rating.deviation, last)

    def _room(self, player: int) -> int:
        """Return the number of games to invite a player to: not more than it could itself have sent unanswered."""
        unanswered = self._lobby.book.inbox(player).count(None)
        room = self._lobby.room(player) or int(self._lobby.could_have_room(player))
        return max(0, min(room, self._lobby.limits.out - unanswered))

    async def _invite(self, pairing: Pairing) -> None:
        """Invite a pair, unless one of them has been invited elsewhere since the pairing."""
        try:
            for player in pairing:
                await self._lobby.make_room("player", str(player), player)
        except GmError:
            return
        if not all(map(self._lobby.room, pairing)):
            return
        self._given += 1
        self._last.update(dict.fromkeys(pairing, self._given))
        try:
            game = (await self._lobby.offer(Offer(pairing.white, pairing.black, ranked=True))).game
        except GmError as error:
            logger.warning("a ranked game could not be made", reason=str(error))
            self._retry = trio.current_time() + RETRY_SECONDS
            return
        if any(game.id in self._lobby.book.inbox(player) for player in pairing):  # it has neither begun nor ended
            self._made.add(game.id)
        for account in filter(None, map(self._registry.get, pairing)):
            self._on_left(account)  # the setting may have changed while the game was written to the log
