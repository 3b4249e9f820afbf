"""The import of the daemon's own commands, at the start of every one of them: without searching, and without rich."""

from __future__ import annotations

import sys
from importlib import import_module
from keyword import iskeyword
from typing import cast

import click

from .groups import GROUPS

#: The commands whose modules are in this package.
OWN = (*GROUPS["Serve"], *GROUPS["Players"])


def own_command(name: str) -> click.Command | None:
    """Import one of the daemon's own commands; return None if the name is another's.

    The entry points say the same, but reading those of all installed distributions takes a tenth of a daemon's start.
    """
    if name not in OWN:
        return None
    _import_structlog()
    named = f"{name}_" if iskeyword(name) else name
    return cast(click.Command, getattr(import_module(f"gmd.cli.{named}"), named))


def _import_structlog() -> None:
    """Import structlog without rich, which it would use for tracebacks that we print plainly (:mod:`gmd.cli.logs`).

    Its import takes another tenth of a start. Whoever imports rich afterwards gets it.
    """
    if "rich" in sys.modules or "structlog" in sys.modules:
        return
    sys.modules["rich"] = None  # type: ignore[assignment] # Python's way to let an import fail
    try:
        import_module("structlog")
    finally:
        del sys.modules["rich"]
