"""The progress of ``gmd match``: a line for each game, and the standing of the match with the games in progress.

On a terminal the standing is below the lines, with a bar; elsewhere it is a line each minute.
"""

from __future__ import annotations

import logging
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Self

import click
import trio
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from ..crosstable import halves
from ..sprt import Sprt
from ..statistics import elo_difference, likelihood_of_superiority
from .in_progress import GameInProgress
from .openings import START
from .record import Record
from .summary import Meeting, half_points
from .verdict import elo_text, percent

#: Seconds between two looks at the games in progress: on a terminal, and elsewhere, where each is a line.
LOOK_SECONDS, LINE_SECONDS = 2.0, 60.0
#: The most games in progress that are shown.
MOST_SHOWN = 8


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
        self._progress = Progress(*columns, TimeElapsedColumn(), console=self._console)
        self._bar = self._progress.add_task(self._standing.score(), total=games)
        self._live: Live | None = None
        self._playing: Sequence[GameInProgress] = ()
        self._at_once, self._began = 1, 0.0
        self._seconds: list[float] = []  # that the games of this run took
        self._latest = 0.0  # when the latest of them ended
        self._to_go = ""

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

    def names_threads(self, labels: Sequence[str]) -> None:
        """Name the bots that have no processes of their own."""
        if labels and not self._quiet:
            names = f"{', '.join(map(short, labels))} {'thinks' if len(labels) == 1 else 'think'}"
            self._say(f"{names} in threads of the match, without a limit on memory")

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
        self._seconds.append(record["seconds"])
        self._latest = trio.current_time()
        self._to_go = self._time_to_go()
        if self._live is not None:
            self._live.refresh()  # besides a few times a second, so that quick games are shown, too

    async def follow(self, at_once: int, look: Callable[[], Awaitable[Sequence[GameInProgress]]]) -> None:
        """Show the games in progress, until cancelled.

        :param at_once: how many are played at a time.
        :param look: returns those that can be seen.
        """
        self._at_once, self._began = at_once, trio.current_time()
        while True:
            await trio.sleep(LINE_SECONDS if self._live is None else LOOK_SECONDS)
            self._playing, self._to_go = await look(), self._time_to_go()
            if self._live is None and not self._quiet:
                click.echo(self.line(), err=True)

    def line(self) -> str:
        """Return the standing of the match, for output that is not a terminal."""
        standing = self._standing
        so_far = f"after {duration(trio.current_time() - self._began)}: {standing.games} of {self._games} games"
        parts = [so_far, *([standing.score(), standing.numbers()] if standing.games else []), self._to_go]
        line = ", ".join(filter(None, parts))
        return "; ".join([line, *self._in_progress()])

    def _time_to_go(self) -> str:
        """Return about how long the match still takes, by its games so far; empty where they do not say it."""
        left, ended, total = self._games - self._standing.games, len(self._seconds), sum(self._seconds)
        if not left or not ended:
            return ""
        since, running = trio.current_time() - self._latest, min(self._at_once, left)
        seconds = total / ended * left / self._at_once - since
        # Games in progress that take longer than those before count with what they have taken.
        longer = (total + running * since) / (ended + running) * (left - running) / self._at_once
        if max(seconds, longer) < 1:
            return ""
        about = "at most about" if self._standing.may_end_early else "about"
        return f"{about} {duration(max(seconds, longer))} to go"

    def _in_progress(self) -> list[str]:
        shown = [game.text for game in self._playing[:MOST_SHOWN]]
        more = len(self._playing) - len(shown)
        return [*shown, f"{more} more"] if more else shown

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
        numbers = ", ".join(filter(None, [self._standing.numbers(), self._to_go]))
        lines = (Text(line, overflow="ellipsis", no_wrap=True) for line in [numbers, *self._in_progress()])
        return Group(self._progress.get_renderable(), *lines)


def duration(seconds: float) -> str:
    """Return a time in words, to about two digits: 50 s, 12 min, 3 h 20 min, 40 h."""
    if seconds < 99.5:
        return f"{max(0, round(seconds))} s"
    minutes = round(seconds / 60)
    if minutes < 100:
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min" if minutes < 600 else f"{round(minutes / 60):,} h"


def line_of(record: Record) -> str:
    """Return a line about a game."""
    plies = record["plies"]
    opening = "" if record["opening"] == START else f", opening {record['opening']}"
    return (
        f"game {record['game']}: {record['white']} - {record['black']} {record['result']}, {record['ending']}, "
        f"{plies} {'ply' if plies == 1 else 'plies'}{opening}"
    )


# --- The standing ------------------------------------------------------------------------------------------------


#: Longest label that is shown in full.
WIDEST = 24


class RunningScore:
    """A running count of games.

    :ivar may_end_early: whether the match ends when a test is decided.
    """

    def __init__(self, labels: Sequence[str], sprt: Sprt | None) -> None:
        self._labels, self._sprt = labels, sprt
        self._points, self._meeting = Counter[str](), Meeting(*labels[:2])
        self.games = 0
        self.may_end_early = sprt is not None

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
