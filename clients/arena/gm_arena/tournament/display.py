"""The progress of a tournament: lines for a log, or on a terminal a table that is kept current."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from ..crosstable import Table, halves, standings, text_table
from ..endings import ending_words
from ..report import TIME_FORMAT
from ..schedule import Pairing
from .plan import GameResult, Key, Round, total_games
from .record import Record
from .results import games_of, table_of, tiebreaks_of

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.live import Live

#: Of more players only the first are shown during the tournament, and without their games against each other: a
#: terminal has no room for more lines and columns. The final table has all.
MOST_OPPONENTS = 16


class Lines:
    """Writes a line with its time to standard error for each event."""

    def __init__(self, record: Record) -> None:
        self._record = record
        self._names = [entrant.name for entrant in record.settings.players]
        self._awaited: set[int] = set()

    def begins(self, begun: Round) -> None:
        bye = "" if begun.bye is None else f"; {self._names[begun.bye]} has a bye"
        count = len(begun.pairings)
        self._say(f"round {begun.number}: {count} {'game' if count == 1 else 'games'}{bye}")

    def plays(self, key: Key, pairing: Pairing, game_id: int) -> None:
        self._say(f"{key} {self._both(pairing)}: game {game_id}")

    def ends(self, key: Key, pairing: Pairing, outcome: GameResult) -> None:
        reason = ending_words(outcome.reason, self._record.settings.terms["variant"])
        done = f"{len(self._record.outcomes)} of {total_games(self._record.settings)}"
        self._say(f"{key} {self._both(pairing)}: {outcome.result} {reason} ({done})")

    def awaits(self, players: set[int]) -> None:
        if players - self._awaited:
            names = ", ".join(self._names[player] for player in sorted(players))
            self._say(f"waiting for {names}, for {self._record.settings.absence:g} s (--absence)")
        self._awaited = players

    def _both(self, pairing: Pairing) -> str:
        return " - ".join(self._names[player] for player in pairing)

    def _say(self, text: str) -> None:
        click.echo(f"{datetime.now(UTC):{TIME_FORMAT}} {text}", err=True)


class Screen(Lines):
    """Shows the current table and the number of games left."""

    def __init__(self, record: Record, live: Live) -> None:
        super().__init__(record)
        self._live = live
        self._latest = ""

    def awaits(self, players: set[int]) -> None:
        self._awaited = players
        self._live.update(self.shown())

    def _say(self, text: str) -> None:
        self._latest = text
        self._live.update(self.shown())

    def shown(self) -> RenderableType:
        """Return the contents of the screen."""
        from rich.console import Group
        from rich.padding import Padding
        from rich.progress_bar import ProgressBar
        from rich.text import Text

        record, total = self._record, total_games(self._record.settings)
        on = len(record.made.keys() - record.outcomes.keys())
        awaited = ", ".join(self._names[player] for player in sorted(self._awaited))
        counts = f"{len(record.outcomes)} of {total} games over, {on} in progress"
        return Group(
            self._table(),
            Padding(ProgressBar(total=max(total, 1), completed=len(record.outcomes), width=60)),  # on a line of its own
            Text(counts + (f"; waiting for {awaited}" if awaited else "")),
            Text(self._latest, style="dim"),
        )

    def _table(self) -> RenderableType:
        name, width = self._record.settings.name, self._live.console.width
        if len(self._names) <= MOST_OPPONENTS:
            return text_table(table_of(self._record), name, width)
        rows = standings(self._names, games_of(self._record), tiebreaks_of(self._record))[:MOST_OPPONENTS]
        cells = [[str(row.rank), row.name, halves(row.points), str(row.games)] for row in rows]
        title = f"{name}: the first {MOST_OPPONENTS} of {len(self._names)}"
        return text_table(Table(["#", "Player", "Points", "Games"], cells), title, width)


@contextmanager
def shown(record: Record) -> Iterator[Lines]:
    """Return the display for standard error."""
    if not sys.stderr.isatty():
        yield Lines(record)
        return
    from rich.console import Console
    from rich.live import Live

    with Live(console=Console(stderr=True), refresh_per_second=4, transient=True) as live:
        yield Screen(record, live)
