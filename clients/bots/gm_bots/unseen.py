"""The probability that the opponent overlooks an attack on its king. It halves after each that it answers."""

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

    def moves(self, *, checks: bool) -> None:
        """Record a move of the player's.

        :param checks: whether it probably attacks the king, and no capture betrays that.
        """
        self._checked = checks

    def goes_on(self) -> None:
        """Record that the game goes on: if the king was attacked, the opponent most likely answers it."""
        if self._checked:
            self.probability *= ANSWERED
        self._checked = False
