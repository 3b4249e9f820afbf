"""A fair order of games, in which no owner's games all come before another's."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Hashable, Iterator
from heapq import heappop, heappush
from typing import NamedTuple


class Place(NamedTuple):
    """A game's place in the order: its round, and within the round its id."""

    round: int
    game_id: int


class _Rounds:
    """The rounds in which one owner has a game; the lowest free round is taken next."""

    __slots__ = ("free", "next")

    def __init__(self) -> None:
        self.next = 0
        self.free: list[int] = []

    def take(self) -> int:
        if self.free:
            return heappop(self.free)
        self.next += 1
        return self.next - 1

    def give_back(self, number: int) -> None:
        heappush(self.free, number)

    @property
    def empty(self) -> bool:
        return len(self.free) == self.next


class FairOrder:
    """Games in rounds, each of which has at most one game of each owner.

    A game takes the first round in which its owner has none, and stays there. So its place is valid as long as it is in
    the order; as the start of a page, the place is valid for ever. A new owner's first game comes after at most one
    game of each other owner. A change takes logarithmic time in the number of games, and moves part of a list.
    """

    def __init__(self) -> None:
        self._places: list[Place] = []
        self._of: dict[int, tuple[Place, Hashable]] = {}
        self._rounds: dict[Hashable, _Rounds] = {}

    def __len__(self) -> int:
        return len(self._of)

    def __contains__(self, game_id: object) -> bool:
        return game_id in self._of

    def __iter__(self) -> Iterator[int]:
        """Yield all games, in the order."""
        return (place.game_id for place in self._places)

    def put(self, game_id: int, owner: Hashable) -> None:
        """Add an owner's game; one that is in the order already keeps its place."""
        if game_id not in self._of:
            place = Place(self._rounds.setdefault(owner, _Rounds()).take(), game_id)
            self._of[game_id] = place, owner
            insort(self._places, place)

    def drop(self, game_id: int) -> None:
        """Remove a game, if it is in the order."""
        if (found := self._of.pop(game_id, None)) is None:
            return
        place, owner = found
        del self._places[bisect_left(self._places, place)]
        rounds = self._rounds[owner]
        rounds.give_back(place.round)
        if rounds.empty:
            del self._rounds[owner]

    def page(self, size: int, after: Place | None = None) -> tuple[list[int], Place | None]:
        """Return at most ``size`` games after a place; and the last one's place, None if no more follow."""
        start = 0 if after is None else bisect_right(self._places, after)
        end = min(start + size, len(self._places))
        found = [place.game_id for place in self._places[start:end]]
        return found, self._places[end - 1] if start < end < len(self._places) else None
