"""``gmd check``: replay every game: is the log whole?"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gmd.log.directory import DataError
from gmd.log.opening import open_reader

from .progress import counted, progress_bar
from .settings import Unusable, data_directory, data_options

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from gmd.log.reading import LogReader


@click.command()
@data_options
@click.option("--all", "every", is_flag=True, help="Go on behind the first damage, and count the damaged games.")
def check(data: str | None, file: Path | None, every: bool) -> None:
    """\b
    Example: gmd check --data games

    Check the log of games by replaying every game.

    Says what is damaged first: in SQLite's file, an event that does not apply to its game or is missing, a row of the
    table of games that says something else than the events, events of no game. A daemon may run meanwhile. Nothing is
    changed, and nothing repaired.

    The exit status is 0 if all is well, 1 if something is damaged, 2 if the log cannot be read.
    """
    try:
        with open_reader(data_directory(data, file)) as engine:
            status = _Check(every).run(engine)
    except DataError as error:
        raise Unusable(str(error)) from None
    sys.exit(status)


class _Check:
    def __init__(self, every: bool) -> None:
        self._every = every
        self._games = self._events = self._damaged = 0
        #: Whether the damage is not in a game: in the file, or where nothing can be read any more.
        self._broken = False

    def run(self, engine: Engine) -> int:
        """The exit status."""
        self._check_file(engine)
        if self._every or not self._broken:
            self._check_games(engine)
        return self._report()

    def _check_file(self, engine: Engine) -> None:
        from sqlalchemy.exc import DBAPIError

        from gmd.log.sqlite import damages

        with progress_bar("Checking SQLite's file", None):
            try:
                found = damages(engine)
            except DBAPIError as error:
                found = [str(error.orig)]
        for damage in found:
            click.echo(f"file: {damage}")
        self._broken = bool(found)

    def _check_games(self, engine: Engine) -> None:
        from sqlalchemy.exc import DBAPIError

        from gmd.log.reading import GameFilter, LogReader

        reader = LogReader(engine)
        try:
            with progress_bar("Replaying games", reader.count(GameFilter())) as advance:
                for problem in self._problems(reader):
                    advance(1)
                    if problem is not None:
                        click.echo(problem)
                        if not self._every:
                            return
        except DBAPIError as error:
            click.echo(f"file: nothing can be read behind the first {self._games} games: {error.orig}")
            self._broken = True

    def _problems(self, reader: LogReader) -> Iterator[str | None]:
        from gmd.log.checking import problem_of

        for stored in reader.everything():
            problem = problem_of(stored)
            if not isinstance(stored, int):
                self._games += 1
                self._events += len(stored.events)
            self._damaged += problem is not None
            yield problem

    def _report(self) -> int:
        if not self._damaged and not self._broken:
            click.echo(f"{counted(self._games, 'game')} with {counted(self._events, 'event')}: nothing is damaged.")
            return 0
        if not self._every:
            click.echo("This is the first damage; --all looks for more.")
        elif self._damaged:
            click.echo(f"{counted(self._damaged, 'damaged game')}, of {counted(self._games, 'game')}.")
        return 1
