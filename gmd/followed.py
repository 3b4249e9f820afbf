"""The possible positions of players of blind chess, followed from request to request."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from weakref import ReferenceType, ref

import chess

from gm_recon.possible import PossiblePositions
from gmd.games.game import Game
from gmd.games.rbc_knowledge import Observed

from . import loop_time
from .keyed_locks import KeyedLocks

#: A game and a seat.
Key = tuple[int, chess.Color]

#: Observations compared in one step.
_COMPARED = 16


class Followed:
    """The positions that are possible for a player.

    :ivar positions: None once there were too many to follow.
    :ivar seen: the player's observations that they take into account.
    """

    __slots__ = ("_begin", "_game", "positions", "seen")

    def __init__(self, begin: Callable[[], PossiblePositions]) -> None:
        """:param begin: returns the positions at the beginning of the game."""
        self._begin = begin
        self._game: ReferenceType[Game] | None = None
        self.positions: PossiblePositions | None = begin()
        self.seen: list[Observed] = []

    def resume_steps(self, game: Game, observed: Sequence[Observed]) -> Generator[None, None, None]:
        """Begin again, in steps, unless a player's observations continue those that were seen.

        A game in memory only grows, so that nothing is compared as long as it is the same object. A game that was
        loaded again may lack a sense or move that could not be written.
        """
        if self._game is None or self._game() is not game:
            if not (yield from self._are_seen_steps(observed)):
                self.positions, self.seen = self._begin(), []
            self._game = ref(game)

    def _are_seen_steps(self, observed: Sequence[Observed]) -> Generator[None, None, bool]:
        """Return whether the observations begin with those that were seen, in steps."""
        if len(observed) < len(self.seen):
            return False
        for number, seen in enumerate(self.seen):
            if number % _COMPARED == 0:
                yield
            if observed[number] != seen:
                return False
        return True


def observe_steps(positions: PossiblePositions, observed: Observed) -> Generator[None, None, None]:
    """Take an observation into account, in steps. A generator that was broken off may be started again."""
    if observed.step == "opponent":
        yield from positions.opponent_moved_steps(observed.opponent_capture)
    elif observed.step == "sense":
        yield from positions.saw_steps(observed.cells)
    else:
        yield from positions.player_moved_steps(*observed.move)


@dataclass(slots=True)
class _Place:
    """A player's place in the cache.

    :ivar since: when the player got it, in the loop's time.
    :ivar used: when the player last asked.
    """

    followed: Followed
    since: float
    used: float


class FollowedCache:
    """The possible positions of some players. Each is found by its own seat's requests alone.

    It is limited by the number of players and not of positions. Who has a place depends on who asked when, and on
    nothing else: so no player's positions, and no work on them, make room for another's. A player's positions
    take some twenty megabytes at worst, and far less as a rule.
    """

    def __init__(self, most: int, held: float = 0.0, idle: float = 0.0) -> None:
        """:param most: how many players' positions are kept.
        :param held: seconds for which a player keeps its place at least, unless it is idle.
        :param idle: seconds without a request after which a player may lose its place.
        """
        self._most, self._held, self._idle = most, held, idle
        self._places: OrderedDict[Key, _Place] = OrderedDict()  # the least recently used one is the first
        #: A lock for each player whose positions are being worked on.
        self.locks = KeyedLocks()

    def __len__(self) -> int:
        return len(self._places)

    def find(self, key: Key) -> Followed | None:
        """Return a player's positions; None if they are not kept. The caller must hold the player's lock."""
        place = self._places.get(key)
        return None if place is None else place.followed

    def keep(self, key: Key, followed: Followed) -> float:
        """Keep a player's positions, if need be in the place of the least recently used ones that may be evicted.

        :returns: 0.0; or the seconds after which a place becomes free at the latest, if the positions are not kept.
        """
        now = loop_time.now()
        before = self._places.get(key)
        if before is None and len(self._places) >= self._most:
            free = {each: self._free_at(place) for each, place in self._places.items()}
            evicted = next((each for each, at in free.items() if at <= now), None)
            if evicted is None:
                return min(free.values()) - now
            del self._places[evicted]
        self._places[key] = _Place(followed, now if before is None else before.since, now)
        self._places.move_to_end(key)
        return 0.0

    def drop(self, game_id: int) -> None:
        """Remove the positions of a game that is over."""
        for seat in chess.COLORS:
            self._places.pop((game_id, seat), None)

    def _free_at(self, place: _Place) -> float:
        """Return when a player may lose its place if it does not ask before, in the loop's time."""
        return min(place.since + self._held, place.used + self._idle)
