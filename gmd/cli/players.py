"""``gmd players`` lists the registered players; ``gmd register``, ``rekey`` and ``revoke`` ask the daemon."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from gmd.cli.operator import WHERE, ask, daemon_options, directory_options, named, player_argument, show_key
from gmd.cli.settings import Unusable, data_directory


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


@click.command()
@click.argument("name")
@click.option("--password", "has_password", is_flag=True, help="Ask for a password, or read it from standard input.")
@daemon_options
def register(name: str, has_password: bool, data: str) -> None:
    """\b
    Example: gmd register my-bot

    Register a player, and print its key.

    The key is shown only once: the daemon keeps only a digest of it. A player with a password can also begin a session
    with that, and get a new key with `rekey`.
    """
    password = _read_password() if has_password else None
    show_key(ask(data, {"kind": "register", "name": name, "password": password}))


def _read_password() -> str:
    if sys.stdin.isatty():
        password: str = click.prompt("Password", hide_input=True, confirmation_prompt=True)
        return password
    return sys.stdin.readline().rstrip("\n")


@click.command()
@player_argument
@daemon_options
def rekey(player: str, data: str) -> None:
    """\b
    Example: gmd rekey my-bot

    Give a player a new key, and print it.

    The old key is void at once, also in sessions that have authenticated with it. A revoked player is admitted again.
    """
    show_key(ask(data, {"kind": "rekey", **named(player)}))


@click.command()
@player_argument
@daemon_options
def revoke(player: str, data: str) -> None:
    """\b
    Example: gmd revoke my-bot

    Revoke a player's key and password, and end its sessions.

    Its games go on: their clocks run, and its name stays taken. `gmd rekey` gives the player a new key.
    """
    reply = ask(data, {"kind": "revoke", **named(player)})
    click.echo(f"{reply['name']} ({reply['player']}) no longer has a key.")
