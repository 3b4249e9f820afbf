"""The positions that are possible for a player of blind chess, by its observations and nothing else.

They are followed from request to request, for ``belief``, which the pages ask, too.
"""

from __future__ import annotations

import random
from collections import Counter, OrderedDict
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import ceil
from weakref import ReferenceType, ref

import chess
from chess import Color

from gm_protocol.belief import Hint
from gm_protocol.errors import TooMany
from gm_recon.belief import left_after_steps, marginal_steps, sample_steps
from gm_recon.possible import SAMPLE, SENSE_SQUARES, PossiblePositions
from gmd.event_log.keyed_locks import KeyedLocks
from gmd.games.game import Game
from gmd.games.rbc_knowledge import Observed
from gmd.net import loop_time

#: A game and a seat.
Key = tuple[int, chess.Color]

#: Observations compared in one step.
_COMPARED = 16


class Followed:
    """The positions that are possible for a player.

    :ivar seen: the player's observations that they take into account.
    """

    __slots__ = ("_begin", "_game", "positions", "seen")

    def __init__(self, begin: Callable[[], PossiblePositions]) -> None:
        """:param begin: returns the positions at the beginning of the game."""
        self._begin = begin
        self._game: ReferenceType[Game] | None = None
        self.positions = begin()
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

    :ivar source: the address from which the player last asked, as :func:`gmd.net.addresses.source_of` returns it.
    :ivar since: when the player got it, in the loop's time.
    :ivar used: when the player last asked.
    """

    followed: Followed
    source: str
    since: float
    used: float


class FollowedCache:
    """The possible positions of some players. Each is found by its own seat's requests alone.

    It is limited by the number of players and not of positions. Who has a place depends on who asked when and from
    where, and on nothing else: so no player's positions, and no work on them, make room for another's. An address that
    has more places than another one would have yields one to it at once. A player's positions take some twenty
    megabytes at worst, and far less as a rule.
    """

    def __init__(self, most: int, held: float, idle: float) -> None:
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

    def keep(self, key: Key, followed: Followed, source: str) -> float:
        """Keep a player's positions, if need be in the place of the least recently used ones that may be evicted.

        :param source: the address that asks.
        :returns: 0.0; or the seconds after which a place may become free, if the positions are not kept.
        """
        now = loop_time.now()
        before = self._places.get(key)
        if before is None and len(self._places) >= self._most:
            wait = self._evict_for(source, now)
            if wait:
                return wait
        self._places[key] = _Place(followed, source, now if before is None else before.since, now)
        self._places.move_to_end(key)
        return 0.0

    def _evict_for(self, source: str, now: float) -> float:
        """Free a place of the address with the most; return 0.0, or the seconds until one may be free."""
        counts = Counter(place.source for place in self._places.values())
        counts[source] += 1
        free = {key: self._free_at(place, counts[place.source] - counts[source]) for key, place in self._places.items()}
        evicted = [key for key, at in free.items() if at <= now]
        if not evicted:
            return min(free.values()) - now
        del self._places[max(evicted, key=lambda key: counts[self._places[key].source])]
        return 0.0

    def _free_at(self, place: _Place, more: int) -> float:
        """Return when a player may lose its place if it does not ask before, in the loop's time.

        :param more: how many more places its address has than the one that asks would have.
        """
        idle = place.used + self._idle
        return place.since if more > 0 else idle if more < 0 else min(place.since + self._held, idle)


#: The most positions that are kept for a player: while no more are possible, the answers are exact.
CAP = 20_000
#: The most positions that are kept once the answers are inexact to the end of the game: enough for shares within some
#: two percent, at a tenth of the work.
SAMPLE_CAP = 2_000
#: The most steps of work for a request, of some half a millisecond each. A single observation takes fewer.
MOST_STEPS = 4_000
#: The most players whose positions are kept between two of their requests.
MOST_KEPT = 18
#: Seconds for which these keep their places: enough to catch up with a long game with the budget of one connection.
HELD_SECONDS = 600.0
#: Seconds without a request after which a player may lose its place: more than a used-up budget makes a client wait.
IDLE_SECONDS = 120.0
#: Draws which positions are kept when there are more than :data:`CAP`. It is the same for everybody, so that the same
#: observations lead to the same answers.
_SEED = 1


@dataclass(frozen=True, slots=True)
class Belief:
    """The possible positions of a player in figures.

    :ivar count: how many positions are kept.
    :ivar exact: whether these are all that are possible. Otherwise they are drawn from those at random.
    :ivar marginals: 12 x 64 probabilities, as :func:`gm_recon.belief.marginals` returns them.
    :ivar samples: positions in FEN.
    :ivar hint: the sense that would tell most; None unless it was asked for, and the player is to sense.
    """

    count: int
    exact: bool
    marginals: list[list[float]]
    samples: list[str]
    hint: Hint | None


@dataclass(slots=True)
class Beliefs:
    """The players' possible positions.

    :ivar cap: the most positions kept for a player.
    :ivar most_steps: the most steps of work for a request.
    """

    cap: int = CAP
    most_steps: int = MOST_STEPS
    kept: FollowedCache = field(default_factory=lambda: FollowedCache(MOST_KEPT, HELD_SECONDS, IDLE_SECONDS))

    def follow(self, game_id: int, seat: Color, start_fen: str) -> Followed:
        """Return a player's positions from the cache, or those at the beginning of the game."""
        return self.kept.find((game_id, seat)) or Followed(partial(self._begin, seat, start_fen))

    def catch_up(self, followed: Followed, game: Game, observed: Sequence[Observed]) -> Generator[None, None, bool]:
        """Take into account all that a player has observed, in steps.

        :returns: whether this is done. Otherwise it takes more work than a request may cause; call it again.
        """
        yield from followed.resume_steps(game, observed)
        positions, steps = followed.positions, 0
        while len(followed.seen) < len(observed):
            if steps >= self.most_steps:
                return False
            each = observed[len(followed.seen)]
            for _ in observe_steps(positions, each):
                steps += 1
                yield
            followed.seen.append(each)
        return True

    def refusal(self, followed: Followed, observed: Sequence[Observed], seconds: float) -> TooMany:
        """Return the error for a request whose player's positions are not up to date.

        :param seconds: 0.0 if they are kept; else the seconds until there is a place for them.
        """
        text = (
            f"belief: the positions up to observation {len(followed.seen)} of {len(observed)} took the "
            f"{self.most_steps} steps of work that a request may cause"
        )
        if not seconds:
            return TooMany(f"{text}; repeat it to continue from there", retry_after=0.0)
        wait = float(ceil(seconds))
        return TooMany(f"{text}, and the places to keep them are taken; try again in {wait:.0f} seconds", wait)

    def _begin(self, seat: Color, start_fen: str) -> PossiblePositions:
        sample_cap = min(self.cap, SAMPLE_CAP)
        return PossiblePositions(seat, start_fen, cap=self.cap, sample_cap=sample_cap, rng=random.Random(_SEED))


def believed_steps(followed: Followed, samples: int, seed: int, *, hint: bool) -> Generator[None, None, Belief]:
    """Return a player's belief, in steps.

    :param samples: how many positions to draw at most.
    :param seed: decides which are drawn.
    :param hint: whether to look for the best sense: the player is to sense.
    """
    positions = followed.positions
    rows = yield from marginal_steps(positions)
    boards = yield from sample_steps(positions, samples, random.Random(seed))
    fens: list[str] = []
    for board in boards:
        fens.append(board.fen(en_passant="fen"))
        yield
    best = (yield from hint_steps(positions)) if hint else None
    return Belief(len(positions), positions.complete, rows, fens, best)


def hint_steps(positions: PossiblePositions, most: int = SAMPLE) -> Generator[None, None, Hint | None]:
    """Return the sense that would tell a player most, in steps; None if no position is left.

    :param most: the most positions that are compared.
    """
    if positions.lost:
        return None
    shares = yield from left_after_steps(positions, SENSE_SQUARES, random.Random(_SEED), most)
    left = min(shares)
    return Hint(chess.SQUARE_NAMES[SENSE_SQUARES[shares.index(left)]], left)
