"""The next round of a Swiss tournament, as the matching with the lowest cost.

Every pair of players has a cost, and so has every bye; the round is the matching with the lowest total of all. These
are the costs; each outweighs all that come after it:

1. nobody has a second bye;
2. nobody meets an opponent again;
3. no two meet who must both have the same colour, having had the other twice more often, or twice running;
4. the bye goes to the player with the fewest points;
5. opponents have equal points, or nearly: the squares of the differences;
6. no two meet who prefer the same colour;
7. of those with equal points, the upper half meets the lower one, in order.

These are the aims of FIDE's Dutch system (Handbook C.04.3), in its order, but not to the letter: that system also rules
on floaters, and has no round where one would need a rematch. Here there is always a round: few bots can play many.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from .schedule import Pairing

__all__ = ["Card", "SwissRound", "next_round"]


@dataclass
class Card:
    """A player's record over the rounds so far.

    :ivar points: points, in half-points.
    :ivar met: how often it has played each opponent; games that were forfeited were not played.
    :ivar colors: the colours it has had, oldest first; True is White.
    :ivar had_bye: whether it has had a point without a game, by a bye or by an opponent who did not come.
    """

    points: int = 0
    met: Counter[int] = field(default_factory=Counter)
    colors: list[bool] = field(default_factory=list)
    had_bye: bool = False

    @property
    def surplus(self) -> int:
        """How many more games it has had with White than with Black."""
        return 2 * sum(self.colors) - len(self.colors)

    @property
    def wish(self) -> Wish:
        """The colour due next, and how strongly: 0 not at all, 1 for alternation, 2 for balance, 3 it must have it."""
        if not self.colors:
            return Wish(True, 0)
        surplus, last = self.surplus, self.colors[-1]
        if abs(surplus) > 1:
            return Wish(surplus < 0, 3)
        if self.colors[-2:] == [last, last]:
            return Wish(not last, 3)
        return Wish(surplus < 0, 2) if surplus else Wish(not last, 1)


class Wish(NamedTuple):
    """A colour (True is White), and how strongly it is wanted."""

    white: bool
    strength: int

    def clashes(self, other: Wish, strength: int) -> bool:
        """Return whether both want the same colour, each with at least the given strength."""
        return self.white == other.white and min(self.strength, other.strength) >= strength


class SwissRound(NamedTuple):
    """The games of a round, and the player who is free in it."""

    pairings: list[Pairing]
    bye: int | None


def next_round(cards: Sequence[Card], *, first_is_white: bool = True) -> SwissRound:
    """Pair all players; with an odd number one is free. The games come in the order of their players' standing.

    :param cards: of all players, the strongest first.
    :param first_is_white: whether the strongest has White, where nobody has had a colour yet.
    :raises ImportError: networkx is not installed.
    """
    ranked = sorted(range(len(cards)), key=lambda player: (-cards[player].points, player))
    pairings, bye = [], None
    for rank, other_rank in _matching(cards, ranked):
        upper = ranked[rank]
        if other_rank == len(ranked):
            bye = upper
            continue
        lower = ranked[other_rank]
        is_white = _has_white(cards[upper], cards[lower], default=first_is_white ^ bool(rank % 2))
        pairings.append((upper, lower) if is_white else (lower, upper))
    return SwissRound(pairings, bye)


def _has_white(upper: Card, lower: Card, *, default: bool) -> bool:
    """Return whether the upper of two has White. The stronger wish decides, then the greater surplus, then who had
    the other colour when they last differed, then the upper one's wish.
    """
    one, other = upper.wish, lower.wish
    if one.strength == other.strength == 0:
        return default
    if one.white != other.white or one.strength > other.strength:
        return one.white if one.strength else not other.white
    if other.strength > one.strength:
        return not other.white
    if abs(upper.surplus) != abs(lower.surplus):
        return one.white if abs(upper.surplus) > abs(lower.surplus) else not other.white
    differed = (a for a, b in zip(reversed(upper.colors), reversed(lower.colors), strict=False) if a != b)
    return not next(differed, not one.white)


def _matching(cards: Sequence[Card], ranked: Sequence[int]) -> list[Pairing]:
    """Return pairs of ranks, the upper one first, in order; a rank after the last one is the bye."""
    import networkx  # loaded here, as it takes a while and round robins need it not

    costs = _costs(cards, ranked)
    units = _units(costs)
    graph = networkx.Graph()
    for pair, lost in costs.items():
        graph.add_edge(*pair, weight=-sum(cost * unit for cost, unit in zip(lost, units, strict=True)))
    pairs = networkx.max_weight_matching(graph, maxcardinality=True)
    return sorted((min(pair), max(pair)) for pair in pairs)


def _units(costs: dict[Pairing, tuple[int, ...]]) -> list[int]:
    """Return the weight of a unit of each cost: more than all pairs together may lose by the costs after it."""
    pairs = len({rank for pair in costs for rank in pair}) // 2
    units: list[int] = []
    unit = 1
    for column in reversed(list(zip(*costs.values(), strict=True))):
        units.append(unit)
        unit *= pairs * max(column) + 1
    return units[::-1]


def _costs(cards: Sequence[Card], ranked: Sequence[int]) -> dict[Pairing, tuple[int, ...]]:
    """Return the costs of each pair of ranks, one for each aim; the bye is a rank after the last one."""
    places = _places(cards, ranked)
    wishes = [card.wish for card in cards]
    costs: dict[Pairing, tuple[int, ...]] = {}
    for rank, upper in enumerate(ranked):
        for lower_rank, lower in enumerate(ranked[rank + 1 :], rank + 1):
            apart = cards[upper].points - cards[lower].points
            must, would = (wishes[upper].clashes(wishes[lower], strength) for strength in (3, 1))
            misfit = 0 if apart else _misfit(places[upper], places[lower])
            costs[rank, lower_rank] = (0, cards[upper].met[lower], must, 0, apart**2, would, misfit)
    if len(ranked) % 2:
        lowest = cards[ranked[-1]].points
        for rank, player in enumerate(ranked):
            card = cards[player]
            costs[rank, len(ranked)] = (card.had_bye, 0, 0, card.points - lowest, 0, 0, len(ranked) - rank)
    return costs


def _places(cards: Sequence[Card], ranked: Sequence[int]) -> dict[int, tuple[int, int]]:
    """Return each player's place among those with the same points, and the size of that group."""
    sizes = Counter(card.points for card in cards)
    seen: Counter[int] = Counter()
    places = {}
    for player in ranked:
        points = cards[player].points
        places[player] = (seen[points], sizes[points])
        seen[points] += 1
    return places


def _misfit(upper: tuple[int, int], lower: tuple[int, int]) -> int:
    """Return how far two of a group are from pairing its halves first against first; two of one half are farthest."""
    (place, size), (other, _) = upper, lower
    half = size // 2
    return abs(other - place - half) + size * ((place < half) == (other < half))
