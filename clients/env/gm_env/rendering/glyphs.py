"""The letters and digits at the edges of a board, three dots wide and five high."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_ROWS = {
    "a": "... .## #.# #.# .##",
    "b": "#.. #.. ##. #.# ##.",
    "c": "... .## #.. #.. .##",
    "d": "..# ..# .## #.# .##",
    "e": "... .#. ### #.. .##",
    "f": ".## #.. ##. #.. #..",
    "g": ".## #.# .## ..# ##.",
    "h": "#.. #.. ##. #.# #.#",
    "1": ".#. ##. .#. .#. ###",
    "2": "##. ..# .#. #.. ###",
    "3": "##. ..# .#. ..# ##.",
    "4": "#.# #.# ### ..# ..#",
    "5": "### #.. ##. ..# ##.",
    "6": ".## #.. ##. #.# .#.",
    "7": "### ..# .#. .#. .#.",
    "8": ".#. #.# .#. #.# .#.",
}


def glyph(letter: str) -> NDArray[np.bool_]:
    """Return the dots of a letter from a to h or a digit from 1 to 8: bool[5, 3]."""
    return np.array([[dot == "#" for dot in row] for row in _ROWS[letter].split()])
