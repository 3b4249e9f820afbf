"""The matchmaker: it pairs the players who are present and want ranked games, up to each player's number of games.

It runs when something has happened: a player has come, has changed its settings, or has a game less. Otherwise only
time makes it run: a pause of a player who did not answer ends, or two players who have just met may meet again. A
player who wants no more ranked games is invited to none. Invitations that it has not accepted are called off, so that
nobody waits for it; its games in progress go on.

Players who are present and do not answer are left alone, each time for longer.

The player who has waited longest chooses first, and then goes to the end of the line as long as it takes more games.
It looks for an opponent of its own strength, as far as that is known. For each round every player's strength is drawn
at random from its rating and deviation (Thompson sampling), with a deviation of at least :data:`SPREAD`. So a player
of whom little is known meets very different players, and all players meet several. Of the :data:`WINDOW` nearest
players on either side it takes the nearest, where each game in progress between the two counts as
:data:`IN_HAND_COST` points. One choice in :data:`EXPLORES` is of any player, however strong: without such games the
ratings at the two ends of a long ladder would hardly be related. Players who have just met are not paired again for
as long as the caller says so.

Colours alternate in every pair of players: White goes to the one who has had it less often in this pair.

For n players and g games this takes time in proportion to n log n + g log n, and moves g pointers in a list of n.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from math import hypot, inf
from random import Random, SystemRandom
from typing import NamedTuple, Protocol

import trio

from gm_protocol.endings import Cause, Ending
from gm_protocol.errors import GmError
from gmd.event_log.interface import Playing
from gmd.event_log.rows import is_ranked
from gmd.games.game_note import GameNote
from gmd.lobby.invitation import Offer
from gmd.lobby.lobby import Lobby
from gmd.lobby.ratings import Ratings
from gmd.lobby.results import Record
from gmd.logger import get_logger
from gmd.net import loop_time
from gmd.play.game_feed import GameFeed
from gmd.players.account import Account
from gmd.players.registry import Registry

#: The shortest and the longest pause after an invitation that a player did not accept, in seconds. Each pause is twice
#: as long as the one before, until the player accepts one, or asks for ranked games again, which counts once a minute.
FIRST_REST = 60.0
LONGEST_REST = 3_600.0


class Backoff:
    """The players who are paused, and until when, in trio's time."""

    def __init__(self) -> None:
        self._rests: dict[int, tuple[float, float]] = {}
        #: When each player last ended its pause by asking for games.
        self._asked: dict[int, float] = {}

    def tried(self, player: int, now: float) -> None:
        """Begin a pause after an invitation that was not accepted. Of several sent at a time only the first counts."""
        until, length = self._rests.get(player, (now, 0.0))
        if until <= now:
            length = min(max(FIRST_REST, 2 * length), LONGEST_REST)
            self._rests[player] = (now + length, length)

    def asked(self, player: int, now: float) -> None:
        """End the pause of a player who asks for games, at most once a minute.

        Otherwise a player that asks all the time and never plays would take up others' time and fill the log.
        """
        if player in self._rests and now >= self._asked.get(player, -inf) + FIRST_REST:
            self._asked[player] = now
            self.restored(player)

    def restored(self, player: int) -> None:
        """End the pause of a player who has accepted an invitation."""
        self._rests.pop(player, None)

    def rests(self, player: int, now: float) -> bool:
        """Return whether the player is paused."""
        return player in self._rests and self._rests[player][0] > now

    def next_end(self, now: float) -> float | None:
        """Return when the next pause ends; None where no player is paused."""
        return min((until for until, _ in self._rests.values() if until > now), default=None)


class PairHistory:
    """The matchmaker's knowledge of pairs of players (:class:`~gmd.lobby.matchmaker.Meetings`)."""

    def __init__(self) -> None:
        #: White and Black of each game.
        self._games: dict[int, tuple[int, int]] = {}
        self._whites: Counter[tuple[int, int]] = Counter()
        #: Until when each pair is kept apart, in trio's time; those who met first come first.
        self._met: dict[frozenset[int], float] = {}
        self._record = Record()
        self._apart = False

    def start(self, playing: Iterable[Playing], record: Record) -> None:
        """Begin with the games of the log; ``record`` goes on to count games that end."""
        self._record = record
        self._games.clear()
        self._whites.clear()
        for game_id, white, black in playing:
            assert white is not None
            assert black is not None
            self._put(game_id, (white, black))

    def note(self, game: GameNote, apart_until: float) -> None:
        """Record that a ranked game was made or has ended."""
        black, white = game.named  # False is Black
        if not game.over and game.id not in self._games:
            assert white is not None
            assert black is not None
            self._put(game.id, (white, black))
        elif game.over and (pair := self._games.pop(game.id, None)) is not None:
            self._whites[pair] -= 1
            if not self._whites[pair]:
                del self._whites[pair]
            self._met.pop(frozenset(pair), None)
            self._met[frozenset(pair)] = apart_until

    def look(self, now: float, *, apart: bool) -> float | None:
        """Set the time of the following answers; return when the next pair may meet again.

        :param apart: whether pairs who have just met are kept apart at all.
        """
        self._met = {pair: until for pair, until in self._met.items() if until > now}
        self._apart = apart
        return min(self._met.values(), default=None) if apart else None

    def in_hand(self, one: int, other: int) -> int:
        return self._whites[one, other] + self._whites[other, one]

    def whites(self, one: int, other: int) -> int:
        return self._whites[one, other] + self._record.whites(one, other)

    def just_met(self, one: int, other: int) -> bool:
        return self._apart and frozenset((one, other)) in self._met

    def _put(self, game_id: int, pair: tuple[int, int]) -> None:
        self._games[game_id] = pair
        self._whites[pair] += 1


