"""The ratings of a log's players, updated as games end. Anchors, with fixed ratings, give the scale a meaning.

Only durable games count. The ratings themselves are not stored: they are computed from the log at the start.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from time import perf_counter

import trio
from msgspec import Struct

from gmd.event_log.interface import Pruned
from gmd.event_log.rows import is_ranked, ranked_result
from gmd.games.game_note import GameNote
from gmd.lobby.rating_history import Estimate, Estimates, RatingHistory
from gmd.lobby.results import Entrant, Record, Score
from gmd.lobby.strengths import Rating, estimate
from gmd.logger import get_logger
from gmd.play.arbiter import Arbiter
from gmd.players.registry import Registry

logger = get_logger(__name__)

#: The pause after a computation, in multiples of its duration: ratings take a tenth of a processor.
REST = 9.0
#: The longest time without a checkpoint, in seconds: ten times as long as a known move, and shorter than a commit.
SLICE_SECONDS = 0.001


class LeaderboardEntry(Struct, frozen=True):
    """An entrant on the leaderboard."""

    entrant: Entrant
    rating: Rating
    score: Score


class Ladder(Struct, frozen=True):
    """All ratings at one time.

    :ivar games: the number of games they are computed from.
    :ivar entries: the strongest first; among equals, the one who registered first.
    """

    games: int = 0
    entries: tuple[LeaderboardEntry, ...] = ()


async def climb(record: Record, anchors: Mapping[int, float]) -> Ladder:
    """Compute the ladder of a record, in slices that let other tasks run.

    :param anchors: fixed ratings of players.
    """
    games, totals = record.games, record.totals()
    computing = estimate(record.opponents(), anchors)
    until = perf_counter() + SLICE_SECONDS
    while True:
        try:
            next(computing)
        except StopIteration as stop:
            ratings: dict[Entrant, Rating] = stop.value
            break
        if perf_counter() >= until:
            await trio.lowlevel.checkpoint()
            until = perf_counter() + SLICE_SECONDS
    entries = [LeaderboardEntry(entrant, ratings[entrant], score) for entrant, score in totals.items()]
    return Ladder(games, tuple(sorted(entries, key=lambda each: (-each.rating.rating, each.entrant))))


class Ratings:
    """All players' ratings, which follow the end of a game by some moments.

    :ivar ladder: as last computed.
    :ivar history: how they came about.
    """

    def __init__(self, arbiter: Arbiter, registry: Registry, anchors: Mapping[str, float] | None = None) -> None:
        """:param anchors: fixed ratings of players, by their names in any case."""
        self._log, self._registry, self._anchors = arbiter.log, registry, anchors or {}
        self.record = Record()
        self.ladder = Ladder()
        self.history = RatingHistory()
        self._by_entrant: dict[Entrant, Rating] = {}
        self._changed = trio.Event()
        #: The ranked games that are not over: the end of each is counted once.
        self._on: set[int] = set()
        arbiter.feed.when_seats_change(self._note)
        arbiter.feed.when_pruned(self._note_pruned)

    def start(self, record: Record, playing: Iterable[int]) -> None:
        """Begin with the games of the log. :meth:`run` computes the ratings.

        :param playing: the ranked games that are not over.
        """
        self.record = record
        self._on = set(playing)
        self.history.start(record)
        for name in self._anchors:
            if self._registry.named(name) is None:  # misspelt, or free for any player to register
                logger.warning(
                    "an anchor is not registered: the player who registers its name gets that rating", anchor=name
                )
        self._changed.set()

    def unfinished(self) -> set[int]:
        """Return the ranked games that are not over."""
        return set(self._on)

    async def run(self) -> None:
        """Compute the ratings again when games have ended, until cancelled."""
        while True:
            await self._changed.wait()
            self._changed = trio.Event()
            began = perf_counter()
            try:
                self.ladder = await climb(self.record, self._pinned())
            except Exception:
                logger.exception("the ratings could not be computed")  # games go on; the next end of a game retries
            self.history.note(_estimates(self.ladder))
            self._by_entrant = {entry.entrant: entry.rating for entry in self.ladder.entries}
            await trio.sleep(REST * (perf_counter() - began))

    async def look_back(self) -> None:
        """Compute how the ratings came about before the start."""
        await self.history.look_back(self._log, self._computed)

    async def _computed(self, record: Record) -> Estimates:
        return _estimates(await climb(record, self._pinned()))

    def of(self, player: int, version: int) -> Rating:
        """Return the rating of a version of a player's bot."""
        account = self._registry.get(player)
        if account is not None and (pinned := self._anchors.get(account.name.lower())) is not None:
            return Rating(pinned, 0.0)
        return self._by_entrant.get(Entrant(player, version), Rating())

    def _pinned(self) -> dict[int, float]:
        named = [(self._registry.named(name), rating) for name, rating in self._anchors.items()]
        return {account.player: rating for account, rating in named if account is not None}

    def _note(self, game: GameNote) -> None:
        if not is_ranked(game.created):
            return
        if not game.over:
            self._on.add(game.id)
        elif game.id in self._on:
            self._on.remove(game.id)
            if (result := ranked_result(game.created, game.ending)) is not None:
                self.record.add(result)
                self._changed.set()

    def _note_pruned(self, pruned: Pruned) -> None:
        """Remove games that are no longer in the log: the ratings are those computed from the log."""
        if pruned.ranked is not None:
            self.record.add(pruned.ranked._replace(games=-pruned.ranked.games))
            self._changed.set()


def _estimates(ladder: Ladder) -> Estimates:
    return {
        entry.entrant: Estimate(entry.rating.rating, entry.rating.deviation, entry.score.games)
        for entry in ladder.entries
    }


#: The largest distance of an anchor's rating from 0: beyond every real player, and small enough to compute with.
FURTHEST = 10_000


class BadAnchors(ValueError):
    """Raised for a setting that cannot be read as anchors; the message says why."""


def read_anchors(text: str | None) -> dict[str, float]:
    """Parse the ratings of anchors, by their names in lower case.

    :param text: as in ``random-bot=1000,trout=1600``.
    :raises BadAnchors: it cannot be parsed.
    """
    anchors: dict[str, float] = {}
    for part in (text or "").split(","):
        if not part.strip():
            continue
        name, _, number = part.strip().rpartition("=")
        try:
            rating = float(number)
        except ValueError:
            rating = float("nan")
        if not name or not abs(rating) <= FURTHEST:
            raise BadAnchors(f"anchors: {part.strip()!r} is not NAME=RATING, such as random-bot=1000")
        if name.lower() in anchors:
            raise BadAnchors(f"anchors: {name!r} is given twice")
        anchors[name.lower()] = rating
    return anchors
