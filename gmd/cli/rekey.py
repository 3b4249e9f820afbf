"""``gmd rekey``: give a player a new key, and print it."""

from __future__ import annotations

import click

from .operator import ask, daemon_options, named, player_argument, show_key


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
