"""The commands that ``gmd`` finds, without a search among all installed distributions, and the headings that list them.

A command of another distribution names its heading by a constant in the module of its entry point::

    COMMAND_GROUP = "Look"

It may be one of the headings below or a new one. Without the constant the command is listed under :data:`OTHERS`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, cast

import click

from gmd.version import VERSION

if TYPE_CHECKING:
    import ast


def import_structlog() -> None:
    """Import structlog before anything else does, without rich, which it would use for tracebacks.

    Importing rich takes a tenth of a daemon's start. Programs that embed the daemon keep structlog as they know it.
    """
    if "structlog" in sys.modules:
        return
    rich = sys.modules.get("rich")
    sys.modules["rich"] = None  # type: ignore[assignment] # Python's way to let an import fail
    try:
        import_module("structlog")
    finally:
        del sys.modules["rich"]
        if rich is not None:
            sys.modules["rich"] = rich


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


#: The commands that come with gmd, in the order of the help text.
GROUPS: Mapping[str, tuple[str, ...]] = {
    "Serve": ("serve", "check", "export", "import", "status"),
    "Players": ("register", "players", "rekey", "revoke", "leaderboard"),
    "Play": ("play", "connect", "uci"),
    "Compare": ("match", "tournament", "train"),
    "Look": ("replay",),
}

OTHERS = "Other commands"

#: Former commands, and what does their work now; for one release.
RENAMED: Mapping[str, str] = {
    "evaluate": "gmd match recon-zero RandomBot AttackerBot TroutBot --tournament gauntlet --games 20",
    "playback": "gmd replay GAME --ask BOT",
    "referee": "gmd match BOT1 BOT2 --referee codingame",
    "watch": "gmd replay --follow",
}

#: The name of the constant.
CONSTANT = "COMMAND_GROUP"


def group_of(name: str, module: ast.Module) -> str:
    """Return the heading of a command.

    :param module: the module of its entry point, parsed and not imported.
    """
    for group, names in GROUPS.items():
        if name in names:
            return group
    import ast

    for statement in module.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=target)], value=ast.Constant(value=str(group))) if target == CONSTANT:
                return group
            case ast.AnnAssign(target=ast.Name(id=target), value=ast.Constant(value=str(group))) if target == CONSTANT:
                return group
    return OTHERS


def position(group: str, name: str) -> tuple[int, str, int, str]:
    """Return the sort key of a command: gmd's own headings come first and :data:`OTHERS` last."""
    headings = list(GROUPS)
    place = headings.index(group) if group in GROUPS else len(headings) + (group == OTHERS)
    names = GROUPS.get(group, ())
    return place, group, names.index(name) if name in names else len(names), name
