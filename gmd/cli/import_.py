"""``gmd import``: import games from PGN files or JSON lines, or a whole log."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gmd.cli.progress import counted, progress_bar
from gmd.cli.settings import Storage, Unusable, data_options, storage
from gmd.event_log.directory import DataError
from gmd.event_log.opening import open_store

if TYPE_CHECKING:
    from gm_protocol.messages import Variant
    from gmd.archive.files import Format, FoundGame, ImportOptions
    from gmd.archive.games import Importer
    from gmd.event_log.sql import SqlStore

#: The variants whose games PGN may hold; the names are those of the wire, which this module does not import for --help.
_LOADABLE = ("standard", "chess960", "crazyhouse")


@click.command("import")
@data_options
@click.option(
    "--format", "written", type=click.Choice(["pgn", "jsonl", "reconchess"]), help="[default: by the files' names]"
)
@click.option("--new-ids", is_flag=True, help="Give a game a new id if another game has its id.")
@click.option("--white", type=int, metavar="ID", help="Player for White in games whose White is not a player's id.")
@click.option("--black", type=int, metavar="ID", help="Player for Black in games whose Black is not a player's id.")
@click.option(
    "--variant", type=click.Choice(_LOADABLE), help="The variant of PGN games that name none, or only 'Standard'."
)
@click.option("--partial", is_flag=True, help="Import a PGN game with an illegal move up to that move.")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
def import_(
    data: str | None,
    database: str | None,
    file: Path | None,
    written: Format | None,
    new_ids: bool,
    white: int | None,
    black: int | None,
    variant: Variant | None,
    partial: bool,
    files: Sequence[Path],
) -> None:
    """\b
    Example: gmd import games.pgn

    Import games from files into the event log. Stop the daemon first.

    JSON lines are the output of `gmd export --format jsonl`. Every game is replayed before it is stored, and keeps its
    id; a game that is there already is skipped. Each game of a PGN file becomes a new game, as with game_from_pgn: it
    can be played on, unless it is over in its last position.

    A .json file is a game that reconchess has saved. It becomes a new game between --white and --black.

    A file of `gmd export --all` has a whole log, and is recognised by its first line. It is restored into an empty log,
    wholly or not at all.

    A game that cannot be imported is reported with its place in the file, and the others are imported. A PGN game with
    a null move is imported up to that move, and one with an illegal move where --partial is given.

    The exit status is 0 if all was imported; 1 if a game or a part of one could not be imported; 2 if there were games
    and none could be imported.
    """
    from gmd.archive.files import ImportOptions

    given = ImportOptions(white, black, variant, partial)
    if any(_is_whole(one) for one in files):
        if len(files) > 1 or written is not None or new_ids or given != ImportOptions():
            raise click.UsageError("a whole log is imported alone, without options that say how to read games")
        _import_whole(storage(data, database, file), files[0])
        return
    chosen = [(one, _format(one, written)) for one in files]
    try:
        with open_store(*storage(data, database, file)) as store:
            status = _import(store, chosen, given, new_ids)
    except DataError as error:
        raise Unusable(str(error)) from None
    sys.exit(status)


def _is_whole(file: Path) -> bool:
    from gmd.archive.whole_log import is_whole_log

    if not file.is_file():
        raise Unusable(f"{file}: {'is not a regular file' if file.exists() else 'does not exist'}")
    try:
        return is_whole_log(file)
    except OSError as error:
        raise Unusable(f"{file}: cannot be read: {error.strerror}") from None


def _import_whole(place: Storage, file: Path) -> None:
    from sqlalchemy.exc import DBAPIError

    from gmd.archive.whole_log import READERS, restore_log
    from gmd.event_log.store import OutcomeUnknown, Unreachable

    directory = None if place.database is not None else Path(place.data).expanduser()
    try:
        with open_store(*place) as store, progress_bar("Reading the log", file.stat().st_size) as advance:
            counts = restore_log(store, directory, file, advance)
    except DataError as error:
        raise Unusable(str(error)) from None
    except DBAPIError as error:
        raise Unusable(f"data: the log cannot be written: {error.orig}; nothing was imported") from None
    except (Unreachable, OutcomeUnknown) as error:
        raise Unusable(f"database: {error}; gmd check says whether the log was imported") from None
    except OSError as error:
        raise Unusable(f"{error.filename}: cannot be used: {error.strerror}; nothing was imported") from None
    said = [counted(counts[what], what.removesuffix("s")) for what in ("games", *map(str, READERS))]
    click.echo(f"Imported a whole log with {', '.join(said[:-1])} and {said[-1]}")


def _format(file: Path, written: Format | None) -> Format:
    from gmd.archive.files import format_of

    found = written or format_of(file)
    if found is None:
        raise click.UsageError(f"{file}: its name ends in none of .pgn, .jsonl and .json; add --format")
    return found


def _import(store: SqlStore, files: Sequence[tuple[Path, Format]], given: ImportOptions, new_ids: bool) -> int:
    """Import the games of the files, and return the exit status."""
    from sqlalchemy.exc import DBAPIError

    from gmd.archive.files import read_games
    from gmd.archive.games import Importer

    done: Counter[str] = Counter()
    try:
        importer = Importer(store, _first_new_id(store, files, new_ids), may_renumber=new_ids)
        with progress_bar("Reading games", sum(file.stat().st_size for file, _ in files)) as advance:
            for file, written in files:
                for found in read_games(file, written, given, advance):
                    done[_add(importer, found, is_new=written != "jsonl")] += 1
            importer.flush()
    except OSError as error:
        raise Unusable(f"{error.filename}: cannot be read: {error.strerror}") from None
    except DBAPIError as error:
        raise Unusable(f"data: the log cannot be written: {error.orig}") from None
    click.echo(_summary(importer, done).capitalize())
    return _status(done)


def _status(done: Counter[str]) -> int:
    """Return the exit status of an import from the counts of :func:`_add`'s results."""
    if not done["bad"] and not done["cut"]:
        return 0
    return 1 if any(done[what] for what in ("imported", "cut", "there")) else 2


def _first_new_id(store: SqlStore, files: Sequence[tuple[Path, Format]], new_ids: bool) -> int:
    """Return an id that no game has, in the log or in a file, so that no game finds its own id already taken."""
    from gmd.archive.files import highest_id

    highest = [store.newest_game_id()]
    if new_ids or any(written != "jsonl" for _, written in files):
        highest += [highest_id(file) for file, written in files if written == "jsonl"]
    return 1 + max(highest)


def _add(importer: Importer, found: FoundGame, *, is_new: bool) -> str:
    """Import a game; return "imported", "cut" (imported in part), "there" (skipped, since it exists), or "bad"."""
    from gmd.archive.games import BadGame

    try:
        if isinstance(found.game, BadGame):
            raise found.game
        game, left_out = found.game
        added = importer.add_new(game) if is_new else importer.add(game)
    except BadGame as error:
        click.echo(f"{found.where}: {error}", err=True)
        return "bad"
    if left_out is not None:
        click.echo(f"{found.where}: {left_out}", err=True)
        return "cut"
    if isinstance(added, int):
        if not is_new:
            click.echo(f"{found.where}: game {game.append.game_id} is now game {added}")
        return "imported"
    return added


def _summary(importer: Importer, done: Counter[str]) -> str:
    said = f"imported {counted(importer.imported, 'game')}"
    if done["cut"]:
        said += f", {done['cut']:,} only in part"
    if done["there"]:
        said += f", {done['there']:,} {'was' if done['there'] == 1 else 'were'} there already"
    if done["bad"]:
        said += f", {counted(done['bad'], 'game')} could not be imported"
    return said
