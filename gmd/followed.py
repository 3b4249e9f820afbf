"""The possible positions of players of blind chess, followed from request to request."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Generator
from dataclasses import dataclass, field

import chess

from gm_recon.possible import PossiblePositions
from gmd.games.rbc_knowledge import Observed

from .keyed_locks import KeyedLocks

#: A game and a seat.
Key = tuple[int, chess.Color]


@dataclass(slots=True)
class Followed:
    """The positions that are possible for a player.

    :ivar positions: None once there were too many to follow.
    :ivar seen: the player's observations that they take into account.
    """

    positions: PossiblePositions | None
    seen: list[Observed] = field(default_factory=list)

    def is_of(self, observed: list[Observed]) -> bool:
        """Return whether a player's observations continue those. A sense or move that could not be written does not
        count as made: then they do not.
        """
        return observed[: len(self.seen)] == self.seen


def observe_steps(positions: PossiblePositions, observed: Observed) -> Generator[None, None, None]:
    """Take an observation into account, in steps. A generator that was broken off may be started again."""
    if observed.step == "opponent":
        yield from positions.opponent_moved_steps(observed.opponent_capture)
    elif observed.step == "sense":
        yield from positions.saw_steps(observed.cells)
    else:
        yield from positions.player_moved_steps(*observed.move)


class FollowedCache:
    """The possible positions of the players who asked last. Each is found by its own seat's requests alone.

    It is limited by the number of players and not of positions, so that nobody's positions make room for nobody
    else's. A player's take some twenty megabytes at worst, and far less as a rule.
    """

    def __init__(self, most: int) -> None:
        """:param most: how many players' positions are kept."""
        self._most = most
        self._kept: OrderedDict[Key, Followed] = OrderedDict()
        #: A lock for each player whose positions are being worked on.
        self.locks = KeyedLocks()

    def __len__(self) -> int:
        return len(self._kept)

    def take(self, key: Key, observed: list[Observed]) -> Followed | None:
        """Remove a player's positions and return them: work on them may be broken off.

        :param observed: all that the player has observed.
        """
        found = self._kept.pop(key, None)
        return found if found is not None and found.is_of(observed) else None

    def keep(self, key: Key, followed: Followed) -> None:
        """Keep a player's positions; the least recently used ones are evicted."""
        self._kept[key] = followed
        while len(self._kept) > self._most:
            self._kept.popitem(last=False)

    def drop(self, game_id: int) -> None:
        """Remove the positions of a game that is over."""
        for seat in chess.COLORS:
            self._kept.pop((game_id, seat), None)
