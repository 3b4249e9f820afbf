"""``gmd check``: check the event log by replaying every game."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gmd.cli.progress import counted, progress_bar
from gmd.cli.settings import Unusable, data_options, storage
from gmd.event_log.directory import DataError
from gmd.event_log.opening import open_reader

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from gmd.event_log.reading import LogReader


@click.command()
@data_options
@click.option("--all", "every", is_flag=True, help="Continue after the first damage, and count the damaged games.")
def check(data: str | None, database: str | None, file: Path | None, every: bool) -> None:
    """\b
    Example: gmd check --data games

    Check the event log by replaying every game.

    Reports the first damage found: in the SQLite file itself; a damaged row of a player or a contest; an event that is
    missing or does not apply to its game; a row of the games table that contradicts the events; events without a game.
    The daemon may be running. Nothing is changed.

    Of a damaged log, gmd export --all FILE --replay exports what is whole, for gmd import into a new directory.

    With --database there is no file to check: PostgreSQL has its own checks (pg_amcheck) and backups.

    The exit status is 0 if nothing is damaged, 1 if something is damaged, 2 if the log cannot be read.
    """
    try:
        with open_reader(*storage(data, database, file)) as engine:
            sys.exit(_Check(every).run(engine))
    except DataError as error:
        raise Unusable(str(error)) from None


class _Check:
    def __init__(self, every: bool) -> None:
        self._every = every
        self._games = self._events = self._damaged = 0
        self._damaged_rows = Counter[str]()  # of tables beside the games
        #: Whether there is damage outside games: in the file itself, or where the rest cannot be read.
        self._broken = False

    def run(self, engine: Engine) -> int:
        """Run the checks and return the exit status."""
        if engine.dialect.name == "sqlite":
            self._check_file(engine)
        if self._every or not self._broken:
            self._check_rows(engine)
        if self._every or not (self._broken or self._damaged_rows):
            self._check_games(engine)
        return self._report()

    def _check_file(self, engine: Engine) -> None:
        from sqlalchemy.exc import DBAPIError

        from gmd.event_log.sqlite import damages

        with progress_bar("Checking SQLite's file", None):
            try:
                found = damages(engine)
            except DBAPIError as error:
                found = [str(error.orig)]
        for damage in found:
            click.echo(f"file: {damage}")
        self._broken = bool(found)

    def _check_rows(self, engine: Engine) -> None:
        """Check the tables beside the games."""
        from sqlalchemy.exc import DBAPIError

        from gmd.archive.whole_log import READERS
        from gmd.event_log.damage import DamagedRow, checked_rows

        for table, read in READERS.items():
            try:
                with engine.connect() as connection:
                    for row, found in checked_rows(connection, table, read):
                        if isinstance(found, DamagedRow):
                            self._damaged_rows[table.name] += 1
                            click.echo(f"{table.name}, row {row}: {found}")
                            if not self._every:
                                return
            except DBAPIError as error:
                click.echo(f"file: the {table.name} cannot be read: {error.orig}")
                self._broken = True

    def _check_games(self, engine: Engine) -> None:
        from sqlalchemy.exc import DBAPIError

        from gmd.event_log.damage import OutOfOrder
        from gmd.event_log.reading import GameFilter, LogReader

        reader = LogReader(engine)
        try:
            with progress_bar("Replaying games", reader.count(GameFilter())) as advance:
                for problem in self._problems(reader):
                    advance(1)
                    if problem is not None:
                        click.echo(problem)
                        if not self._every:
                            return
        except (
            DBAPIError,
            OutOfOrder,
            TypeError,
            ValueError,
            MemoryError,
        ) as error:  # columns may have values of any kind
            reason = error.orig if isinstance(error, DBAPIError) else f"{type(error).__name__}: {error}"
            click.echo(f"file: nothing can be read after the first {self._games} games: {reason}")
            self._broken = True

    def _problems(self, reader: LogReader) -> Iterator[str | None]:
        from gmd.event_log.checking import problem_of

        for stored in reader.everything():
            problem = problem_of(stored)
            if not isinstance(stored, int):
                self._games += 1
                self._events += len(stored.events)
            self._damaged += problem is not None
            yield problem

    def _report(self) -> int:
        if not (self._damaged or self._damaged_rows or self._broken):
            click.echo(f"{counted(self._games, 'game')} with {counted(self._events, 'event')}: nothing is damaged.")
            return 0
        if not self._every:
            click.echo("This is the first damage found; use --all to find the rest.")
            return 1
        for table, damaged in self._damaged_rows.items():
            click.echo(f"{counted(damaged, 'damaged ' + table.removesuffix('s'))}.")
        if self._damaged:
            click.echo(f"{counted(self._damaged, 'damaged game')}, of {counted(self._games, 'game')}.")
        return 1
