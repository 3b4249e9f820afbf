"""Where Stockfish is, which reconchess's ``TroutBot`` asks for its moves."""

from __future__ import annotations

import os

from .programs import find_program

#: Where reconchess looks for the program, and nowhere else.
VARIABLE = "STOCKFISH_EXECUTABLE"


def stockfish() -> str | None:
    """The program that the variable names, or else the one that is installed; None where there is none."""
    named = os.environ.get(VARIABLE)
    if named is not None:
        return named if os.path.exists(named) else None
    return find_program("stockfish")


def say_where() -> None:
    """Set the variable for this process, where it is not set and Stockfish is installed."""
    found = stockfish()
    if found is not None:
        os.environ.setdefault(VARIABLE, found)
