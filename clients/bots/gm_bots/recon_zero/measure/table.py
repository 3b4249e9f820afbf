"""The results of an evaluation: a row for each opponent."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from io import StringIO
from statistics import mean

from gm_arena.match.record import Record
from gm_arena.match.summary import Meeting, faults, meeting
from gm_arena.match.text import counted
from gm_arena.sprt import Sprt
from gm_arena.statistics import elo_interval, score_interval

from .repeats import remark_on_repeats

COLUMNS = ("against", "won", "drawn", "lost", "score", "95 %", "Elo", "95 %", "s a turn", "ended by")

#: Columns of the table in characters, which a modern terminal or a page of text has.
WIDTH = 140


def table_text(
    records: Sequence[Record], labels: Sequence[str], sprt: Sprt | None = None, *, title: str | None = None
) -> str:
    """Return the table, with intervals that contain the true values in 95 of 100 evaluations, remarks on games that
    repeat others, and the bots' faults.

    :param labels: the measured bot's label first.
    :param title: the measured bot's name.
    """
    if not records:
        return "no game was played\n"
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    drawn = Table(title=None if title is None else Text(title), title_justify="left")
    for number, name in enumerate(COLUMNS):
        drawn.add_column(name, justify="left" if number in (0, len(COLUMNS) - 1) else "right")
    for other in labels[1:]:
        row = row_of(records, labels[0], other)
        if row is not None:
            drawn.add_row(*map(Text, row))
    out = StringIO()
    Console(file=out, width=WIDTH).print(drawn)
    lines = [*repeat_lines(records, labels), *fault_lines(records, labels)]
    return out.getvalue() + "".join(f"{line}\n" for line in lines)


class EvaluationTable:
    """The table of an evaluation, for :func:`~gm_arena.match.match.play_match`, and the games in it."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._records: Sequence[Record] = ()
        self._measured = ""

    def text(self, records: Sequence[Record], labels: Sequence[str], sprt: Sprt | None = None) -> str:
        """Return the table, and keep its games."""
        self._records, self._measured = records, labels[0]
        return table_text(records, labels, sprt, title=self._title)

    def won_drawn_lost(self, other: str) -> tuple[int, int, int]:
        """Return the measured bot's wins, draws and losses against another."""
        return meeting(self._records, self._measured, other).wins_draws_losses


def row_of(records: Sequence[Record], measured: str, other: str) -> list[str] | None:
    """Return the row of two bots; None where they have not met."""
    two = meeting(records, measured, other)
    score = score_interval(two.games)
    if score is None:
        return None
    elo, between = elo_interval(score), [record for record in records if _are(record, two)]
    return [
        other,
        *map(str, two.wins_draws_losses),
        f"{100 * score.value:.1f} %",
        f"{100 * score.low:.1f} to {100 * score.high:.1f}",
        elo_text(elo.value),
        f"{elo_text(elo.low)} to {elo_text(elo.high)}",
        f"{seconds_text(between, measured)} / {seconds_text(between, other)}",
        counted(Counter(record["ending"] for record in between)),
    ]


def _are(record: Record, two: Meeting) -> bool:
    return {record["white"], record["black"]} == {two.one, two.other}


def elo_text(elo: float) -> str:
    """Return a signed Elo difference in whole points, its precision."""
    return f"{'+' if elo > 0 else '-'}∞" if math.isinf(elo) else f"{elo:+.0f}"


def seconds_text(records: Sequence[Record], label: str) -> str:
    """Return a bot's mean thinking time for a turn."""
    thought = [
        row[1]
        for record in records
        for color, rows in record["times"].items()
        if record[color] == label
        for row in rows
    ]
    return f"{mean(thought):.2f}" if thought else "-"


def repeat_lines(records: Sequence[Record], labels: Sequence[str]) -> list[str]:
    """Return lines about games that repeat others of the same two bots, move for move."""
    lines = []
    for other in labels[1:]:
        two = meeting(records, labels[0], other)
        games = [(record["start_fen"], *record["moves"]) for record in records if _are(record, two)]
        if (remark := remark_on_repeats(other, games)) is not None:
            lines.append(remark)
    return lines


def fault_lines(records: Sequence[Record], labels: Sequence[str]) -> list[str]:
    """Return lines about games lost by faults: an evaluation with many of these does not measure chess."""
    found = {label: faults(records, label) for label in labels}
    return [f"{label} lost by {counted(lost)}" for label, lost in found.items() if lost]
