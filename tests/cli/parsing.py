"""Parses command lines of gmd without running them."""

from __future__ import annotations

import click


def parse(command: click.Group, words: list[str]) -> click.Context:
    """Parse a command line without running it, and return the context of the innermost command."""
    context = command.make_context("gmd", words)
    while isinstance(context.command, click.Group):
        name, found, rest = context.command.resolve_command(context, [*context._protected_args, *context.args])
        assert found is not None
        context = found.make_context(name, rest, parent=context)
    return context
