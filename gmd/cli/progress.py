"""Output for people: progress bars on standard error, where that is a terminal, and counts with units."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress_bar(what: str, total: int | None, *, hidden: bool = False) -> Iterator[Callable[[int], None]]:
    """Show a progress bar; the yielded function advances it by a number of steps.

    :param total: the number of steps; None where it is unknown.
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
    # Output printed meanwhile appears above the bar; where standard output is no terminal, it goes there unchanged.
    progress = Progress(
        *columns, *remaining, console=Console(stderr=True), transient=True, redirect_stdout=sys.stdout.isatty()
    )
    with progress:
        task = progress.add_task(what, total=total)
        yield lambda steps: progress.advance(task, steps)


def counted(count: int, what: str) -> str:
    """Return a count with its unit, as in "2 games"."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"
