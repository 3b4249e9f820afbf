"""Ids for new games, in the shards that this daemon owns."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from heapq import heappop, heappush

from gm_protocol.errors import Moved

from .shards import SHARDS, shard_of


class GameIds:
    """Gives the lowest id above all that any game in its shard has had: a daemon alone gives 1, 2, 3, ..."""

    def __init__(self) -> None:
        self._heap: list[int] = []
        self._next: dict[int, int] = {}

    def gain(self, highest: Mapping[int, int], retired: int = 0) -> None:
        """Begin to give ids in shards.

        :param highest: the highest id of a game in each of the shards, and 0 where there is none.
        :param retired: the highest id of a game that was removed, in any shard.
        """
        for shard, newest in highest.items():
            least = max(newest, retired, 0) + 1
            self._next[shard] = least + (shard - least) % SHARDS
            heappush(self._heap, self._next[shard])

    def lose(self, shards: Collection[int]) -> None:
        """Give no more ids in shards."""
        for shard in shards:
            self._next.pop(shard, None)

    def __call__(self) -> int:
        """Return an id that no game has had.

        :raises Moved: this daemon owns no shard at the moment.
        """
        while self._heap:
            game_id = heappop(self._heap)
            shard = shard_of(game_id)
            if self._next.get(shard) == game_id:
                self._next[shard] = game_id + SHARDS
                heappush(self._heap, game_id + SHARDS)
                return game_id
        raise Moved("this server owns no games at the moment; nothing was done, send the request again")
