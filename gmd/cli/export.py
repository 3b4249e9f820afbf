"""``gmd export``: write games as PGN or JSON lines, or a whole log."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast, get_args

import click
from click.core import ParameterSource

from gm_protocol.endings import Result
from gm_protocol.messages import GameStatus, Variant
from gmd.cli.progress import counted, progress_bar
from gmd.cli.settings import Storage, Unusable, data_options, storage
from gmd.event_log.directory import DataError
from gmd.event_log.opening import open_readable, open_reader

if TYPE_CHECKING:
    from gmd.event_log.reading import GameFilter, LogReader, StoredGame

#: The formats of a time, in UTC; a date alone means midnight.
TIMES = ["%Y-%m-%d", "%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%M:%S"]
#: The statuses of games that are not over.
GOING_ON: tuple[GameStatus, ...] = ("live", "open")
_UNREADABLE = "data: the log cannot be read to its end"


@click.command()
@data_options
@click.option("--format", "written", type=click.Choice(["pgn", "jsonl"]), default="pgn", show_default=True)
@click.option("--output", type=click.Path(path_type=Path), help="File to write to.  [default: standard output]")
@click.option("--game", "game_ids", type=int, multiple=True, metavar="ID", help="Only this game. May be repeated.")
@click.option(
    "--player", "players", type=int, multiple=True, metavar="ID", help="Only games of this player. May be repeated."
)
@click.option(
    "--variant",
    "variants",
    type=click.Choice(get_args(Variant)),
    multiple=True,
    help="Only games of this variant. May be repeated.",
)
@click.option(
    "--status",
    type=click.Choice(["over", "live", "all"]),
    help="Only games in this state.  [default: over; with --game: all]",
)
@click.option(
    "--result",
    "results",
    type=click.Choice(get_args(Result)),
    multiple=True,
    help="Only games with this result. May be repeated.",
)
@click.option("--since", type=click.DateTime(TIMES), help="Only games created at this time (UTC) or later.")
@click.option("--until", type=click.DateTime(TIMES), help="Only games created before this time (UTC).")
@click.option(
    "--all", "whole", type=click.Path(path_type=Path), metavar="FILE", help="Write the whole log to this file instead."
)
@click.option("--replay", is_flag=True, help="With --all: also replay every game, and leave out damaged ones.")
def export(
    data: str | None,
    database: str | None,
    file: Path | None,
    written: str,
    output: Path | None,
    whole: Path | None,
    replay: bool,
    **wanted: Any,
) -> None:
    """\b
    Example: gmd export --format pgn --output games.pgn

    Write games as PGN or as JSON lines.

    PGN is the game history that clients get. JSON lines hold everything: `gmd import` restores the same games from
    them. The daemon may be running.

    Live games are left out unless --status or --game selects them, because they contain what their players may not yet
    know. Blind chess is left out of PGN, since programs that read chess cannot read it, unless --variant rbc or --game
    selects it.

    --all writes everything that the daemon keeps, at one moment: all games, players with the digests of their keys and
    passwords, contests, and the server's secrets. `gmd import` restores it into an empty log, in SQLite or PostgreSQL.
    Only the file's owner can read it. SQLite's file is checked first. If it is damaged, --all finds what any of its
    pages has, and replays every game; stop the daemon before.

    The exit status is 0 if all went well; 1 if the file is damaged, damaged games were left out or a game given with
    --game was not found; 2 if the log cannot be read.
    """
    place = storage(data, database, file)
    if whole is not None:
        _refuse_selection(click.get_current_context())
        sys.exit(_export_whole(place, whole, replay=replay))
    if replay:
        raise click.UsageError("--replay goes with --all; gmd check replays every game, too")
    try:
        status = _export(place, _filter(wanted, written), written, output)
    except DataError as error:
        raise Unusable(str(error)) from None
    sys.exit(status)


def _refuse_selection(context: click.Context) -> None:
    """Check that no option says what to write, besides --all.

    :raises click.UsageError: one does.
    """
    for parameter in context.command.params:
        name = parameter.name or ""
        given = context.get_parameter_source(name)
        if name not in ("data", "database", "file", "whole", "replay") and given is not ParameterSource.DEFAULT:
            raise click.UsageError(f"--all writes the whole log to its file; leave out {parameter.opts[0]}")


def _export_whole(place: Storage, output: Path, *, replay: bool) -> int:
    """Write the whole log, and return the exit status."""
    from sqlalchemy.exc import DBAPIError

    from gmd.archive.whole_log import write_log
    from gmd.event_log.reading import GameFilter, LogReader

    damaged: list[str] = []

    def left_out(what: str) -> None:
        damaged.append(what)
        click.echo(what, err=True)

    directory = None if place.database is not None else Path(place.data).expanduser()
    try:
        with ExitStack() as stack:
            with progress_bar("Checking SQLite's file", None):
                engine, damages = stack.enter_context(open_readable(*place))
            if damages:
                left_out(f"data: the file in {place.data} is damaged: {damages[0]}; what is whole is exported")
            out = stack.enter_context(_opened(output, 0o600))
            advance = stack.enter_context(progress_bar("Writing games", LogReader(engine).count(GameFilter())))
            connection = stack.enter_context(engine.connect())
            write_log(connection, directory, out, left_out, advance, replays=replay or bool(damages))
    except DataError as error:
        raise Unusable(str(error)) from None
    except DBAPIError as error:
        raise Unusable(f"{_UNREADABLE}: {error.orig}") from None
    return 1 if damaged else 0


def _filter(wanted: dict[str, Any], written: str) -> GameFilter:
    from gmd.event_log.reading import GameFilter

    if written == "pgn" and not wanted["variants"] and not wanted["game_ids"]:
        wanted["variants"] = _common_variants()
    status = wanted.pop("status") or ("all" if wanted["game_ids"] else "over")
    since, until = (_utc(wanted.pop(name)) for name in ("since", "until"))
    return GameFilter(**wanted, status=None if status == "all" else cast(GameStatus, status), since=since, until=until)


def _utc(time: datetime | None) -> str | None:
    return None if time is None else time.strftime("%Y-%m-%dT%H:%M:%SZ")


def _export(place: Storage, wanted: GameFilter, written: str, output: Path | None) -> int:
    """Write the selected games, and return the exit status.

    :raises DataError: the log cannot be read.
    """
    from sqlalchemy.exc import DBAPIError

    from gmd.event_log.damage import OutOfOrder, export_advice, is_damage
    from gmd.event_log.reading import LogReader
    from gmd.players.sql import load_players

    with open_reader(*place) as engine:
        reader = LogReader(engine)
        try:
            with engine.connect() as connection:
                names = {account.player: account.name for account in load_players(connection)}
            damaged = _write(reader, wanted, _writer(written, names), output)
            missing = _mention_missing(reader, wanted)
        except (DBAPIError, OutOfOrder) as error:
            reason = error.orig if isinstance(error, DBAPIError) else error
            advice = f". {export_advice(place.data)}" if is_damage(error) else ""
            raise DataError(f"{_UNREADABLE}: {reason}{advice}") from None
    return 1 if damaged or missing else 0


def _write(reader: LogReader, wanted: GameFilter, write: Callable[[StoredGame], bytes], output: Path | None) -> int:
    """Write the selected games, and name and count those that are damaged."""
    from gmd.event_log.checking import problem_of_row
    from gmd.event_log.reading import Unreadable

    damaged = 0
    on_terminal = output is None and sys.stdout.isatty()
    with _opened(output) as out, progress_bar("Writing games", reader.count(wanted), hidden=on_terminal) as advance:
        for stored in reader.games(wanted):
            problem = problem_of_row(stored)
            try:
                if problem is None:
                    out.write(write(stored))
            except Unreadable as error:
                problem = f"event {error.seq}: {error}"
            if problem is not None:
                damaged += 1
                click.echo(f"game {stored.game_id} is left out: {problem}", err=True)
            advance(1)
    return damaged


def _writer(written: str, names: Mapping[int, str]) -> Callable[[StoredGame], bytes]:
    """Return a function that writes a game as bytes.

    :param names: players' names by their ids.
    """
    if written == "jsonl":
        from gmd.archive.files import write_line

        return partial(write_line, names=names)
    from gmd.archive.files import write_pgn_game

    return partial(write_pgn_game, names=names)


def _mention_missing(reader: LogReader, wanted: GameFilter) -> bool:
    """Report games of --game that were not found, and how many others were left out; return whether any was missing."""
    missing = [game_id for game_id in wanted.game_ids if not reader.count(wanted._replace(game_ids=[game_id]))]
    for game_id in missing:
        if reader.count(type(wanted)(game_ids=[game_id])):
            why = "is in the log, but the other options exclude it; leave them out to export it"
        else:
            why = "is not in the log; leave out --game to export all games"
        click.echo(f"game: {game_id} {why}", err=True)
    if wanted.status == "over" and not wanted.game_ids:
        live = sum(reader.count(wanted._replace(status=status)) for status in GOING_ON)
        if live:
            click.echo(f"left out: {counted(live, 'live game')}; use --status all to export them too", err=True)
    if wanted.variants == _common_variants():
        _mention_uncommon(reader, wanted)
    return bool(missing)


def _common_variants() -> tuple[Variant, ...]:
    """Return the variants exported as PGN by default: those that common programs, such as python-chess, can read."""
    from gmd.games.variants import VARIANTS

    return tuple(variant.name for variant in VARIANTS.values() if variant.pgn_is_common)


def _mention_uncommon(reader: LogReader, wanted: GameFilter) -> None:
    """Report how many games of variants that few programs can read were left out."""
    from gmd.games.variants import VARIANTS

    for variant in VARIANTS.values():
        if not variant.pgn_is_common and (count := reader.count(wanted._replace(variants=[variant.name]))):
            what = f"{counted(count, 'game')} of {variant.title}"
            click.echo(f"left out: {what}; use --variant {variant.name}, or --format jsonl for all variants", err=True)


@contextmanager
def _opened(output: Path | None, mode: int = 0o666) -> Iterator[BinaryIO]:
    """Open standard output, or a file that gets its name only once it is complete.

    :param mode: the file's permissions, from its beginning.
    """
    if output is None:
        try:
            yield sys.stdout.buffer
            sys.stdout.buffer.flush()
        except BrokenPipeError:
            raise  # the reader has closed the pipe: click exits silently
        except OSError as error:
            _drop_standard_output()
            raise Unusable(f"standard output cannot be written: {error.strerror}") from None
        return
    part = output.with_name(f"{output.name}.part")
    try:
        part.unlink(missing_ok=True)  # of an export that was killed, perhaps with other permissions
        with open(part, "xb", opener=partial(os.open, mode=mode)) as opened:
            yield opened
            opened.flush()
            os.fsync(opened.fileno())
        part.replace(output)
    except OSError as error:
        raise Unusable(f"output: {output} cannot be written: {error.strerror}") from None
    finally:
        part.unlink(missing_ok=True)


def _drop_standard_output() -> None:
    """Discard buffered output: Python would write it again at exit, and turn the exit status into 120."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
