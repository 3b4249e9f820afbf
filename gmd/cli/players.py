"""``gmd players``: list the registered players, newest first."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from .operator import ask, daemon_options
from .settings import data_directory


@click.command()
@click.option("--here", is_flag=True, help="Only players who are present: with a session, or with a recent request.")
@daemon_options
def players(here: bool, data: str | None, file: Path | None) -> None:
    """\b
    Example: gmd players --here

    List the registered players, newest first: id, time of registration, name.
    """
    for row in _rows(data_directory(data, file), here=here):
        marks = "".join(f"  ({word})" for word in ("password", "revoked", "here") if row[word])
        click.echo(f"{row['player']}  {row['created']}  {row['name']}{marks}")


def _rows(directory: str, *, here: bool) -> Iterator[dict[str, Any]]:
    before, more = None, True
    while more:
        page = ask(directory, {"kind": "players", "here": here, "before": before})
        yield from page["players"]
        before = page["before"]
        more = before is not None
