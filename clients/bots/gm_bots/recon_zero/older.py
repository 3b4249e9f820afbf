"""A training's opponent besides a random mover, which it soon always beats: its network some iterations before."""

from __future__ import annotations

import re
from pathlib import Path

#: How many iterations before: enough learning for a handful of games to show.
BEFORE = 5

_NAME = re.compile(r"iteration-(\d+)\.pt")


def checkpoint_of(directory: Path, iteration: int) -> Path:
    """Return the checkpoint file of an iteration in a training's directory."""
    return directory / f"iteration-{iteration:04}.pt"


def iteration(path: Path) -> int | None:
    """Return the iteration of a training's checkpoint, by its name; None for another file."""
    match = _NAME.fullmatch(path.name)
    return int(match[1]) if match else None


def older_than(directory: Path, iteration: int) -> tuple[int, Path] | None:
    """Return the iteration to compare another with, and its checkpoint: so many before, or the first.

    None where there is none: for the first iteration, and where the file was removed.
    """
    older = max(1, iteration - BEFORE)
    path = checkpoint_of(directory, older)
    return (older, path) if older < iteration and path.is_file() else None
