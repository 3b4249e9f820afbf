"""Where Stockfish is, which reconchess's ``TroutBot`` asks for its moves."""

from __future__ import annotations

import os
import shutil

#: Where reconchess looks for the program, and nowhere else.
VARIABLE = "STOCKFISH_EXECUTABLE"

#: Where Debian has it; not all have that on their PATH.
GAMES = "/usr/games"


def stockfish() -> str | None:
    """The program that the variable names, or else the one that is installed; None where there is none."""
    named = os.environ.get(VARIABLE)
    if named is not None:
        return named if os.path.exists(named) else None
    return shutil.which("stockfish") or shutil.which("stockfish", path=GAMES)


def say_where() -> None:
    """Set the variable for this process, where it is not set and Stockfish is installed."""
    found = stockfish()
    if found is not None:
        os.environ.setdefault(VARIABLE, found)
