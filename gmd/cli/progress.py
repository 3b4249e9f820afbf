"""What is said to people: progress on standard error, where that is a terminal, and counts of things."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress_bar(what: str, total: int | None, *, hidden: bool = False) -> Iterator[Callable[[int], None]]:
    """Show how far something is; call what this gives with every number of steps made.

    :param total: how many there are; None where nobody knows.
    """
    if hidden or not sys.stderr.isatty():
        yield lambda steps: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    remaining = (TextColumn("left:"), TimeRemainingColumn()) if total is not None else ()
    # What is printed meanwhile goes above the bar; but to where standard output goes, if that is no terminal.
    progress = Progress(
        *columns, *remaining, console=Console(stderr=True), transient=True, redirect_stdout=sys.stdout.isatty()
    )
    with progress:
        task = progress.add_task(what, total=total)
        yield lambda steps: progress.advance(task, steps)


def counted(count: int, what: str) -> str:
    """A number of things."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"
