"""``gmd players``: list the registered players, newest first."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from .operator import WHERE, ask, directory_options
from .settings import Unusable, data_directory


@click.command()
@click.option("--here", is_flag=True, help="Only players who are present: with a session, or with a recent request.")
@directory_options
@click.option("--database", metavar="URL", help="Read them from this PostgreSQL database, without asking the daemon.")
def players(here: bool, data: str | None, database: str | None, file: Path | None) -> None:
    """\b
    Example: gmd players --here

    List the registered players, newest first: id, time of registration, name.
    """
    if data is not None and database is not None:
        raise click.UsageError("--data and --database name two places; leave one of them out")
    if here and database is not None:
        raise click.UsageError(f"--here: only a running daemon knows; {WHERE}")
    for row in _rows(data_directory(data, file), here=here) if database is None else _stored(database):
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


def _rows(data: str, *, here: bool) -> Iterator[dict[str, Any]]:
    before, more = None, True
    while more:
        page = ask(data, {"kind": "players", "here": here, "before": before})
        yield from page["players"]
        before = page["before"]
        more = before is not None
