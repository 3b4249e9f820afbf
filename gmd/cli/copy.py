"""``gmd copy``: copy a log between SQLite and PostgreSQL, and compare both."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from gmd.event_log.directory import DataError

from .progress import counted, progress_bar
from .settings import Unusable

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from gmd.copying.copying import Source
    from gmd.copying.places import Place, Target

#: What a row of each table is, for people.
UNITS: Mapping[str, str] = {
    "games": "game",
    "events": "event",
    "tokens": "token",
    "players": "player",
    "contests": "contest",
}
#: The exit status of a program that was ended with Ctrl-C.
INTERRUPTED = 130


@click.command()
@click.option(
    "--from", "source", required=True, metavar="PLACE", help="The log to copy: a directory, or postgresql://..."
)
@click.option("--to", "target", required=True, metavar="PLACE", help="Where to: an empty place, which may not exist.")
@click.option(
    "--leave-out-damaged", is_flag=True, help="Copy the rest if rows are damaged; leave their games out whole."
)
@click.option("--replay", is_flag=True, help="Also replay every game of the copy, as gmd check does.")
@click.option("--again", is_flag=True, help="Remove what a stopped copy has left in the target, and copy all of it.")
def copy(source: str, target: str, leave_out_damaged: bool, replay: bool, again: bool) -> None:
    """\b
    Example: gmd copy --from games --to postgresql://gmd@db.example/gmd

    Copy a whole log: games with all of their events, tokens, players and contests. Stop the daemons first.

    A place is a data directory, with SQLite's file, or the URL of a PostgreSQL database. The source is not changed, and
    nobody can write it meanwhile. The target must be empty. Afterwards every row of both is compared.

    A copy can be stopped at any time: the same command goes on where it was, and until it has come to its end no daemon
    starts with the target.

    If rows of the source are damaged, they are named and nothing is copied, unless --leave-out-damaged is given.

    The exit status is 0 if all was copied and is the same; 1 if rows are damaged, or a copied game does not replay; 2
    if the log could not be copied.
    """
    from gmd.copying.places import opened_source, opened_target, shown

    try:
        if shown(source) == shown(target):
            raise DataError("--from and --to name the same place")
        with opened_source(source) as origin:
            checked = _checked(origin, leave_out_damaged=leave_out_damaged)
            if checked is None:
                sys.exit(1)
            with opened_target(target, again=again) as opened:
                _copy(checked, opened)
                damaged = replay and not _replays(opened.place.engine)
    except DataError as error:
        raise Unusable(str(error)) from None
    except KeyboardInterrupt:
        click.echo("Stopped. The same command goes on from here.", err=True)
        sys.exit(INTERRUPTED)
    sys.exit(1 if damaged or checked.damage.said else 0)


def _checked(place: Place, *, leave_out_damaged: bool) -> Source | None:
    """Read the source once and name its damaged rows; return None if they prevent the copy."""
    from gmd.copying.copying import Source

    source = Source(place)
    with progress_bar("Reading rows", None) as advance:
        source.check(advance)
    damage = source.damage
    for line in damage.said:
        click.echo(line, err=True)
    if damage.said and not leave_out_damaged:
        click.echo(
            f"{counted(len(damage.said), 'row')} damaged; nothing was copied. Repair the log (gmd check --repair), or "
            "leave them out with --leave-out-damaged",
            err=True,
        )
        return None
    return source


def _copy(source: Source, target: Target) -> None:
    """Write the rows, compare them, let daemons start with the target, and say so."""
    from gmd.copying.copying import compare, write_rows
    from gmd.copying.places import content, finish

    place, total = target.place, sum(source.rows.values())
    if target.is_begun:
        click.echo(f"{place.name} has a part of a log already; the copy goes on from there", err=True)
    with progress_bar("Writing rows", total) as advance:
        if target.is_begun:
            with place.connection.begin():
                advance(sum(content(place.connection).values()))
        write_rows(source, place, advance)
    with progress_bar("Comparing rows", total) as advance:
        digest = compare(source, place, advance)
    with place.connection.begin():
        counts = content(place.connection)
    finish(place)
    copied = [counted(counts.get(name, 0), unit) for name, unit in UNITS.items()]
    click.echo(f"Copied {', '.join(copied[:-1])} and {copied[-1]} to {place.name}.")
    if source.damage.said:
        left = counted(source.damage.games, "game")
        click.echo(f"Left out: {counted(len(source.damage.said), 'damaged row')}, and {left} that they belong to.")
    click.echo(f"Every row was compared with {source.name}; the digest of all is {digest}.")


def _replays(engine: Engine) -> bool:
    """Replay every game of the copy, and name those that are damaged; return whether none is."""
    from gmd.event_log.checking import problem_of
    from gmd.event_log.reading import GameFilter, LogReader

    reader, damaged = LogReader(engine), 0
    with progress_bar("Replaying games", reader.count(GameFilter())) as advance:
        for stored in reader.everything():
            advance(1)
            if (problem := problem_of(stored)) is not None:
                damaged += 1
                click.echo(problem)
    click.echo(f"{counted(damaged, 'game')} damaged." if damaged else "Every game replays.")
    return not damaged
