"""``gmd register``: register a player, and print its key."""

from __future__ import annotations

import sys

import click

from .operator import ask, daemon_options, show_key


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
