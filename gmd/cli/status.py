"""``gmd status``: show the daemons that serve games, and what each owns."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from gmd.event_log.directory import LOCK_NAME, DataError
from gmd.event_log.opening import open_reader

from .operator import ask
from .progress import counted
from .settings import Unusable, data_options, storage

if TYPE_CHECKING:
    from gmd.cluster_status import ClusterStatus, DaemonStatus


@click.command()
@data_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def status(data: str | None, database: str | None, file: Path | None, as_json: bool) -> None:
    """\b
    Example: gmd status --database postgresql://gmd@db.example/gmd

    Show the daemons on a database: their addresses, versions and leases, the shards and the live games that each owns,
    and who owns the lobby; how many requests each forwards to others, over the game port and over HTTP; and the notes
    that others do not know yet.

    With a data directory: the daemon that works there, and the live games.

    The exit status is 0 if every game has an owner; 1 if no daemon runs, or shards have no owner; 2 if the log cannot
    be read.
    """
    directory, url = storage(data, database, file)
    try:
        if url is None:
            sys.exit(_show_directory(directory, as_json))
        sys.exit(_show_database(url, as_json))
    except DataError as error:
        raise Unusable(str(error)) from None


def _show_database(url: str, as_json: bool) -> int:
    """Show the daemons on a database, and return the exit status.

    :raises DataError: it cannot be read.
    """
    from sqlalchemy.exc import DBAPIError

    from gmd.cluster_status import read_status
    from gmd.event_log.postgres_engine import shown_url

    with open_reader("", url) as engine:
        try:
            with engine.connect() as connection:
                found = read_status(connection)
        except DBAPIError as error:
            raise DataError(
                f"database: {shown_url(url)} cannot be read: {' '.join(str(error.orig).split())}"
            ) from error
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode({"database": shown_url(url), **msgspec.to_builtins(found)})))
    else:
        _show(found, shown_url(url))
    return 1 if found.free_shards or not found.daemons else 0


def _show(found: ClusterStatus, name: str) -> None:
    from rich.console import Console
    from rich.table import Table

    lobby = "nobody owns the lobby" if found.lobby is None else f"{found.lobby} owns the lobby"
    click.echo(
        f"{counted(len(found.daemons), 'daemon')} on {name}: {counted(found.live_games, 'live game')}; {lobby}"
        + (f"; {counted(found.free_shards, 'shard')} without an owner" if found.free_shards else "")
    )
    if not found.daemons:
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("daemon", "http", "version", "since", "lease"):
        table.add_column(heading)
    for heading in ("shards", "live", "requests", "forwarded", "by http", "forwarded", "notes"):
        table.add_column(heading, justify="right")
    table.add_column("")
    for daemon in found.daemons:
        table.add_row(*_row(daemon))
    Console(markup=False, highlight=False, width=None if sys.stdout.isatty() else 200).print(table)


def _row(daemon: DaemonStatus) -> list[str]:
    shares = (daemon.forwarded_share, daemon.http_forwarded_share)
    share, http_share = ("" if share is None else f"{100 * share:.0f} %" for share in shares)
    lease = f"{daemon.lease_seconds:.1f} s" if daemon.lease_seconds > 0 else "run out"
    numbers = (daemon.requests, daemon.http_requests, daemon.notes_waiting)
    requests, by_http, notes = ("" if number is None else f"{number:,}" for number in numbers)
    where = [daemon.game, daemon.http or "", daemon.version, daemon.since, lease, str(daemon.shards)]
    return [*where, f"{daemon.live_games:,}", requests, share, by_http, http_share, notes, _remarks(daemon)]


def _remarks(daemon: DaemonStatus) -> str:
    remarks = ["lobby"] if daemon.lobby else []
    remarks += ["stopping"] if daemon.draining else []
    remarks += ["joining"] if daemon.joining else []
    remarks += [f"no link to {other}" for other in daemon.links_down or ()]
    return ", ".join(remarks)


def _show_directory(directory: str, as_json: bool) -> int:
    """Show the daemon in a data directory and the live games there, and return the exit status.

    :raises DataError: there is no log.
    """
    from gmd.event_log.reading import GameFilter, LogReader

    with open_reader(directory) as engine:
        reader = LogReader(engine)
        going = {word: reader.count(GameFilter(status=word)) for word in ("live", "open")}
        total = reader.count(GameFilter())
    server = _server(directory)
    where = str(Path(directory).expanduser())
    process = None if server is None else _process(Path(where))
    if as_json:
        found: dict[str, Any] = {"data": where, "server": server, "process": process}
        found |= {"live_games": sum(going.values()), "games": total}
        click.echo(msgspec.json.format(msgspec.json.encode(found)))
    else:
        who = "no daemon runs" if server is None else f"{server} runs as process {process}"
        click.echo(f"{where}: {who}; {counted(total, 'game')}, {sum(going.values()):,} of them live")
    return 1 if server is None else 0


def _server(directory: str) -> str | None:
    """Return the name and the version of the daemon in a data directory; None if none answers."""
    try:
        return str(ask(directory, {"kind": "hello"})["server"])
    except click.ClickException:
        return None


def _process(directory: Path) -> int | None:
    """Return the id of the process that works in a directory, as its lock says."""
    text = (directory / LOCK_NAME).read_text(errors="replace").strip()
    return int(text) if text.isdecimal() else None