#: The least standard deviation of drawn strengths: a quarter of the width of a class in Elo's system.
SPREAD = 50.0
#: How many neighbours are considered on either side.
WINDOW = 8
#: Points of rating that each game in progress between two players adds to their distance.
IN_HAND_COST = 200.0
#: One choice in this many is of any player.
EXPLORES = 8


class Candidate(NamedTuple):
    """A player who takes ranked games.

    :ivar room: how many more games it takes.
    :ivar last: the number of its last game; numbers grow, so the player who has waited longest has the lowest.
    """

    player: int
    room: int
    rating: float
    deviation: float
    last: int = 0


class Pairing(NamedTuple):
    """Two players who are to play each other."""

    white: int
    black: int


class Meetings(Protocol):
    """The history of pairs of players."""

    def in_hand(self, one: int, other: int) -> int:
        """Return how many games the two are playing or are invited to."""

    def whites(self, one: int, other: int) -> int:
        """Return how often the first had White against the second, including games in progress."""

    def just_met(self, one: int, other: int) -> bool:
        """Return whether the two are not to be paired now."""


def pair(candidates: Iterable[Candidate], meetings: Meetings, random: Random) -> list[Pairing]:
    """Return games for all players with room, until no two such players are left that may be paired."""
    return list(_Round(candidates, meetings, random).pairings())


class _Round:
    def __init__(self, candidates: Iterable[Candidate], meetings: Meetings, random: Random) -> None:
        shuffled = sorted(candidates)  # so that the result depends only on the random numbers
        random.shuffle(shuffled)
        self._line = deque(sorted((each for each in shuffled if each.room > 0), key=lambda each: each.last))
        self._room = {each.player: each.room for each in self._line}
        self._strength = {each.player: random.gauss(each.rating, hypot(each.deviation, SPREAD)) for each in self._line}
        #: All players with room, by strength.
        self._ladder: list[tuple[float, int]] = []
        for player, strength in self._strength.items():
            insort(self._ladder, (strength, player))
        self._made: Counter[tuple[int, int]] = Counter()
        self._meetings, self._random = meetings, random

    def pairings(self) -> Iterator[Pairing]:
        while self._line and len(self._ladder) > 1:
            chooser = self._line.popleft()
            if not self._room[chooser.player]:
                continue
            opponent = self._choose(chooser.player)
            if opponent is None:
                continue  # no remaining player may play it, and none will be added
            yield self._seat(chooser.player, opponent)
            for player in (chooser.player, opponent):
                self._take_place(player)
            self._line.append(chooser)

    def _choose(self, player: int) -> int | None:
        if self._random.randrange(EXPLORES) == 0:
            _, anybody = self._random.choice(self._ladder)
            if self._may_meet(player, anybody):
                return anybody
        return min(self._near(player), key=lambda other: self._distance(player, other), default=None)

    def _near(self, player: int) -> Iterator[int]:
        """Yield the nearest players that the player may be paired with, on both sides."""
        place = bisect_left(self._ladder, (self._strength[player], player))
        above = (self._ladder[i][1] for i in range(place + 1, len(self._ladder)))
        below = (self._ladder[i][1] for i in range(place - 1, -1, -1))
        return chain.from_iterable(
            islice((other for other in side if self._may_meet(player, other)), WINDOW) for side in (above, below)
        )

    def _distance(self, one: int, other: int) -> float:
        in_hand = self._meetings.in_hand(one, other) + self._made[one, other] + self._made[other, one]
        return abs(self._strength[one] - self._strength[other]) + IN_HAND_COST * in_hand

    def _may_meet(self, one: int, other: int) -> bool:
        return one != other and not self._meetings.just_met(one, other)

    def _seat(self, one: int, other: int) -> Pairing:
        """Decide who plays White."""
        more = self._whites(one, other) - self._whites(other, one)
        pairing = Pairing(one, other) if more < 0 or (more == 0 and _begins(one, other)) else Pairing(other, one)
        self._made[pairing] += 1
        return pairing

    def _whites(self, one: int, other: int) -> int:
        return self._meetings.whites(one, other) + self._made[one, other]

    def _take_place(self, player: int) -> None:
        self._room[player] -= 1
        if not self._room[player]:
            del self._ladder[bisect_left(self._ladder, (self._strength[player], player))]


def _begins(one: int, other: int) -> bool:
    """Return whether the first player has White when the two have had it equally often, so that it alternates.

    Of players with neighbouring ids the lower one does, of the next the higher one, and so on, as in a round robin.
    """
    return (one < other) is bool((one + other) % 2)


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
        here = [account for account in self._lobby.presence.present() if account.ranked]
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
        return max(0, min(room, self._lobby.limits.max_invitations - unanswered))

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
