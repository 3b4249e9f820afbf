"""The ``gmd`` command: its subcommands are entry points of the group ``gmd.commands``, imported when called."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any, cast

import click

from gmd.cli.own_commands import RENAMED, group_of, own_command, position
from gmd.cli.standard_streams import no_garbage_collection, open_standard_descriptors
from gmd.version import VERSION

if TYPE_CHECKING:
    import ast
    from importlib.metadata import EntryPoint


class Renamed(click.ClickException):
    """A command has another name now."""

    exit_code = 2


class Commands(click.Group):
    """A group whose subcommands are entry points, of any installed distribution.

    The modules that read entry points are imported where they are needed: ``gmd serve`` starts without them.
    """

    def main(self, *args: Any, **kwargs: Any) -> Any:
        open_standard_descriptors()
        return super().main(*args, **kwargs)

    def list_commands(self, ctx: click.Context) -> list[str]:
        from importlib.metadata import entry_points

        return sorted(entry_points(group="gmd.commands").names)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        with no_garbage_collection():
            return own_command(cmd_name) or _installed_command(cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the arguments name.

        :raises click.UsageError: there is none; the message suggests the one that may be meant.
        """
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError:
            if args[0] in RENAMED:
                raise Renamed(f"gmd {args[0]} is now: {RENAMED[args[0]]}") from None
            from difflib import get_close_matches

            meant = get_close_matches(args[0], self.list_commands(ctx), n=1)
            hint = f"Did you mean {meant[0]!r}?" if meant else "See `gmd --help` for the commands."
            raise click.UsageError(f"No such command {args[0]!r}. {hint}", ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        from importlib.metadata import entry_points

        commands = {found.name: found for found in entry_points(group="gmd.commands")}
        modules = {name: _module(found) for name, found in commands.items()}
        groups = {name: group_of(name, module) for name, module in modules.items()}
        names = sorted(modules, key=lambda name: position(groups[name], name))
        widest = max(map(len, names), default=0)
        for group, those in groupby(names, key=groups.__getitem__):
            with formatter.section(group):
                formatter.write_dl([(name.ljust(widest), _summary(modules[name], commands[name])) for name in those])


def _installed_command(name: str) -> click.Command | None:
    """Import the command of an entry point; return None if there is none of this name."""
    from importlib.metadata import entry_points

    found = entry_points(group="gmd.commands", name=name)
    return cast(click.Command, next(iter(found)).load()) if found else None


def _module(command: EntryPoint) -> ast.Module:
    """Return a command's module, parsed but not imported: an import takes half a second."""
    import ast
    from importlib.util import find_spec
    from pathlib import Path

    spec = find_spec(command.module)
    return ast.parse(b"" if spec is None or spec.origin is None else Path(spec.origin).read_bytes())


def _summary(module: ast.Module, command: EntryPoint) -> str:
    """Return the summary of a command, from the first line of its module's docstring.

    Where a module has several commands, it is the first sentence of the command's own, behind the example.
    """
    import ast

    first = (ast.get_docstring(module) or "").partition("\n")[0]
    if first.count("``") > 2:
        own = next(each for each in module.body if isinstance(each, ast.FunctionDef) and each.name == command.attr)
        first = (ast.get_docstring(own) or "").split("\n\n")[1].partition(":")[0].partition(".")[0] + "."
    first = first.rpartition("``: ")[2]
    return first[:1].upper() + first[1:]


@click.group(cls=Commands)
@click.version_option(VERSION, prog_name="gmd")
def main() -> None:
    """Run the game server for people who write chess and reconnaissance-blind-chess bots."""
