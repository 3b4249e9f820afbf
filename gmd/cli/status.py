"""``gmd status``: show the daemon that serves games, and how many there are."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click
import msgspec

from gmd.cli.operator import ask
from gmd.cli.progress import counted
from gmd.cli.settings import Unusable, data_options, storage
from gmd.event_log.directory import LOCK_NAME, DataError
from gmd.event_log.opening import open_reader


@click.command()
@data_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def status(data: str | None, database: str | None, file: Path | None, as_json: bool) -> None:
    """\b
    Example: gmd status --data games

    Show the daemon that works in a data directory, and how many games are live. With a database: the daemon that serves
    it, and those that wait as its standbys.

    The exit status is 0; or 1 if no daemon serves, 2 if the log cannot be read.
    """
    directory, url = storage(data, database, file)
    try:
        if url is None:
            sys.exit(_show_directory(directory, as_json))
        sys.exit(_show_database(url, as_json))
    except DataError as error:
        raise Unusable(str(error)) from None


def _show_database(url: str, as_json: bool) -> int:
    """Show who serves a database and who waits, and how many games there are; return the exit status.

    :raises DataError: it cannot be read.
    """
    from gmd.event_log.postgres_engine import open_engine, shown_url
    from gmd.event_log.postgres_opening import explained

    open_engine(url).dispose()  # it says what is wrong with the URL, or that psycopg is missing
    from gmd.event_log.postgres_connection import plain_url
    from gmd.event_log.server_lock import who_serves

    with explained(url):
        server, waiters = who_serves(plain_url(url))
    where = shown_url(url)
    live: int | None = None
    total: int | None = None
    try:
        live, total = _counts("", url)
        games = f"{counted(total, 'game')}, {live:,} of them live"
    except DataError as error:
        if server is None:
            raise
        games = str(error)  # as in an upgrade: the tables are those of another version
    if as_json:
        serving = None if server is None else server._asdict()
        standbys = [waiter._asdict() for waiter in waiters]
        _print_json({"database": where, "server": serving, "standbys": standbys, "live_games": live, "games": total})
    else:
        click.echo(f"{where}: {games}")
        if server is None:
            click.echo("no daemon serves")
        else:
            at = f" at {server.addresses}" if server.addresses else ""
            click.echo(f"serves:  {server.name}{at}, gmd {server.version}, since {server.since}")
        for waiter in waiters:
            click.echo(f"standby: {waiter.name}, since {waiter.since}")
    return 1 if server is None else 0


def _show_directory(directory: str, as_json: bool) -> int:
    """Show the daemon in a data directory and the live games there, and return the exit status.

    :raises DataError: there is no log.
    """
    live, total = _counts(directory)
    server = _server(directory)
    where = str(Path(directory).expanduser())
    process = None if server is None else _process(Path(where))
    if as_json:
        _print_json({"data": where, "server": server, "process": process, "live_games": live, "games": total})
    else:
        who = "no daemon runs" if server is None else f"{server} runs as process {process}"
        click.echo(f"{where}: {who}; {counted(total, 'game')}, {live:,} of them live")
    return 1 if server is None else 0


def _counts(directory: str, url: str | None = None) -> tuple[int, int]:
    """Return the number of games that are not over, and of all.

    :raises DataError: they cannot be read.
    """
    from gmd.event_log.reading import GameFilter, LogReader

    with open_reader(directory, url) as engine:
        reader = LogReader(engine)
        return sum(reader.count(GameFilter(status=word)) for word in ("live", "open")), reader.count(GameFilter())


def _print_json(found: dict[str, Any]) -> None:
    click.echo(msgspec.json.format(msgspec.json.encode(found)))


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
