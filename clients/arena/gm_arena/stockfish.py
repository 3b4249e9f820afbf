"""The path of Stockfish, the engine that reconchess's ``TroutBot`` uses."""

from __future__ import annotations

import os

from .programs import find_program

#: The only place in which reconchess looks for the program.
VARIABLE = "STOCKFISH_EXECUTABLE"


def stockfish() -> str | None:
    """Return the program that the variable names, or else the installed one; None if there is none."""
    named = os.environ.get(VARIABLE)
    if named is not None:
        return named if os.path.exists(named) else None
    return find_program("stockfish")


def say_where() -> None:
    """Set the variable for this process, if it is not set and Stockfish is installed."""
    found = stockfish()
    if found is not None:
        os.environ.setdefault(VARIABLE, found)
