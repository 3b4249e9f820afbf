"""How often a training meets each member of its league: the more often, the more the member takes from it.

This is the prioritised fictitious self-play of AlphaStar (Vinyals et al., Nature 575, 2019): a member is drawn with a
weight that grows with the square of the share of points that it takes. Every member keeps some of the games, and none
gets most of them: a network that learns from one opponent alone forgets the others.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

#: How much a game counts one iteration later, since the network has learnt meanwhile: after ten iterations a tenth.
DECAY = 0.8
#: Games that a member is taken to have halved before its first: it is then met as often as an equal opponent.
ASSUMED = 2.0
#: The weight of a member that takes nothing: it is met now and then, so that a network that forgets it is found out.
FLOOR = 0.05
#: The largest share of one member, where there are others.
MOST = 0.5

#: Games won, drawn and lost by the network that learns.
Results = tuple[int, int, int]


@dataclass(frozen=True)
class Standing:
    """A member's results so far, older ones counting less.

    :ivar games: how many games these count as.
    :ivar points: the member's points in them.
    """

    games: float = 0.0
    points: float = 0.0

    @property
    def taken(self) -> float:
        """The share of the points that the member is expected to take, from 0 to 1."""
        return (self.points + ASSUMED / 2) / (self.games + ASSUMED)

    def later(self, results: Sequence[int] = (0, 0, 0)) -> Standing:
        """Return the standing after another iteration with these games, won, drawn and lost by the network."""
        won, drawn, lost = results
        return Standing(DECAY * self.games + won + drawn + lost, DECAY * self.points + lost + drawn / 2)


def standings(members: Iterable[str], log: Iterable[Mapping[str, Any]]) -> dict[str, Standing]:
    """Return the members' standings after the iterations of a training.

    :param log: the training's log, whose lines have the results of each iteration in ``league``.
    """
    found = {member: Standing() for member in members}
    for done in log:
        results = done.get("league") or {}
        found = {member: standing.later(results.get(member, (0, 0, 0))) for member, standing in found.items()}
    return found


def shares(taken: Mapping[str, float]) -> dict[str, float]:
    """Return the share of the league's games that each member gets: all above 0, their sum 1.

    :param taken: the share of the points that each is expected to take.
    """
    weights = {member: FLOOR + share**2 for member, share in taken.items()}
    total = sum(weights.values())
    found = {member: weight / total for member, weight in weights.items()}
    largest = max(found, key=lambda member: found[member], default=None)
    if largest is None or len(found) == 1 or found[largest] <= MOST:
        return found
    others = 1 - found[largest]
    return {member: MOST if member == largest else share * (1 - MOST) / others for member, share in found.items()}


def draw(portions: Mapping[str, float], count: int, seed: str) -> list[str]:
    """Draw the members that are met in so many games, each by its share."""
    return random.Random(seed).choices(list(portions), list(portions.values()), k=count)
