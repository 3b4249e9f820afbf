"""A match as its reports to the server say how it stands."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from itertools import combinations
from typing import Any, Literal, cast

from gm_client.blocking import ContestGame, ContestInterval, ContestPlayer, ContestPoint, ContestReport, ContestSprt

from ..contest import LONGEST_NOTE, MOST_GAMES, MOST_PLAYERS, MOST_POINTS, plain
from ..sprt import Sprt
from ..statistics import Interval, elo_difference, score_interval
from .record import Record
from .summary import Meeting, half_points
from .verdict import verdict

#: The largest Elo that is reported: JSON has no infinity.
MOST_ELO = 10_000.0

Status = Literal["running", "stopped", "over"]


class MatchContest:
    """The present report of a match, kept up as games end: a report does not read all games again.

    :ivar status: whether the match is played, was stopped, or is over; the verdict is there only at its end.
    """

    def __init__(
        self, labels: Sequence[str], players: Sequence[int | str], variant: str, planned: int, sprt: Sprt | None
    ) -> None:
        """:param players: each bot's player on the server, by id; names tell nothing here.
        :param planned: the number of games planned.
        """
        self._labels, self._variant, self._planned, self._sprt = list(labels), variant, planned, sprt
        self._players = [player if isinstance(player, int) else None for player in players]
        self._meetings = {frozenset(pair): Meeting(*pair) for pair in combinations(labels, 2)}
        self._points, self._wins = Counter[str](), Counter[str]()
        self._draws, self._losses = Counter[str](), Counter[str]()
        self._curve: list[ContestPoint] = []
        self._stride = 1
        self._latest: deque[Record] = deque(maxlen=MOST_GAMES)
        self._games = 0
        self._note = ""
        self.status: Status = "running"

    def add(self, record: Record) -> None:
        """Count a game."""
        self._games += 1
        self._latest.appendleft({name: record[name] for name in ("game_id", "white", "black", "result")})
        pair = frozenset((record["white"], record["black"]))
        if pair in self._meetings:  # a bot may play itself
            self._meetings[pair].add(record)
        for label in (record["white"], record["black"]):
            points = half_points(record, label)
            self._points[label] += points
            (self._losses, self._draws, self._wins)[points][label] += 1
        if len(self._labels) == 2 and self._games % self._stride == 0:
            self._curve.append(self._point())
            if len(self._curve) >= MOST_POINTS:
                self._curve, self._stride = self._curve[1::2], 2 * self._stride

    def end(self, records: Sequence[Record], status: Status) -> None:
        """Note that the match ends here."""
        self.status = status
        if records:
            self._note = verdict(records, self._labels, self._sprt).text

    def report(self) -> ContestReport:
        """Return the present report."""
        two = self._two
        ranked = sorted(range(len(self._labels)), key=lambda each: -self._points[self._labels[each]])
        order = list(range(len(self._labels))) if two is not None else ranked[:MOST_PLAYERS]
        numbers = {self._labels[each]: place for place, each in enumerate(order)}
        report: dict[str, Any] = {
            "title": plain(" v ".join(self._labels)),
            "form": "match",
            "variant": self._variant,
            "status": self.status,
            "note": plain(self._note, LONGEST_NOTE),
            "planned": self._planned,
            "games": self._games,
            "players": [self._row(each, order) for each in order],
            "columns": [] if two is not None else [str(place) for place in range(1, len(order) + 1)],
            "latest": [_game(each, numbers) for each in self._latest if {each["white"], each["black"]} <= set(numbers)],
        }
        if two is not None and two.games.size:
            report |= self._strength(two)
        return cast(ContestReport, report)

    @property
    def _two(self) -> Meeting | None:
        """The games of the two bots, in a match of two."""
        return self._meetings.get(frozenset(self._labels)) if len(self._labels) == 2 else None

    def _row(self, number: int, order: Sequence[int]) -> ContestPlayer:
        label = self._labels[number]
        wins, draws, losses = self._wins[label], self._draws[label], self._losses[label]
        row: ContestPlayer = {
            "name": plain(label),
            "player": self._players[number],
            "points": self._points[label] / 2,
            "games": wins + draws + losses,
            "wins": wins,
            "draws": draws,
            "losses": losses,
        }
        if len(self._labels) > 2:
            row["cells"] = [self._cell(label, self._labels[other]) for other in order]
        return row

    def _cell(self, label: str, other: str) -> str:
        """Return a bot's wins, draws and losses against another one."""
        if label == other:
            return "×"
        two = self._meetings[frozenset((label, other))]
        wins, draws, losses = two.wins_draws_losses
        if two.one != label:
            wins, losses = losses, wins
        return f"+{wins} ={draws} -{losses}" if wins + draws + losses else ""

    def _strength(self, two: Meeting) -> dict[str, Any]:
        curve = self._curve
        if not curve or curve[-1]["games"] != self._games:
            curve = [*curve, self._point()]
        return {
            "score": _interval(score_interval(two.games)),
            "elo": _interval(elo_difference(two.estimated)),
            "sprt": None if self._sprt is None else _sprt(self._sprt, two),
            "curve": curve,
        }

    def _point(self) -> ContestPoint:
        two = self._two
        assert two is not None
        elo = _interval(elo_difference(two.estimated))
        point: ContestPoint = {"games": self._games}
        if elo is not None:
            point["elo"], point["low"], point["high"] = elo["value"], elo["low"], elo["high"]
        if self._sprt is not None:
            point["llr"] = round(self._sprt.llr(two.sample), 4)
        return point


def _game(record: Record, numbers: dict[str, int]) -> ContestGame:
    return {
        "game_id": record["game_id"],
        "white": numbers[record["white"]],
        "black": numbers[record["black"]],
        "result": record["result"],
    }


def _interval(interval: Interval | None) -> ContestInterval | None:
    if interval is None:
        return None
    value, low, high = (
        max(-MOST_ELO, min(MOST_ELO, round(end, 4))) for end in (interval.value, interval.low, interval.high)
    )
    return {"value": value, "low": low, "high": high}


def _sprt(sprt: Sprt, two: Meeting) -> ContestSprt:
    sample = two.sample
    return {
        "elo0": sprt.elo0,
        "elo1": sprt.elo1,
        "alpha": sprt.alpha,
        "beta": sprt.beta,
        "model": sprt.model,
        "lower": round(sprt.lower, 4),
        "upper": round(sprt.upper, 4),
        "llr": round(sprt.llr(sample), 4),
        "accepted": sprt.verdict(sample) if sample.size else None,
    }
