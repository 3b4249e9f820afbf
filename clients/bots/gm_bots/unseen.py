"""The probability that an opponent overlooks an attack on its king, which is less after each that it has not."""

from __future__ import annotations

#: What is left of the probability after a check that did not win the king.
ANSWERED = 0.5


class Unseen:
    """What one player of one game assumes of its opponent.

    :ivar probability: that an attack on a king is overlooked.
    """

    def __init__(self, probability: float) -> None:
        self.probability = probability
        self._checked = False

    def turn(self, *, wins: bool) -> None:
        """Record a turn of the player's.

        :param wins: whether a move of it certainly captures the king.
        """
        if self._checked and not wins:
            self.probability *= ANSWERED
        self._checked = False

    def moves(self, *, checks: bool) -> None:
        """Record the move of that turn.

        :param checks: whether it probably attacks the king, and no capture betrays that.
        """
        self._checked = checks
