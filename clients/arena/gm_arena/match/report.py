"""The progress of ``gmd match``: a line for each game, and the standing of the match.

On a terminal the standing is below the lines, with rich's bar and time to go; elsewhere it is a line now and then.
"""

from __future__ import annotations

import logging
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Self

import click
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from ..crosstable import halves
from ..sprt import Sprt
from ..statistics import elo_difference, likelihood_of_superiority
from .record import Record
from .summary import Meeting, half_points
from .verdict import elo_text, percent

#: Seconds over which the games' pace is taken for the time to go: the short ones end first.
PACE_SECONDS = 3600.0


class Report(AbstractContextManager["Report"]):
    """A receiver of every game, in the plan's order."""

    def __init__(self, labels: Sequence[str], games: int, sprt: Sprt | None, *, verbose: bool | None) -> None:
        """:param games: the number of planned games.
        :param verbose: whether to show the bots' standard error, too; False for no line for each game.
        """
        self._games, self._quiet, self._verbose = games, verbose is False, verbose is True
        self._standing = RunningScore(labels, sprt)
        self._console = Console(stderr=True)
        columns = (TextColumn("{task.description}", markup=False), BarColumn(30), MofNCompleteColumn())
        times = (TimeElapsedColumn(), TimeRemainingColumn())
        self._progress = Progress(*columns, *times, console=self._console, speed_estimate_period=PACE_SECONDS)
        self._bar = self._progress.add_task(self._standing.score(), total=games)
        self._live: Live | None = None

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            out = sys.stdout.isatty()
            self._live = Live(
                get_renderable=self._shown, console=self._console, transient=True, redirect_stdout=out,
            )  # fmt: skip
            self._live.start()
        # Where there is a bar, output to these streams goes above it: so they are looked up now.
        level = logging.INFO if self._verbose else logging.ERROR
        logging.basicConfig(level=level, stream=sys.stderr, format="%(message)s", force=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()
        logging.basicConfig(level=logging.ERROR, stream=sys.stderr, format="%(message)s", force=True)

    def resumed(self, records: Sequence[Record]) -> None:
        """Count games that were played before."""
        if records:
            self._say(f"{len(records)} games were played before")
        for record in records:
            self._standing.add(record)
        self._progress.reset(self._bar, completed=len(records), description=self._standing.score())

    def played(self, record: Record) -> None:
        """Report a game that was played."""
        if not self._quiet:
            self._say(line_of(record))
        self._count(record)
        if self._live is not None:
            self._live.refresh()  # besides a few times a second, so that quick games are shown, too
        if self._live is None and not self._quiet and is_milestone(self._standing.games):
            click.echo(self.line(), err=True)

    def line(self) -> str:
        """Return the standing of the match, for output that is not a terminal."""
        parts = [f"after {self._standing.games} of {self._games} games: {self._standing.score()}"]
        return ", ".join(part for part in [*parts, self._standing.numbers()] if part)

    def _count(self, record: Record) -> None:
        self._standing.add(record)
        self._progress.update(self._bar, advance=1, description=self._standing.score())

    def _say(self, text: str) -> None:
        """Print a line; above the bar, where both are on one terminal."""
        if self._live is None or not sys.stdout.isatty():
            click.echo(text)
        else:
            self._console.print(text, markup=False, highlight=False, soft_wrap=True)

    def _shown(self) -> RenderableType:
        return Group(self._progress.get_renderable(), Text(self._standing.numbers(), overflow="ellipsis", no_wrap=True))


def is_milestone(games: int) -> bool:
    """Return whether to print the standing after so many games: 10, 20, 50, 100 and so on, and every thousand."""
    digits = str(games)
    return games >= 10 and (digits.rstrip("0") in ("1", "2", "5") or games % 1_000 == 0)


def line_of(record: Record) -> str:
    """Return a line about a game."""
    plies = record["plies"]
    opening = "" if record["opening"] == "start" else f", opening {record['opening']}"
    return (
        f"game {record['game']}: {record['white']} - {record['black']} {record['result']}, {record['ending']}, "
        f"{plies} {'ply' if plies == 1 else 'plies'}{opening}"
    )


# --- The standing ------------------------------------------------------------------------------------------------


#: Longest label that is shown in full.
WIDEST = 24


class RunningScore:
    """A running count of games."""

    def __init__(self, labels: Sequence[str], sprt: Sprt | None) -> None:
        self._labels, self._sprt = labels, sprt
        self._points, self._meeting = Counter[str](), Meeting(*labels[:2])
        self.games = 0

    def add(self, record: Record) -> None:
        """Count a game."""
        self.games += 1
        self._meeting.add(record)
        for label in (record["white"], record["black"]):
            self._points[label] += half_points(record, label)

    def score(self) -> str:
        """Return how many games the first bot has won, drawn and lost; with more than two bots, who leads."""
        if len(self._labels) == 2:
            wins, draws, losses = self._meeting.wins_draws_losses
            return f"{short(self._labels[0])} +{wins} ={draws} -{losses}"
        ranked = sorted(self._labels, key=lambda label: -self._points[label])[:3]
        leader, *others = (f"{short(label)} {halves(self._points[label] / 2)}" for label in ranked)
        return ", ".join([f"{leader} leads", *others])

    def numbers(self) -> str:
        """Return the score, Elo and the sequential test; empty for more than two bots."""
        two = self._meeting
        if len(self._labels) > 2 or two.games.size == 0:
            return ""
        parts = [percent(two.games.mean)]
        if elo_difference(two.estimated) is not None:
            parts.append(elo_text(two))
        if (likelihood := likelihood_of_superiority(two.sample)) is not None:
            parts.append(f"LOS {percent(likelihood)}")
        if self._sprt is not None:
            llr = self._sprt.llr(two.sample)
            parts.append(f"LLR {llr:.2f} ({self._sprt.lower:.2f}, {self._sprt.upper:.2f})")
        return ", ".join(parts)


def short(label: str) -> str:
    """Return a label, cut if it is long."""
    return label if len(label) <= WIDEST else f"{label[: WIDEST - 1]}…"
