"""The start position that CodinGame's chess referee draws for a seed, the same as on its site."""

from __future__ import annotations

import chess

#: The classical position, in Scharnagl's numbering.
CLASSICAL = 518

_STATE = (1 << 48) - 1


class JavaRandom:
    """``java.util.Random``, whose documentation defines its numbers exactly: CodinGame's referee is a Java program."""

    def __init__(self, seed: int) -> None:
        """:param seed: of 64 bits, of which 48 are used."""
        self._state = (seed ^ 0x5DEECE66D) & _STATE

    def bits(self, count: int) -> int:
        """Return so many random bits, at most 32, as an unsigned number."""
        self._state = (self._state * 0x5DEECE66D + 0xB) & _STATE
        return self._state >> 48 - count

    def below(self, bound: int) -> int:
        """Return ``nextInt(bound)``: a number from 0 to below ``bound``, all equally likely."""
        drawn = self.bits(31)
        if bound & bound - 1 == 0:
            return bound * drawn >> 31
        while drawn - drawn % bound + bound > 1 << 31:
            drawn = self.bits(31)
        return drawn % bound


def start_position(seed: int) -> int:
    """Return the number of the start position, in Scharnagl's numbering.

    The dice are those of the usual method for Chess960, in the referee's order: the bishop on the files a, c, e, g; the
    other bishop; the queen; and both knights on free squares. Seed 0 is the classical position.
    """
    if seed == 0:
        return CLASSICAL
    dice = JavaRandom(seed)
    row = [""] * 8
    row[2 * dice.below(4)] = "B"
    row[2 * dice.below(4) + 1] = "B"
    for piece, sides in (("Q", 6), ("N", 5), ("N", 4), ("R", 1), ("K", 1), ("R", 1)):
        free = [file for file, taken in enumerate(row) if not taken]
        row[free[dice.below(sides) if sides > 1 else 0]] = piece
    first = "".join(row)
    board = chess.BaseBoard(f"{first.lower()}/pppppppp/8/8/8/8/PPPPPPPP/{first}")
    number = board.chess960_pos()
    assert number is not None
    return number
