"""The commands of gmd's own distribution, found without a search among all installed distributions."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import cast

import click

from gmd.plain_structlog import import_structlog
from gmd.version import VERSION

#: The entry points of gmd's distribution, in a folder of Python's path.
ENTRY_POINTS = os.path.join(f"grandmasterd-{VERSION}.dist-info", "entry_points.txt")
SECTION = "[gmd.commands]"


def own_command(name: str) -> click.Command | None:
    """Import a command of gmd's own distribution; return None where it is not found.

    :mod:`importlib.metadata` would find it, too, but importing that, and reading the entry points of all installed
    distributions, takes 30 ms: a tenth of a daemon's start.
    """
    found = own_entry_points().get(name)
    if found is None:
        return None
    module, _, attribute = found.partition(":")
    if module.startswith("gmd."):
        import_structlog()
    return cast(click.Command, getattr(import_module(module), attribute))


def own_entry_points() -> dict[str, str]:
    """Return the module and the attribute of each command; empty if the distribution is not a folder on the path."""
    for folder in sys.path:
        try:
            with open(os.path.join(folder, ENTRY_POINTS), encoding="utf-8") as file:
                lines = file.read().splitlines()
        except OSError:
            continue
        return dict(_commands_in(lines))
    return {}


def _commands_in(lines: list[str]) -> list[tuple[str, str]]:
    section, found = "", []
    for line in lines:
        if line.startswith("["):
            section = line.strip()
        elif section == SECTION and "=" in line:
            name, _, target = line.partition("=")
            found.append((name.strip(), target.strip()))
    return found
