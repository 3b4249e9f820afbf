"""Who is to play whom: a decision, and nothing else.

The rule. Whoever has waited longest chooses first, and then stands at the end of the line as long as it takes more
games. It looks for somebody of its strength, as far as that is known: for each round every player's strength is drawn
from what its rating and deviation allow (Thompson's sampling), and never more narrowly than :data:`SPREAD`. So one of
whom little is known meets very different players, and all meet several. Of the :data:`WINDOW` nearest on either side it
takes the nearest, where each game that the two have in hand with each other counts as :data:`IN_HAND_COST` points. One
choice in :data:`EXPLORES` is of anybody, however strong: without such games ratings at the two ends of a long ladder
would know little of each other. Those who have just met are not paired anew as long as the caller says so.

Colours alternate in every pair of players: White is who has had it less often in this pair.

With n players and g games this takes time as n log n + g log n, and moving g pointers in a list of n.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from math import hypot
from random import Random
from typing import NamedTuple, Protocol

#: The least standard deviation that strengths are drawn with: a quarter of what a class is wide in Elo's chess.
SPREAD = 50.0
#: How many neighbours are looked at on either side.
WINDOW = 8
#: Points of rating that a game in hand with each other is worth in distance.
IN_HAND_COST = 200.0
#: One choice in so many is of anybody.
EXPLORES = 8


class Candidate(NamedTuple):
    """A player that takes ranked games.

    :ivar room: how many more it takes.
    :ivar last: when it was last given a game, as a number that grows; who has waited longest has the lowest.
    """

    player: int
    room: int
    rating: float
    deviation: float
    last: int = 0


class Pairing(NamedTuple):
    """Two who are to play each other."""

    white: int
    black: int


class Meetings(Protocol):
    """What two players have had to do with each other."""

    def in_hand(self, one: int, other: int) -> int:
        """How many games they are playing, or are invited to."""

    def whites(self, one: int, other: int) -> int:
        """How often the one had White against the other, those games among them."""

    def just_met(self, one: int, other: int) -> bool:
        """Whether they are not to be paired now."""


def pair(candidates: Iterable[Candidate], meetings: Meetings, random: Random) -> list[Pairing]:
    """Games for all who have room, until no two who have are left that may be paired."""
    return list(_Round(candidates, meetings, random).pairings())


class _Round:
    def __init__(self, candidates: Iterable[Candidate], meetings: Meetings, random: Random) -> None:
        shuffled = sorted(candidates)  # whatever order they come in, the same choices come of the same numbers
        random.shuffle(shuffled)
        self._line = deque(sorted((each for each in shuffled if each.room > 0), key=lambda each: each.last))
        self._room = {each.player: each.room for each in self._line}
        self._strength = {each.player: random.gauss(each.rating, hypot(each.deviation, SPREAD)) for each in self._line}
        #: All who have room, by their strengths.
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
                continue  # nobody that is left may play it, and there will not be more
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
        """The nearest that the player may be paired with, on both sides."""
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
        """Who plays White."""
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
    """Whether the one has White the first time, and whenever they have had it equally often: so it alternates.

    Of neighbours in the order of ids it is the lower, of the next ones the higher, and so on, as in a round robin.
    """
    return (one < other) is bool((one + other) % 2)
