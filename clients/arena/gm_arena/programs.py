"""Lookup of installed programs, also in folders that are not on every user's PATH."""

from __future__ import annotations

import shutil

#: Debian's folder of chess engines, which is not on every user's PATH.
GAMES = "/usr/games"


def find_program(name: str) -> str | None:
    """Return the path of a program on the PATH, or else in Debian's folder of games; None if there is none."""
    return shutil.which(name) or shutil.which(name, path=GAMES)
