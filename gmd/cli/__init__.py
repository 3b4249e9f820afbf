"""The ``gmd`` command: its subcommands are entry points of the group ``gmd.commands``, imported when called."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import cast

import click

from gmd import __version__


class Commands(click.Group):
    """Subcommands out of the entry points, whoever installed them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(entry_points(group="gmd.commands").names)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        found = entry_points(group="gmd.commands", name=cmd_name)
        return cast(click.Command, next(iter(found)).load()) if found else None


@click.group(cls=Commands)
@click.version_option(__version__, prog_name="gmd")
def main() -> None:
    """The game server for people who write chess and reconnaissance-blind-chess bots."""
