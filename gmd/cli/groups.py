"""The headings under which ``gmd --help`` lists the commands.

A command of another distribution names its heading by a constant in the module of its entry point::

    COMMAND_GROUP = "Look"

It may be one of the headings below or a new one. Without the constant the command is listed under :data:`OTHERS`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ast

#: The commands that come with gmd, in the order of the help text.
GROUPS: Mapping[str, tuple[str, ...]] = {
    "Serve": ("serve", "check", "export", "import", "status"),
    "Players": ("register", "players", "rekey", "revoke", "leaderboard"),
    "Play": ("play", "connect", "uci"),
    "Compare": ("match", "tournament", "referee", "evaluate", "train"),
    "Look": ("watch", "replay", "playback"),
}

OTHERS = "Other commands"

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
