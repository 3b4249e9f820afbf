"""The pairing rule: which players play each other.

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
from math import hypot
from random import Random
from typing import NamedTuple, Protocol

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
