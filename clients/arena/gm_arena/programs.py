"""Finds programs that are installed, also where not everybody looks."""

from __future__ import annotations

import shutil

#: Where Debian has chess engines; not all users have it on their PATH.
GAMES = "/usr/games"


def find_program(name: str) -> str | None:
    """Return the path of a program on the PATH, or else of one of Debian's games; None where there is none."""
    return shutil.which(name) or shutil.which(name, path=GAMES)
