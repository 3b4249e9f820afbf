"""The progress bar of a long piece of work."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from rich.console import Console
from rich.progress import track

_T = TypeVar("_T")


def steps(of: Sequence[_T], what: str) -> Iterator[_T]:
    """Yield each step of a piece of work, with a progress bar on standard error if that is a terminal."""
    console = Console(stderr=True)
    yield from track(of, what, console=console, transient=True, disable=not console.is_terminal)
