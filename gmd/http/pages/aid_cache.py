"""A cache of the possible positions of players who use the aid."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

import chess

from gm_recon.possible import PossiblePositions
from gmd.keyed_locks import KeyedLocks

#: The most players whose positions are kept: some twenty megabytes each at worst, and far less as a rule. It is a
#: number of players and not of positions, so that nobody's positions make room for nobody else's.
MOST_KEPT = 6

#: A game and a seat.
Key = tuple[int, chess.Color]


@dataclass(slots=True)
class Followed:
    """The positions that are possible for a player.

    :ivar positions: None once there were too many.
    :ivar steps: how much of what the player has learnt they take into account.
    """

    positions: PossiblePositions | None
    steps: int = 0


class AidCache:
    """The possible positions of the players who used the aid last. Each is found by its own seat's requests alone."""

    def __init__(self, most: int = MOST_KEPT) -> None:
        self._most = most
        self._kept: OrderedDict[Key, Followed] = OrderedDict()
        #: A lock for each player whose positions are being worked on.
        self.locks = KeyedLocks()

    def __len__(self) -> int:
        return len(self._kept)

    def take(self, key: Key) -> Followed | None:
        """Remove a player's positions and return them: work on them may be broken off."""
        return self._kept.pop(key, None)

    def keep(self, key: Key, followed: Followed) -> None:
        """Keep a player's positions; the least recently used ones are evicted."""
        self._kept[key] = followed
        while len(self._kept) > self._most:
            self._kept.popitem(last=False)

    def drop(self, game_id: int) -> None:
        """Remove the positions of a game that is over."""
        for seat in chess.COLORS:
            self._kept.pop((game_id, seat), None)
