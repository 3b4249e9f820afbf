"""The path of Stockfish, the engine that reconchess's ``TroutBot`` uses."""

from __future__ import annotations

import os
import subprocess

from .programs import find_program

#: The only place in which reconchess looks for the program.
VARIABLE = "STOCKFISH_EXECUTABLE"
#: Says that it is not there, and what to do.
NOT_FOUND = (
    "Stockfish, which was not found: install it (on Debian: apt install stockfish), or set "
    f"{VARIABLE} to the path of the program"
)


def stockfish() -> str | None:
    """Return the program that the variable names, or else the installed one; None if there is none."""
    named = os.environ.get(VARIABLE)
    if named is not None:
        return named if os.path.exists(named) else None
    return find_program("stockfish")


def stockfish_version() -> str | None:
    """Return the name that the program gives itself, as ``Stockfish 15.1``; None if there is none, or it gives none."""
    path = stockfish()
    if path is None:
        return None
    try:
        said = subprocess.run(
            [path], input="uci\nquit\n", capture_output=True, text=True, check=True, timeout=10
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    named = (line.removeprefix("id name ") for line in said.splitlines() if line.startswith("id name "))
    return next(named, None)


def say_where() -> None:
    """Set the variable for this process, if it is not set and Stockfish is installed."""
    found = stockfish()
    if found is not None:
        os.environ.setdefault(VARIABLE, found)
