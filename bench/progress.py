"""How far a long piece of work has come, for whoever waits for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from rich.console import Console
from rich.progress import track

_T = TypeVar("_T")


def steps(of: Sequence[_T], what: str) -> Iterator[_T]:
    """Each step of a piece of work, with a bar on standard error while a person looks at it."""
    console = Console(stderr=True)
    yield from track(of, what, console=console, transient=True, disable=not console.is_terminal)
