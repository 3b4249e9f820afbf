"""What a training plays against besides a random mover, which it soon always beats: itself, some iterations before."""

from __future__ import annotations

from pathlib import Path

#: How many: enough to have learnt something by that a handful of games can show.
BEFORE = 5


def checkpoint_of(directory: Path, iteration: int) -> Path:
    """The file in a training's directory that has what an iteration came to."""
    return directory / f"iteration-{iteration:04}.pt"


def older_than(directory: Path, iteration: int) -> tuple[int, Path] | None:
    """The iteration that another is to be compared with, and its checkpoint: that of so many before, or the first.

    None where there is none: for the first of all, and where somebody has removed the file.
    """
    older = max(1, iteration - BEFORE)
    path = checkpoint_of(directory, older)
    return (older, path) if older < iteration and path.is_file() else None
