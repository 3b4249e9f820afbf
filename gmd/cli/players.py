"""``gmd players``: list the registered players, newest first."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from .operator import ask, daemon_options
from .settings import Unusable, data_directory


@click.command()
@click.option("--here", is_flag=True, help="Only players who are present: with a session, or with a recent request.")
@click.option("--database", metavar="URL", help="Read them from this PostgreSQL database; needs no daemon.")
@daemon_options
def players(here: bool, database: str | None, data: str | None, file: Path | None) -> None:
    """\b
    Example: gmd players --here

    List the registered players, newest first: id, time of registration, name.
    """
    if database is not None and (here or data is not None):
        raise click.UsageError("--database cannot be combined with --here or --data: those ask a running daemon")
    rows = _rows(data_directory(data, file), here=here) if database is None else _stored(database)
    for row in rows:
        marks = "".join(f"  ({word})" for word in ("password", "revoked", "here") if row[word])
        click.echo(f"{row['player']}  {row['created']}  {row['name']}{marks}")


def _stored(database: str) -> Iterator[dict[str, Any]]:
    from gmd.event_log.directory import DataError
    from gmd.event_log.opening import open_reader
    from gmd.players.sql import load_players

    try:
        with open_reader("", database) as engine, engine.connect() as connection:
            accounts = load_players(connection)
    except DataError as error:
        raise Unusable(str(error)) from None
    for account in reversed(accounts):
        yield {
            "player": account.player,
            "created": account.created,
            "name": account.name,
            "password": account.password is not None,
            "revoked": account.key is None,
            "here": False,
        }


def _rows(directory: str, *, here: bool) -> Iterator[dict[str, Any]]:
    before, more = None, True
    while more:
        page = ask(directory, {"kind": "players", "here": here, "before": before})
        yield from page["players"]
        before = page["before"]
        more = before is not None
