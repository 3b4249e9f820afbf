"""The ratings of bots that have all played each other: by the model of gmd's ranked play, from a match's games."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from io import StringIO

from gm_arena.crosstable import halves
from gm_arena.match.record import Record
from gm_arena.match.summary import Meeting, meeting
from gm_arena.sprt import Sprt
from gmd.lobby.results import Entrant, Score
from gmd.lobby.strengths import Rating, estimate

from .table import WIDTH, fault_lines

#: Standard deviations on each side of a rating, between which the true one lies in 95 of 100 cases.
DEVIATIONS = 1.96


@dataclass(frozen=True)
class Rated:
    """A bot with its rating.

    :ivar score: its results against all others.
    """

    label: str
    rating: Rating
    score: Score


def rated(records: Sequence[Record], labels: Sequence[str]) -> list[Rated]:
    """Return the bots that have played, the strongest first.

    The ratings are those of :mod:`gmd.lobby.strengths`, without anchors: their mean says nothing, the differences do.
    """
    entrants = {label: Entrant(number, 1) for number, label in enumerate(labels, 1)}
    scores = _scores(records, labels)
    opponents = {
        entrants[one]: {entrants[other]: score for other, score in met.items()} for one, met in scores.items() if met
    }
    ratings = _finished(opponents)
    found = [Rated(label, ratings[entrants[label]], _sum(met.values())) for label, met in scores.items() if met]
    return sorted(found, key=lambda each: -each.rating.rating)


def _scores(records: Sequence[Record], labels: Sequence[str]) -> dict[str, dict[str, Score]]:
    """Return each bot's scores against each other that it has met."""
    found: dict[str, dict[str, Score]] = {}
    for one in labels:
        met = {other: meeting(records, one, other) for other in labels if other != one}
        found[one] = {other: _score(two) for other, two in met.items() if two.games.size}
    return found


def _score(two: Meeting) -> Score:
    return Score(*two.wins_draws_losses)


def _sum(scores: Iterable[Score]) -> Score:
    return reduce(Score.plus, scores, Score())


def _finished(opponents: Mapping[Entrant, Mapping[Entrant, Score]]) -> dict[Entrant, Rating]:
    """Return what the computation of ratings comes to, which yields in between for a server's other tasks."""
    computing = estimate(opponents, {})
    while True:
        try:
            next(computing)
        except StopIteration as stop:
            found: dict[Entrant, Rating] = stop.value
            return found


def ratings_text(records: Sequence[Record], labels: Sequence[str], sprt: Sprt | None = None) -> str:
    """Return the table of ratings, with the points against each bot in the columns of its number, and the faults."""
    if not records:
        return "no game was played\n"
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    found = rated(records, labels)
    scores = _scores(records, labels)
    drawn = Table()
    for number, name in enumerate(("#", "bot", "rating", "95 %", "points", *map(str, range(1, len(found) + 1)))):
        drawn.add_column(name, justify="left" if number == 1 else "right")
    for number, each in enumerate(found, 1):
        against = [_cell(scores[each.label], other.label, each.label) for other in found]
        drawn.add_row(*map(Text, [str(number), *_row(each), *against]))
    out = StringIO()
    Console(file=out, width=WIDTH).print(drawn)
    return out.getvalue() + "".join(f"{line}\n" for line in fault_lines(records, labels))


def _row(each: Rated) -> list[str]:
    rating, wide = each.rating.rating, DEVIATIONS * each.rating.deviation
    points = f"{halves(each.score.points)} of {each.score.games}"
    return [each.label, f"{rating:.0f}", f"{rating - wide:.0f} to {rating + wide:.0f}", points]


def _cell(met: Mapping[str, Score], other: str, one: str) -> str:
    if one == other:
        return "×"
    return f"{halves(met[other].points)}/{met[other].games}" if other in met else ""
