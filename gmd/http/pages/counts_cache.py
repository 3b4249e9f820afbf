"""A cache of the counts of possible positions in finished games."""

from __future__ import annotations

from collections import OrderedDict

from gmd.keyed_locks import KeyedLocks

from .counting import Counts

#: The most turns of games whose counts are kept: some ten megabytes.
MAX_TURNS = 50_000


class CountsCache:
    """The counts of finished games, which never change and which everybody may see."""

    def __init__(self, max_turns: int = MAX_TURNS) -> None:
        self._max_turns = max_turns
        self._kept: OrderedDict[int, Counts] = OrderedDict()
        #: The number of turns of all games in it; a game without any counts as one.
        self.turns = 0
        #: A lock for each game that is being counted.
        self.locks = KeyedLocks()

    def find(self, game_id: int) -> Counts | None:
        """Return the counts of a game; None if they are not in the cache."""
        found = self._kept.get(game_id)
        if found is not None:
            self._kept.move_to_end(game_id)
        return found

    def keep(self, game_id: int, counts: Counts) -> None:
        """Add the counts of a finished game; the least recently used ones are evicted."""
        self._kept[game_id] = counts
        self.turns += _size(counts)
        while self.turns > self._max_turns:
            self.turns -= _size(self._kept.popitem(last=False)[1])


def _size(counts: Counts) -> int:
    return max(1, len(counts.turns))
