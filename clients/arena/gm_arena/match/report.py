"""What ``gmd match`` says while it plays: a line for each game, and on a terminal a bar with the score."""

from __future__ import annotations

import logging
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Self

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from ..crosstable import halves
from .record import Record
from .summary import Meeting, half_points


class Report(AbstractContextManager["Report"]):
    """Is told of every game, in the plan's order."""

    def __init__(self, labels: Sequence[str], games: int, *, quiet: bool, verbose: bool) -> None:
        """:param quiet: no line for each game.
        :param verbose: also what bots write to their standard error.
        """
        self._labels, self._quiet, self._verbose = labels, quiet, verbose
        self._points, self._meeting = Counter[str](), Meeting(*labels[:2])
        self._console = Console(stderr=True)
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
        times = (TimeElapsedColumn(), TimeRemainingColumn())
        terminal = self._console.is_terminal
        self._progress = Progress(*columns, *times, console=self._console, disable=not terminal, transient=True)
        self._bar = self._progress.add_task("", total=games)

    def __enter__(self) -> Self:
        self._progress.start()
        # Where there is a bar, what is written to these streams goes above it: so they are looked up now.
        level = logging.INFO if self._verbose else logging.ERROR
        logging.basicConfig(level=level, stream=sys.stderr, format="%(message)s", force=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._progress.stop()
        logging.basicConfig(level=logging.ERROR, stream=sys.stderr, format="%(message)s", force=True)

    def resumed(self, records: Sequence[Record]) -> None:
        """Games are there already."""
        if records:
            self._say(f"{len(records)} games are there already")
        for record in records:
            self._count(record)

    def played(self, record: Record) -> None:
        """A game was played."""
        if not self._quiet:
            self._say(line_of(record))
        self._count(record)

    def _count(self, record: Record) -> None:
        for label in (record["white"], record["black"]):
            self._points[label] += half_points(record, label)
        self._meeting.add(record)
        self._progress.update(self._bar, advance=1, description=self._score())

    def _score(self) -> str:
        if len(self._labels) == 2:
            wins, draws, losses = self._meeting.wins_draws_losses
            return f"{_short(self._labels[0])} +{wins} ={draws} -{losses}"
        leader = max(self._labels, key=self._points.__getitem__)
        return f"{_short(leader)} leads with {halves(self._points[leader] / 2)}"

    def _say(self, text: str) -> None:
        if self._progress.disable:
            click.echo(text)
        else:
            self._console.print(text, markup=False, highlight=False, soft_wrap=True)


def line_of(record: Record) -> str:
    """A game, in a line."""
    plies = record["plies"]
    opening = "" if record["opening"] == "start" else f", opening {record['opening']}"
    return (
        f"game {record['game']}: {record['white']} - {record['black']} {record['result']}, {record['ending']}, "
        f"{plies} {'ply' if plies == 1 else 'plies'}{opening}"
    )


def _short(label: str) -> str:
    return label if len(label) <= 24 else f"{label[:23]}…"
