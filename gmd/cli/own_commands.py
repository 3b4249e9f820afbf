"""The daemon's own commands, imported without a search among the installed distributions."""

from __future__ import annotations

from importlib import import_module
from keyword import iskeyword
from typing import cast

import click

from gmd.plain_structlog import import_structlog

from .groups import GROUPS

#: The commands whose modules are in this package.
OWN = (*GROUPS["Serve"], *GROUPS["Players"])


def own_command(name: str) -> click.Command | None:
    """Import one of the daemon's own commands; return None if the name is another's.

    The entry points say the same, but reading those of all installed distributions takes a tenth of a daemon's start.
    """
    if name not in OWN:
        return None
    import_structlog()
    named = f"{name}_" if iskeyword(name) else name
    return cast(click.Command, getattr(import_module(f"gmd.cli.{named}"), named))
