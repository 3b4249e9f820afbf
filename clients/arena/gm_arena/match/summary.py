"""The result of a match, in numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations

from ..crosstable import HALF_POINTS, Game
from ..sprt import Sprt
from ..statistics import (
    FEW,
    GAME_OUTCOMES,
    PAIR_OUTCOMES,
    Interval,
    Sample,
    Side,
    elo_difference,
    likelihood_of_superiority,
    normalized_elo,
    score_interval,
    verdict_of,
)
from .openings import START
from .record import Record

#: Endings that are a bot's own fault; the others belong to chess.
FAULTS = ("crash", "stall", "time", "illegal move", "protocol", "flood")


class Meeting:
    """The games of two bots, counted as they come, from the first one's side."""

    def __init__(self, one: str, other: str) -> None:
        self.one, self.other = one, other
        self._games, self._pairs = [0] * GAME_OUTCOMES, [0] * PAIR_OUTCOMES
        self._has_openings = False
        self._first_of_pair: dict[tuple[int, ...], int] = {}

    def add(self, record: Record) -> None:
        """Count a game, if these two played it."""
        if {record["white"], record["black"]} != {self.one, self.other}:
            return
        points = half_points(record, self.one)
        self._games[points] += 1
        self._has_openings = self._has_openings or record["opening"] != START
        pair = tuple(record["pair"])
        if pair in self._first_of_pair:
            self._pairs[self._first_of_pair.pop(pair) + points] += 1
        else:
            self._first_of_pair[pair] = points

    @property
    def games(self) -> Sample:
        """The games, each by itself."""
        return Sample(tuple(self._games))

    @property
    def pairs(self) -> Sample:
        """The pairs of games from one opening with colours swapped, where both were played."""
        return Sample(tuple(self._pairs))

    @property
    def sample(self) -> Sample:
        """The sample that decides a test: pairs where there are any, since they vary less."""
        return self.pairs if self.pairs.size else self.games

    @property
    def exact(self) -> Sample:
        """The sample for the exact test: few games from one start position count each by itself.

        An opening may suit one of the bots with either colour, so that both games of its pair are one observation.
        """
        return self.sample if self._has_openings or self.pairs.size >= FEW else self.games

    @property
    def shown(self) -> Side | None:
        """Whether the games show that the first bot is stronger or weaker; None where they show neither."""
        return verdict_of(self.sample, self.exact)

    @property
    def estimated(self) -> Sample:
        """The sample that estimates strength: the same, or the games where all pairs are alike but games are not."""
        return self.sample if self.sample.scatters else self.games

    @property
    def wins_draws_losses(self) -> tuple[int, int, int]:
        """The first bot's wins, draws and losses."""
        losses, draws, wins = self._games
        return wins, draws, losses


def half_points(record: Record, label: str) -> int:
    """Return the half-points that a game gave one of its players."""
    white, black = HALF_POINTS[record["result"]]
    return white if record["white"] == label else black


def meeting(records: Iterable[Record], one: str, other: str) -> Meeting:
    """Return the games of two bots, counted."""
    between = Meeting(one, other)
    for record in records:
        between.add(record)
    return between


def meetings(records: Iterable[Record], labels: Sequence[str]) -> dict[frozenset[str], Meeting]:
    """Return the games of any two bots, counted, by their labels."""
    found = {frozenset(pair): Meeting(*pair) for pair in combinations(labels, 2)}
    for record in records:
        if (two := found.get(frozenset((record["white"], record["black"])))) is not None:
            two.add(record)
    return found


def table_games(records: Iterable[Record]) -> list[Game]:
    """Return the games in the form of a crosstable."""
    return [Game(record["white"], record["black"], record["result"]) for record in records]


def endings(records: Iterable[Record]) -> Counter[str]:
    """Return how often games ended in which way, except those that a bot's fault decided."""
    return Counter(record["ending"] for record in records if record["ending"] not in FAULTS)


def faults(records: Iterable[Record], label: str) -> Counter[str]:
    """Return the faults by which a bot lost games, counted."""
    lost = (record for record in records if record["ending"] in FAULTS and _loser(record) == label)
    return Counter(record["ending"] for record in lost)


def _loser(record: Record) -> str:
    return str(record["black"] if record["result"] == "1-0" else record["white"])


def summary(records: Sequence[Record], labels: Sequence[str], sprt: Sprt | None) -> Record:
    """Return all numbers, as they stand at the end of a record."""
    met = list(meetings(records, labels).values())
    return {
        "games": len(records),
        "meetings": [_numbers(two) for two in met if two.games.size],
        "endings": dict(endings(records)),
        "faults": {label: dict(found) for label in labels if (found := faults(records, label))},
        "sprt": None if sprt is None else _decision(sprt, met[0].sample),
    }


def _numbers(two: Meeting) -> Record:
    wins, draws, losses = two.wins_draws_losses
    estimated = two.estimated
    return {
        "bots": [two.one, two.other],
        "wins": wins,
        "draws": draws,
        "losses": losses,
        "pairs": list(two.pairs.counts) if two.pairs.size else None,
        "score": _score(two.games),
        "elo": _interval(elo_difference(estimated)),
        "normalized_elo": _interval(normalized_elo(estimated)),
        "superiority": likelihood_of_superiority(estimated),
    }


def _score(games: Sample) -> list[float] | None:
    """Return the score, and the ends of its interval."""
    score = score_interval(games)
    return None if score is None else [round(end, 4) for end in (score.value, score.low, score.high)]


def _interval(interval: Interval | None) -> list[float] | None:
    """Return the estimate and its ends, limited to ±10,000, since JSON has no infinity."""
    if interval is None:
        return None
    return [max(-1e4, min(1e4, round(end, 2))) for end in (interval.value, interval.low, interval.high)]


def _decision(sprt: Sprt, sample: Sample) -> Record:
    return {
        "llr": round(sprt.llr(sample), 4),
        "lower": round(sprt.lower, 4),
        "upper": round(sprt.upper, 4),
        "accepted": None if sample.size == 0 else sprt.verdict(sample),
    }
