"""``gmd revoke``: revoke a player's key and password, and end its sessions."""

from __future__ import annotations

import click

from .operator import ask, daemon_options, named, player_argument


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
